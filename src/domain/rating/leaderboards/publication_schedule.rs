//! Publication of new votes on the leaderboard: in batches or at fixed clock times. A leaderboard updated after each single vote would
//! reveal to an observer which models had just met.

use std::time::Duration;

use crate::time::Timestamp;

/// Rules for the publication of new votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicationSchedule {
    /// Number of new rated votes that are published at once.
    pub votes: u32,
    /// Period at whose multiples smaller batches, and unrated votes, are published.
    pub every: Duration,
}

impl PublicationSchedule {
    /// Computes the remaining wait of new votes, given the time of the `oldest` and the number `rated`; `None` where they are due.
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
