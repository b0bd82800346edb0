//! The published leaderboard: fitted from the vote log, stored with its date, and read by pages, pairing and the
//! command line.
//!
//! [`VoteTally`] counts only new votes; its counts equal those of a full read. Intervals by voter need the single votes,
//! which [`RatedVotes`] holds in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use tokio::sync::watch;

use crate::domain::labeling::final_labels::LabeledSliceVotes;
use crate::domain::rating::FitError;
use crate::domain::rating::counts::pair_counts::PairCounts;
use crate::domain::rating::counts::pair_votes::{PairVotes, TallyProgress};
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::leaderboards::leaderboard_json;
use crate::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use crate::domain::rating::leaderboards::publication_schedule::PublicationSchedule;
use crate::domain::rating::leaderboards::ranking::{rank, rank_log};
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::events::{Event, EventBus};
use crate::infra::metrics;
use crate::infra::storage::{Store, StoreError, StoredLeaderboard};
use crate::infra::stored_votes::final_labels::SliceVoteChanges;
use crate::infra::stored_votes::rated_votes::RatedVotes;
use crate::infra::stored_votes::vote_log::ReadLogError;
use crate::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};
use crate::infra::time::clock::Clock;

/// The latest leaderboard in memory.
#[derive(Debug, Default)]
pub struct LatestLeaderboard {
    latest: watch::Sender<Arc<LeaderboardSnapshot>>,
    /// Rated votes of each pair.
    pair_votes: RwLock<PairVotes>,
    /// Number of rated votes by language, category and intent, with the origins of labels.
    slice_votes: RwLock<Arc<LabeledSliceVotes>>,
}

impl LatestLeaderboard {
    /// Loads the stored leaderboard.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        let leaderboard = Self::default();
        leaderboard.reload(store).await?;
        Ok(leaderboard)
    }

    /// Loads the stored leaderboard if it has later votes, or the same votes and a later fit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn reload(&self, store: &Store) -> Result<(), StoreError> {
        let Some(stored) = store.latest_leaderboard().await? else { return Ok(()) };
        let latest = self.latest();
        let is_newer = (stored.last_vote_seq, stored.fit) > (latest.last_vote_seq, latest.fit);
        if latest.fitted_at.is_some() && !is_newer {
            return Ok(());
        }
        // A leaderboard in an older format is ignored: the next fit replaces it.
        if let Ok(leaderboard) = leaderboard_json::from_json(&stored.body) {
            let StoredLeaderboard { fit, fitted_at, last_vote_seq, .. } = stored;
            self.put(LeaderboardSnapshot { fit, fitted_at: Some(fitted_at), last_vote_seq, leaderboard });
        }
        Ok(())
    }

    /// Returns a receiver of every new leaderboard.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<LeaderboardSnapshot>> {
        self.latest.subscribe()
    }

    /// Returns the latest leaderboard.
    #[must_use]
    pub fn latest(&self) -> Arc<LeaderboardSnapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// Returns the number of votes between two models.
    #[must_use]
    pub fn votes_between(&self, one: &str, other: &str) -> u64 {
        self.pair_counts(one, other).total()
    }

    /// Returns the rated votes between two models by outcome; the counts have `one` first.
    #[must_use]
    pub fn pair_counts(&self, one: &str, other: &str) -> PairCounts {
        self.pair_votes.read().of(one, other)
    }

    /// Returns the number of rated votes by language, category and intent, with the origins of labels.
    #[must_use]
    pub fn slice_votes(&self) -> Arc<LabeledSliceVotes> {
        Arc::clone(&self.slice_votes.read())
    }

    fn put_slice_votes(&self, slice_votes: LabeledSliceVotes) {
        *self.slice_votes.write() = Arc::new(slice_votes);
    }

    fn put(&self, snapshot: LeaderboardSnapshot) {
        self.latest.send_replace(Arc::new(snapshot));
    }

    fn count_pairs(&self, counted: TallyProgress<'_>) {
        self.pair_votes.write().count(counted);
    }
}

/// Error of a refit.
#[derive(Debug, thiserror::Error)]
pub enum RefitError {
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The leaderboard could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit thread panicked.
    #[error("the fit thread panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl RefitError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Votes(error) => error.is_outage(),
            Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// Refits the published leaderboard; one per process, and only the leading process fits.
pub struct Refitter {
    /// The database.
    pub store: Store,
    /// Holds the latest leaderboard.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// Event bus that announces new leaderboards.
    pub events: Arc<dyn EventBus>,
    /// Clock for the fit times.
    pub clock: Arc<dyn Clock>,
    /// Current settings, read at each fit.
    pub settings: CurrentSettings,
    /// Options of the last fit of this process; `None` before the first refit.
    pub ranked_by: Option<LeaderboardOptions>,
    /// [`exclusion_changes`](crate::domain::rating::vote_counts::VoteCounts::exclusion_changes) at the last fit of this
    /// process; `None` before the first refit.
    pub ranked_exclusions: Option<i64>,
    /// Counts of the votes so far.
    pub tally: VoteTally,
    /// The rated votes with their voters, where the intervals need them.
    pub votes: RatedVotes,
    /// Changes of the votes by slice through final labels.
    pub relabeled: SliceVoteChanges,
}

impl Refitter {
    /// Returns how long new votes wait for others before they appear on the leaderboard; `None` if a fit is due. Unrated votes wait too,
    /// but do not count towards the minimum group: battles on chosen models cannot make another person's vote appear alone.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn wait_for_votes(&self) -> Result<Option<Duration>, StoreError> {
        if self.ranked_by.is_none() {
            return Ok(None);
        }
        let settings = self.settings.now();
        let rating = &settings.rating;
        let rule = PublicationSchedule { votes: rating.group_votes, every: rating.leaderboards_every() };
        let held = self.leaderboard.latest().last_vote_seq;
        let waiting = self.store.waiting_votes(held, rule.votes).await?;
        Ok(waiting.and_then(|(oldest, rated)| rule.wait(rated, oldest, self.clock.now())))
    }

