//! Counts concurrent turns of each visitor and each network.
//!
//! Counts in this process alone: a turn is answered by one instance, and ends with it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// Concurrent turns by counter name; entries with zero are removed.
#[derive(Debug, Clone, Default)]
pub(super) struct ConcurrentTurns(Arc<Mutex<HashMap<String, u32>>>);

/// A concurrency limit and the counter that it applies to.
#[derive(Debug, Clone)]
pub(super) struct ConcurrencyLimit {
    pub(super) name: String,
    pub(super) limit: u32,
}

/// Slot of a turn that is being answered; dropping it releases the slot.
#[derive(Debug)]
#[must_use = "the place is free again when this is dropped"]
pub struct TurnPermit {
    under_way: ConcurrentTurns,
    names: Vec<String>,
}

impl ConcurrentTurns {
    /// Takes one slot of each limit; `None` if one of them has none left, and then takes none.
    pub(super) fn take(&self, places: Vec<ConcurrencyLimit>) -> Option<TurnPermit> {
        let mut counts = self.lock();
        let has_room = |place: &ConcurrencyLimit| counts.get(&place.name).is_none_or(|count| *count < place.limit);
        if !places.iter().all(has_room) {
            return None;
        }
        let names: Vec<String> = places.into_iter().map(|place| place.name).collect();
        for name in &names {
            *counts.entry(name.clone()).or_default() += 1;
        }
        Some(TurnPermit { under_way: self.clone(), names })
    }

    /// Counts stay valid after a panic elsewhere.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.0.lock()
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        let mut counts = self.under_way.lock();
        for name in &self.names {
            if let Some(count) = counts.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[(&str, u32)]) -> Vec<ConcurrencyLimit> {
        names.iter().map(|(name, limit)| ConcurrencyLimit { name: (*name).into(), limit: *limit }).collect()
    }

    #[test]
    fn a_place_is_free_again_when_its_turn_has_ended() {
        let under_way = ConcurrentTurns::default();
        let first = under_way.take(places(&[("ann", 2)])).unwrap();
        let _second = under_way.take(places(&[("ann", 2)])).unwrap();
        assert!(under_way.take(places(&[("ann", 2)])).is_none());
        assert!(under_way.take(places(&[("ben", 2)])).is_some());
        drop(first);
        assert!(under_way.take(places(&[("ann", 2)])).is_some());
    }

    #[test]
    fn no_place_is_taken_where_one_of_several_is_missing() {
        let under_way = ConcurrentTurns::default();
        let home = under_way.take(places(&[("home", 1)])).unwrap();
        assert!(under_way.take(places(&[("ann", 1), ("home", 1)])).is_none());
        drop(home);
        let both = under_way.take(places(&[("ann", 1), ("home", 1)])).unwrap();
        drop(both);
        assert!(under_way.lock().is_empty(), "nobody who has no turn is remembered");
    }
}
