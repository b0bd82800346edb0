//! Value for money of the arena's models: a leaderboard, the configured prices, and the token usage of recent battles.
//!
//! The ratings are those of [`FilteredLeaderboards`]. Tokens and times come from the latest votes only, so reading them has bounded cost;
//! like the leaderboards they are read one at a time and cached. The join itself takes microseconds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::filtered::{FilteredLeaderboardError, FilteredLeaderboards, labels_changed_at};
use crate::domain::rating::leaderboards::leaderboard_filter::LeaderboardFilter;
use crate::domain::rating::value::join::{ValueInput, join};
use crate::domain::rating::value::report::ValueReport;
use crate::domain::rating::value::usage::ArenaUsage;
use crate::domain::rating::votes::slice::SliceError;
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::domain::time::Timestamp;
use crate::infra::cache_validity::CacheValidity;
use crate::infra::config::CurrentSettings;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, ReadLogError, read_log};
use crate::infra::tasks::Tasks;

/// Number of latest sequence numbers whose tokens and times are read.
const RECENT_VOTES: i64 = 20_000;
/// Cool-down after a reading, as a multiple of its duration.
const COOL_DOWN_FACTOR: u32 = 4;
/// Maximum wait for readings of other filters.
const READING_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of cached readings.
const CACHE_CAPACITY: usize = 48;

/// Tokens and times of recent votes.
#[derive(Debug)]
struct RecentUsage {
    validity: CacheValidity,
    usage: ArenaUsage,
}

/// Everything that the usage depends on besides the votes: the filter, the time of the last label change if the filter
/// uses labels, and the number of changes to exclusions.
type UsageCacheKey = (LeaderboardFilter, Timestamp, i64);

/// Makes reports on value for money, and caches the usage of recent votes.
#[derive(Debug)]
pub struct ValueReports {
    store: Store,
    settings: CurrentSettings,
    filtered: Arc<FilteredLeaderboards>,
    usages: SingleFlight<UsageCacheKey, RecentUsage, FilteredLeaderboardError>,
}

impl ValueReports {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, filtered: Arc<FilteredLeaderboards>, tasks: Tasks) -> Self {
        let usages = SingleFlight::new(
            "read_recent_usage",
            CACHE_CAPACITY,
            Throttle::new(COOL_DOWN_FACTOR, READING_QUEUE_TIMEOUT),
            tasks,
        );
        Self { store, settings, filtered, usages }
    }

    /// Returns the report for a filter, with the votes up to `last_seq` or slightly fewer. `practice` are ids of practice models.
    ///
    /// # Errors
    /// [`FilteredLeaderboardError`].
    pub async fn get(
        &self,
        filter: &LeaderboardFilter,
        last_seq: i64,
        practice: &BTreeSet<String>,
    ) -> Result<ValueReport, FilteredLeaderboardError> {
        let filtered = self.filtered.get(filter, last_seq).await?;
        let recent = self.usage(filter, last_seq).await?;
        let prices = self.settings.now().price_list();
        let (leaderboard, differences) = (&filtered.leaderboard, &filtered.differences);
        Ok(join(ValueInput { leaderboard, differences, prices: &prices, usage: &recent.usage, practice }))
    }

    /// Returns the usage of all recent battles, with the votes up to `last_seq` or slightly fewer.
    ///
    /// # Errors
    /// [`FilteredLeaderboardError`].
    pub async fn recent_usage(&self, last_seq: i64) -> Result<ArenaUsage, FilteredLeaderboardError> {
        Ok(self.usage(&LeaderboardFilter::default(), last_seq).await?.usage.clone())
    }

    async fn usage(
        &self,
        filter: &LeaderboardFilter,
        last_seq: i64,
    ) -> Result<Arc<RecentUsage>, FilteredLeaderboardError> {
        // Rating options do not affect usage.
        let filter =
            LeaderboardFilter { without_ties: false, style: false, side: false, level: false, ..filter.clone() };
        let exclusion_changes = self.store.exclusion_changes().await.map_err(ReadLogError::from)?;
        let key = (filter.clone(), labels_changed_at(&self.store, &filter).await?, exclusion_changes);
        let read = || read_usage(self.store.clone(), filter.clone(), last_seq);
        Ok(self.usages.get(key, |cached| cached.validity.is_current(last_seq), read).await?)
    }
}

async fn read_usage(
    store: Store,
    filter: LeaderboardFilter,
    last_seq: i64,
) -> Result<RecentUsage, FilteredLeaderboardError> {
    let began = Instant::now();
    let last = store.last_vote_seq().await.map_err(ReadLogError::from)?.min(last_seq);
    let range = VoteRange { after: last.saturating_sub(RECENT_VOTES).max(0), upto: last, ..VoteRange::ALL };
    let (slice, mut columns) = (filter.slice(), ColumnSet::default());
    ArenaUsage::add_columns(&mut columns);
    slice.add_columns(&mut columns);
    let log = read_log(&store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
    let usage = tokio::task::spawn_blocking(move || match slice.take(log) {
        // The slice may have older votes only.
        Err(SliceError::Unknown { .. }) => Ok(ArenaUsage::default()),
        taken => taken.map(|log| ArenaUsage::new(&log)),
    });
    let usage = usage.await??;
    Ok(RecentUsage { validity: CacheValidity::new(last, began.elapsed()), usage })
}
