//! When new votes appear on the leaderboard: several together, or at fixed times of the clock. A leaderboard that moved
//! right after each single vote would show a person who watches it which models had just met.

use std::time::Duration;

use crate::time::Timestamp;

/// What may wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicationSchedule {
    /// So many new rated votes are shown at once.
    pub votes: u32,
    /// Fewer, and those that are not rated, are shown at the multiples of this time.
    pub every: Duration,
}

impl PublicationSchedule {
    /// How long new votes, of which `oldest` was the first and so many are `rated`, still wait; `None` where they are due.
    #[must_use]
    pub fn wait(&self, rated: u32, oldest: Timestamp, now: Timestamp) -> Option<Duration> {
        let every = i64::try_from(self.every.as_millis()).ok().filter(|every| *every > 0)?;
        if rated >= self.votes || now.0.div_euclid(every) > oldest.0.div_euclid(every) {
            return None;
        }
        u64::try_from(every - now.0.rem_euclid(every)).ok().map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_votes_wait_for_others_or_for_the_clock() {
        let rule = PublicationSchedule { votes: 3, every: Duration::from_secs(10) };
        let wait = |votes, oldest, now| rule.wait(votes, Timestamp(oldest), Timestamp(now));
        assert_eq!(wait(1, 41_000, 41_000), Some(Duration::from_secs(9)));
        assert_eq!(wait(2, 41_000, 49_999), Some(Duration::from_millis(1)));
        assert_eq!(wait(2, 41_000, 50_000), None, "the clock has passed a multiple");
        assert_eq!(wait(3, 41_000, 41_000), None, "there are enough");
        assert_eq!(wait(0, 41_000, 41_000), Some(Duration::from_secs(9)), "none of them is rated");
        assert_eq!(wait(0, 41_000, 50_000), None);
        let at_once = PublicationSchedule { votes: 1, ..rule };
        assert_eq!(at_once.wait(1, Timestamp(41_000), Timestamp(41_000)), None);
    }
}
