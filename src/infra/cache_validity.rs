//! Validity period of results computed from the vote log when newer votes exist.

use std::time::Duration;

use tokio::time::Instant;

use crate::backoff::later;

/// Minimum validity period of a result when newer votes exist.
const MIN_VALIDITY: Duration = Duration::from_secs(60);
/// Validity period as a multiple of the computation's duration.
const VALIDITY_FACTOR: u32 = 10;

/// Validity of a result: unlimited while no vote is newer than those it includes, otherwise until `valid_until`.
#[derive(Debug, Clone, Copy)]
pub struct CacheValidity {
    last_vote_seq: i64,
    valid_until: Instant,
}

impl CacheValidity {
    /// Creates the validity of a result that took `cost` to compute; `last_vote_seq` was the latest vote when the computation began.
    pub fn new(last_vote_seq: i64, cost: Duration) -> Self {
        let valid = MIN_VALIDITY.max(cost.saturating_mul(VALIDITY_FACTOR));
        Self { last_vote_seq, valid_until: later(Instant::now(), valid) }
    }

    /// Whether the result includes the vote `last_seq` or is still valid without it.
    pub fn is_current(&self, last_seq: i64) -> bool {
        self.last_vote_seq >= last_seq || Instant::now() < self.valid_until
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_result_is_valid_until_it_is_old_and_there_are_newer_votes() {
        for (cost, fresh) in [(1, 60), (7, 70)] {
            let validity = CacheValidity::new(5, Duration::from_secs(cost));
            advance(Duration::from_millis(1_000 * fresh - 1)).await;
            assert!(validity.is_current(6), "valid for {fresh} s");
            advance(Duration::from_millis(1)).await;
            assert!(!validity.is_current(6) && validity.is_current(5), "without newer votes it stays valid");
        }
    }
}
