//! The rule behind every limit: the generic cell rate algorithm. A minute's worth may be used at once, and comes back
//! evenly.
//!
//! One moment is kept for each visitor: when everything that was used will have come back ("due"). A further use is
//! granted where that moment then lies at most one [`Rate::span`] ahead. Pure: time is handed in. The script in
//! `shared.rs` is the same rule in Redis.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// Visitors and addresses that are remembered at the most.
const MAX_KEYS: usize = 100_000;
/// How long to wait where nobody else can be remembered.
const FULL: Duration = Duration::from_secs(1);

/// A number per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    /// From one to the next at an even pace.
    pub(super) interval: Duration,
    /// All that may be used at once takes this long to come back: a minute but for rounding.
    pub(super) span: Duration,
}

impl Rate {
    /// A number per minute; `None`, which is no limit, for 0.
    pub(super) fn per_minute(count: u32) -> Option<Self> {
        let interval = Duration::from_micros(60_000_000 / u64::from(count.max(1))).max(Duration::from_micros(1));
        (count > 0).then(|| Self { interval, span: interval.saturating_mul(count) })
    }

    /// When everything will have come back after one more use now; how long to wait where it is not granted.
    fn charge(self, due: Option<Instant>, now: Instant) -> Result<Instant, Duration> {
        // No further ahead than this rate goes: the one before a change of the settings may have gone further.
        let due = due.map_or(now, |due| due.clamp(now, now + self.span)) + self.interval;
        let ahead = due - now;
        if ahead <= self.span { Ok(due) } else { Err(ahead - self.span) }
    }
}

/// One limit and whom it counts.
#[derive(Debug, Clone)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) rate: Rate,
}

/// What was used in this process.
#[derive(Debug, Default)]
pub(super) struct LimitCounts {
    due: HashMap<String, Instant>,
}

impl LimitCounts {
    /// How long to wait until all of these grant one more; `None` where they do now.
    pub(super) fn wait(&mut self, counts: &[Count], now: Instant) -> Option<Duration> {
        if !self.has_room(counts.len(), now) && counts.iter().any(|count| !self.due.contains_key(&count.name)) {
            return Some(FULL);
        }
        let waits = counts.iter().filter_map(|count| count.rate.charge(self.due(count), now).err());
        waits.max()
    }

    /// LimitCounts one more on all of these, where they grant it.
    pub(super) fn charge(&mut self, counts: &[Count], now: Instant) {
        for count in counts {
            if let Ok(due) = count.rate.charge(self.due(count), now) {
                self.due.insert(count.name.clone(), due);
            }
        }
    }

    fn due(&self, count: &Count) -> Option<Instant> {
        self.due.get(&count.name).copied()
    }

    /// Forgets whoever has everything back; where that is too little, also those who use less than half of a minute's
    /// worth, whom forgetting favours least.
    fn has_room(&mut self, more: usize, now: Instant) -> bool {
        for used in [Duration::ZERO, Duration::from_secs(30)] {
            if self.due.len() + more > MAX_KEYS {
                self.due.retain(|_, due| *due > now + used);
            }
        }
        self.due.len() + more <= MAX_KEYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, per_minute: u32) -> Count {
        Count { name: name.into(), rate: Rate::per_minute(per_minute).unwrap() }
    }

    fn take(counts: &mut LimitCounts, wanted: &[Count], now: Instant) -> bool {
        let granted = counts.wait(wanted, now).is_none();
        if granted {
            counts.charge(wanted, now);
        }
        granted
    }

    #[test]
    fn a_minutes_worth_is_granted_at_once_and_comes_back_evenly() {
        for per_minute in [1, 2, 7, 60, 90_000] {
            let (mut counts, now) = (LimitCounts::default(), Instant::now());
            let wanted = [count("ann", per_minute)];
            let interval = wanted[0].rate.interval;
            let granted = (0..2 * per_minute).filter(|_| take(&mut counts, &wanted, now)).count();
            assert_eq!(granted, usize::try_from(per_minute).unwrap());
            assert_eq!(counts.wait(&wanted, now), Some(interval), "{per_minute} a minute");
            assert!(!take(&mut counts, &wanted, now + interval - Duration::from_micros(1)));
            assert!(take(&mut counts, &wanted, now + interval));
            assert!(!take(&mut counts, &wanted, now + interval));
            let granted = (0..2 * per_minute).filter(|_| take(&mut counts, &wanted, now + 3 * wanted[0].rate.span));
            assert_eq!(granted.count(), usize::try_from(per_minute).unwrap(), "all of it is back, and no more");
        }
    }

    #[test]
    fn nothing_is_used_where_one_of_several_limits_refuses() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        let (visitor, address) = (count("visitor", 10), count("address", 2));
        let both = [visitor.clone(), address];
        assert_eq!((0..10).filter(|_| take(&mut counts, &both, now)).count(), 2);
        assert_eq!((0..10).filter(|_| take(&mut counts, std::slice::from_ref(&visitor), now)).count(), 8);
    }

    #[test]
    fn a_lower_limit_counts_what_was_used_under_a_higher_one_for_a_minute_at_the_most() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        assert!((0..100).all(|_| take(&mut counts, &[count("ann", 100)], now)));
        assert_eq!(counts.wait(&[count("ann", 1)], now), Some(Duration::from_secs(60)));
        assert!(take(&mut counts, &[count("ann", 1)], now + Duration::from_secs(60)));
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(Rate::per_minute(0), None);
        assert_eq!(Rate::per_minute(u32::MAX).unwrap().interval, Duration::from_micros(1));
    }

    #[test]
    fn memory_is_bounded_and_those_who_use_much_are_the_last_to_be_forgotten() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        assert!(take(&mut counts, &[count("heavy", 1)], now));
        let light: Vec<Count> = (0..2 * MAX_KEYS).map(|i| count(&format!("light {i}"), 1_000)).collect();
        assert!(light.iter().all(|wanted| take(&mut counts, std::slice::from_ref(wanted), now)));
        assert!(counts.due.len() <= MAX_KEYS, "{}", counts.due.len());
        assert!(!take(&mut counts, &[count("heavy", 1)], now));

        let mut heavy = (0..2 * MAX_KEYS).map(|i| count(&format!("heavy {i}"), 1));
        assert!(!heavy.all(|wanted| take(&mut counts, &[wanted], now)));
        assert_eq!(counts.wait(&[count("new", 1_000)], now), Some(FULL), "nobody else can be counted");
        assert!(take(&mut counts, &[count("new", 1)], now + Duration::from_secs(61)));
        assert_eq!(counts.due.len(), 1);
    }
}