    /// Returns the time of the oldest vote that the latest leaderboard lacks.
    async fn oldest_unranked(&self) -> Result<Option<Timestamp>, StoreError> {
        let held = self.leaderboard.latest().last_vote_seq;
        let next = self.store.votes_after(held, Timestamp(i64::MIN), Timestamp(i64::MAX), 1).await?;
        Ok(next.first().map(|vote| vote.created_at))
    }

    /// Counts new votes and loads leaderboards of other instances. A follower stays ready to lead without reading the
    /// log again.
    ///
    /// # Errors
    /// [`RefitError`].
    pub async fn follow(&mut self) -> Result<(), RefitError> {
        self.count_new_votes().await?;
        Ok(self.leaderboard.reload(&self.store).await?)
    }

    /// Counts new votes and, if the latest leaderboard lacks any, its options changed or there is none, fits, stores
    /// and announces one. Returns whether it did.
    ///
    /// # Errors
    /// [`RefitError`]; the previous leaderboard stays.
    pub async fn refit(&mut self) -> Result<bool, RefitError> {
        let started = Instant::now();
        self.count_new_votes().await?;
        let options = self.settings.now().rating.leaderboard_options()?;
        let ranked_by = self.ranked_by.replace(options.clone());
        let same_rules = match ranked_by {
            Some(former) => former == options,
            // Another process has fitted the stored one, maybe under other settings.
            None => self.leaderboard.latest().leaderboard.follows(&options),
        };
        let exclusion_changes = self.tally.counts.exclusion_changes;
        let same_exclusions = self.ranked_exclusions.replace(exclusion_changes) == Some(exclusion_changes);
        let latest = self.leaderboard.latest();
        // The first fit of a process knows only the number of exclusions in a stored leaderboard, not which.
        let same_votes = same_exclusions || latest.leaderboard.votes.excluded == self.tally.counts.excluded;
        let same_rules = same_rules && same_votes;
        if latest.last_vote_seq >= self.tally.last_seq() && same_rules && latest.fitted_at.is_some() {
            return Ok(false);
        }
        let oldest = self.oldest_unranked().await?;
        let leaderboard = self.fit(options).await?;
        self.publish(leaderboard).await?;
        let lag = oldest.and_then(|cast| u64::try_from(self.clock.now().0.saturating_sub(cast.0)).ok());
        metrics::refitted(started.elapsed(), lag.map(Duration::from_millis));
        Ok(true)
    }

    async fn fit(&mut self, options: LeaderboardOptions) -> Result<Leaderboard, RefitError> {
        if options.interval.reads_voters() {
            let (upto, exclusion_changes) = (self.tally.last_seq(), self.tally.counts.exclusion_changes);
            let log = self.votes.catch_up(&self.store, upto, exclusion_changes).await?;
            return Ok(tokio::task::spawn_blocking(move || rank_log(&log, &options)).await??);
        }
        self.votes = RatedVotes::default();
        // A copy takes a few hundred kilobytes for any number of votes.
        let (comparisons, elo) = (self.tally.counts.comparisons.clone(), self.tally.counts.elo.clone());
        Ok(tokio::task::spawn_blocking(move || rank(&comparisons, &elo, &options)).await??)
    }

    /// Whether exclusions changed, by whatever process, since the votes were counted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusions_changed(&self) -> Result<bool, StoreError> {
        self.tally.is_outdated(&self.store).await
    }

    /// Stores the counts of the votes for the next process.
    ///
    /// # Errors
    /// [`RefitError`]; the votes can be counted again.
    pub async fn store_counts(&mut self, when: StoreWhen) -> Result<(), RefitError> {
        Ok(self.tally.store(&self.store, when).await?)
    }

    async fn count_new_votes(&mut self) -> Result<(), RefitError> {
        let leaderboard = Arc::clone(&self.leaderboard);
        let new = self.tally.catch_up(&self.store, |counted| leaderboard.count_pairs(counted)).await?;
        let relabeled = self.relabeled.refresh(&self.store, self.tally.last_seq()).await?;
        if new > 0 || relabeled || self.leaderboard.slice_votes().counts.languages.is_empty() {
            self.leaderboard.put_slice_votes(self.relabeled.apply(&self.tally.counts.slices));
        }
        Ok(())
    }

    async fn publish(&self, mut leaderboard: Leaderboard) -> Result<(), RefitError> {
        leaderboard.votes.exclude(&self.tally.counts.excluded);
        let fitted_at = self.clock.now();
        let body = leaderboard_json::to_json(&leaderboard);
        let (fit, last_vote_seq) = (self.leaderboard.latest().fit, self.tally.last_seq());
        match self.store.put_leaderboard(&StoredLeaderboard { fit, fitted_at, last_vote_seq, body }).await? {
            Some(fit) => self.leaderboard.put(LeaderboardSnapshot {
                fit,
                fitted_at: Some(fitted_at),
                last_vote_seq,
                leaderboard,
            }),
            // Another instance stored a fit of later votes in the same minute.
            None => self.leaderboard.reload(&self.store).await?,
        }
        self.events.publish(Event::LeaderboardPublished);
        Ok(())
    }
}
