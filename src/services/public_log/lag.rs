//! How far the log is behind the votes, as this process last saw. Nothing is promised while it is too far behind.

use std::time::Duration;

use tokio::time::Instant;

use super::{PublicLog, PublicLogError};
use crate::domain::time::Timestamp;

/// The job that appends looks every ten seconds. One that has not looked for so long hangs, and nobody knows what waits meanwhile.
const LOOKS_WITHIN: Duration = Duration::from_secs(60);

/// What this process last saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenLag {
    /// Since when the vote waits that waits longest; `None` where all votes were in the log.
    oldest_since: Option<Timestamp>,
    seen_at: Instant,
}

impl SeenLag {
    /// Before the first look no vote is known to wait.
    pub(super) fn none() -> Self {
        Self { oldest_since: None, seen_at: Instant::now() }
    }

    fn lag(self, now: Timestamp) -> Duration {
        let waited = self.oldest_since.and_then(|since| u64::try_from(now.0.saturating_sub(since.0)).ok());
        let unseen = Some(self.seen_at.elapsed()).filter(|unseen| *unseen > LOOKS_WITHIN);
        Duration::from_millis(waited.unwrap_or(0)).max(unseen.unwrap_or_default())
    }
}

impl PublicLog {
    /// Looks which vote waits longest.
    ///
    /// # Errors
    /// [`PublicLogError`]; what was seen before stays.
    pub async fn look_for_lag(&self) -> Result<(), PublicLogError> {
        let oldest = self.store.first_unlogged_vote().await?;
        *self.seen_lag.lock() = SeenLag { oldest_since: oldest.map(|vote| vote.since), seen_at: Instant::now() };
        Ok(())
    }

    /// How long the oldest vote has waited that is not in the log, or since when nobody could look; zero where all votes are in it.
    #[must_use]
    pub fn lag(&self, now: Timestamp) -> Duration {
        self.seen_lag.lock().lag(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_log_is_behind_by_its_oldest_vote_or_since_nobody_could_look() {
        let (now, seconds) = (Timestamp(1_000_000), Duration::from_secs);
        let complete = SeenLag::none();
        let lacks_one = SeenLag { oldest_since: Some(Timestamp(910_000)), ..complete };
        let ahead = SeenLag { oldest_since: Some(Timestamp(1_000_001)), ..complete };
        tokio::time::advance(seconds(60)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [0, 90, 0].map(seconds));
        tokio::time::advance(seconds(1)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [61, 90, 61].map(seconds));
    }
}
