//! What changed on the leaderboard on each of the last days. Days that are over are read once a day and kept.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::latest_leaderboard::LatestLeaderboard;
use crate::domain::rating::leaderboard_days::{DayChanges, LeaderboardDay, day_changes};
use crate::domain::rating::leaderboard_json;
use crate::domain::time::{Timestamp, day_of};
use crate::infra::storage::{Store, StoreError};

/// Days with a leaderboard that are compared, before the latest one.
const DAYS: usize = 30;

/// The last days of the leaderboard.
pub struct DayFeed {
    store: Store,
    leaderboard: Arc<LatestLeaderboard>,
    past: Mutex<Option<Arc<PastDays>>>,
}

/// The days before one, the latest first.
struct PastDays {
    before: Timestamp,
    days: Vec<LeaderboardDay>,
}

impl DayFeed {
    /// Reads stored leaderboards.
    #[must_use]
    pub fn new(store: Store, leaderboard: Arc<LatestLeaderboard>) -> Self {
        Self { store, leaderboard, past: Mutex::default() }
    }

    /// The changes of each day, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn changes(&self) -> Result<Vec<DayChanges>, StoreError> {
        let snapshot = self.leaderboard.latest();
        let Some(as_of) = snapshot.fitted_at else { return Ok(Vec::new()) };
        let past = self.past(day_of(as_of)).await?;
        let mut days = vec![LeaderboardDay::new(as_of, &snapshot.leaderboard)];
        days.extend_from_slice(&past.days);
        Ok(day_changes(&days, past.days.len() < DAYS))
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

    /// The last leaderboard of each day. One in an older format ends them.
    async fn read(&self, mut before: Timestamp) -> Result<Vec<LeaderboardDay>, StoreError> {
        let mut days = Vec::new();
        while days.len() < DAYS {
            let Some(stored) = self.store.leaderboard_before(before).await? else { break };
            let Ok(leaderboard) = leaderboard_json::from_json(&stored.body) else { break };
            days.push(LeaderboardDay::new(stored.fitted_at, &leaderboard));
            before = day_of(stored.fitted_at);
        }
        Ok(days)
    }
}
