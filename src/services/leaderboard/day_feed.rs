//! Daily changes of the leaderboard over the last days. Past days are read once a day and cached.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::latest_leaderboard::LatestLeaderboard;
use crate::domain::rating::leaderboards::daily_rank_changes::{DayChanges, LeaderboardDay, day_changes};
use crate::domain::rating::leaderboards::leaderboard_json;
use crate::domain::time::{Timestamp, day_of};
use crate::infra::storage::{Store, StoreError};

/// Number of compared days with a leaderboard, before the latest one.
const COMPARED_DAYS: usize = 30;

/// Feed of daily leaderboard changes.
pub struct DayFeed {
    store: Store,
    leaderboard: Arc<LatestLeaderboard>,
    past: Mutex<Option<Arc<PastDays>>>,
}

/// Cached days before a day, the latest first.
struct PastDays {
    before: Timestamp,
    days: Vec<LeaderboardDay>,
}

impl DayFeed {
    /// Creates the feed.
    #[must_use]
    pub fn new(store: Store, leaderboard: Arc<LatestLeaderboard>) -> Self {
        Self { store, leaderboard, past: Mutex::default() }
    }

    /// Returns the changes of each day, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn changes(&self) -> Result<Vec<DayChanges>, StoreError> {
        let snapshot = self.leaderboard.latest();
        let Some(as_of) = snapshot.fitted_at else { return Ok(Vec::new()) };
        let past = self.past(day_of(as_of)).await?;
        let mut days = vec![LeaderboardDay::new(as_of, &snapshot.leaderboard)];
        days.extend_from_slice(&past.days);
        Ok(day_changes(&days, past.days.len() < COMPARED_DAYS))
    }

    async fn past(&self, before: Timestamp) -> Result<Arc<PastDays>, StoreError> {
        let mut past = self.past.lock().await;
        if let Some(known) = past.as_ref().filter(|known| known.before == before) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(PastDays { before, days: self.read(before).await? });
        *past = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Reads the last leaderboard of each day, back to the first one in an older format.
    async fn read(&self, mut before: Timestamp) -> Result<Vec<LeaderboardDay>, StoreError> {
        let mut days = Vec::new();
        while days.len() < COMPARED_DAYS {
            let Some(stored) = self.store.leaderboard_before(before).await? else { break };
            let Ok(leaderboard) = leaderboard_json::from_json(&stored.body) else { break };
            days.push(LeaderboardDay::new(stored.fitted_at, &leaderboard));
            before = day_of(stored.fitted_at);
        }
        Ok(days)
    }
}
