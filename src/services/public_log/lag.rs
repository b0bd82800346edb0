//! How far the log is behind the votes, and whether it is continued, as this process last saw. Nothing is promised while it is too far
//! behind, or while the last step of the sequencer has failed.

use std::time::Duration;

use tokio::time::Instant;

use super::{PublicLog, PublicLogError};
use crate::domain::time::Timestamp;

/// The job that appends queries the oldest vote before and after each step, and rests for at most 40 seconds between two steps. After so
/// long without an answer its step or its query hangs, and nobody knows what waits meanwhile.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// What this process last saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastLag {
    /// Since when the vote waits that waits longest; `None` where all votes were in the log.
    oldest_since: Option<Timestamp>,
    seen_at: Instant,
    /// When the first step failed since the last one that succeeded.
    failing_since: Option<Instant>,
}

impl LastLag {
    /// Before the first look no vote is known to wait.
    pub(super) fn new() -> Self {
        Self { oldest_since: None, seen_at: Instant::now(), failing_since: None }
    }

    fn record(&mut self, oldest_since: Option<Timestamp>) {
        *self = Self { oldest_since, seen_at: Instant::now(), ..*self };
    }

    fn note_step(&mut self, failure: Option<&PublicLogError>) {
        self.failing_since = match failure {
            None => None,
            // What waits meanwhile, the next look says.
            Some(error) if error.stops_votes() => self.failing_since,
            Some(_) => self.failing_since.or_else(|| Some(Instant::now())),
        };
    }

    fn lag(self, now: Timestamp) -> Duration {
        let waited = self.oldest_since.and_then(|since| u64::try_from(now.0.saturating_sub(since.0)).ok());
        let unseen = Some(self.seen_at.elapsed()).filter(|unseen| *unseen > STALE_AFTER);
        let failing = self.failing_since.map(|since| since.elapsed());
        Duration::from_millis(waited.unwrap_or(0)).max(unseen.max(failing).unwrap_or_default())
    }

    fn is_behind(self, now: Timestamp, within: Duration) -> bool {
        self.failing_since.is_some() || self.lag(now) > within
    }
}

impl PublicLog {
    /// Queries the oldest vote that is not in the log.
    ///
    /// # Errors
    /// [`PublicLogError`]; what was seen before stays.
    pub async fn refresh_lag(&self) -> Result<(), PublicLogError> {
        let oldest = self.store.first_unlogged_vote().await?;
        self.last_lag.lock().record(oldest.map(|vote| vote.since));
        Ok(())
    }

    /// Notes how a step of the sequencer ended: after one that failed the log is behind until one succeeds.
    pub fn note_step(&self, failure: Option<&PublicLogError>) {
        self.last_lag.lock().note_step(failure);
    }

    /// How long the oldest vote has waited that is not in the log, or for how long the log cannot be continued or nobody could look,
    /// whichever is longest; zero where all votes are in it.
    #[must_use]
    pub fn lag(&self, now: Timestamp) -> Duration {
        self.last_lag.lock().lag(now)
    }

    /// Whether it cannot be promised that a vote of this moment will be in the log `within` this time.
    #[must_use]
    pub fn is_behind(&self, now: Timestamp, within: Duration) -> bool {
        self.last_lag.lock().is_behind(now, within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::storage::{OutageKind, StoreError};

    const NOW: Timestamp = Timestamp(1_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_log_is_behind_by_its_oldest_vote_or_since_nobody_could_look() {
        let (now, seconds) = (NOW, Duration::from_secs);
        let complete = LastLag::new();
        let lacks_one = LastLag { oldest_since: Some(Timestamp(910_000)), ..complete };
        let ahead = LastLag { oldest_since: Some(Timestamp(1_000_001)), ..complete };
        tokio::time::advance(seconds(60)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [0, 90, 0].map(seconds));
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.is_behind(now, MINUTE)), [false, true, false]);
        tokio::time::advance(seconds(1)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [61, 90, 61].map(seconds));
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_whose_step_failed_is_behind_at_once_and_until_a_step_succeeds() {
        let mut seen = LastLag::new();
        seen.note_step(Some(&PublicLogError::Rewritten(7)));
        assert!(seen.is_behind(NOW, MINUTE));
        for _ in 0..2 {
            tokio::time::advance(MINUTE).await;
            seen.record(None);
            seen.note_step(Some(&PublicLogError::Rewritten(7)));
        }
        assert_eq!(seen.lag(NOW), 2 * MINUTE, "since the first failure");
        seen.note_step(None);
        assert!(!seen.is_behind(NOW, MINUTE) && seen.lag(NOW).is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_in_which_no_vote_is_stored_neither_begins_nor_ends_a_failure() {
        let mut seen = LastLag::new();
        let outage = PublicLogError::from(StoreError::Outage(OutageKind::Unreachable));
        seen.note_step(Some(&outage));
        assert!(!seen.is_behind(NOW, MINUTE));
        seen.note_step(Some(&StoreError::Outage(OutageKind::TableLocked).into()));
        assert!(seen.is_behind(NOW, MINUTE), "votes are stored where only the log is locked");
        seen.note_step(Some(&outage));
        assert!(seen.is_behind(NOW, MINUTE));
    }
}
