//! The leaderboard: fitted from the vote log, stored with its date, read by pages, pairing and the command line alike.
//!
//! Votes are counted once and then only what is new ([`VoteTally`]); the counts are what a fresh read would give.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::vote_log::ReadLogError;
use super::vote_tally::{Facets, VoteTally};
use crate::domain::battle::{ModelId, Outcome};
use crate::domain::rating::FitError;
use crate::domain::rating::comparison::ComparisonSet;
use crate::domain::rating::elo::{self, EloTable};
use crate::domain::rating::interval::ConfidenceLevel;
use crate::domain::rating::leaderboard::{Leaderboard, LeaderboardOptions, rank};
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::config::{CurrentSettings, RatingSettings};
use crate::infra::events::{Event, EventBus};
use crate::infra::metrics;
use crate::infra::storage::{Store, StoreError, StoredLeaderboard};
use crate::services::labeling::final_labels::FacetChanges;

/// The Elo rating of a model without a vote.
const ELO_START: f64 = 1000.0;

/// A leaderboard with its date.
#[derive(Debug, Clone)]
pub struct LeaderboardSnapshot {
    /// The number of the fit: it orders leaderboards with the same votes, which clocks of several machines cannot.
    pub fit: i64,
    /// When it was fitted; `None` before the first fit.
    pub fitted_at: Option<Timestamp>,
    /// The latest vote in it.
    pub last_vote_seq: i64,
    /// The leaderboard.
    pub board: Leaderboard,
}

impl Default for LeaderboardSnapshot {
    fn default() -> Self {
        let nothing = rank(&ComparisonSet::new(), &EloTable::default(), &LeaderboardOptions::default());
        Self { fit: 0, fitted_at: None, last_vote_seq: 0, board: nothing.expect("no votes give an empty leaderboard") }
    }
}

/// The latest leaderboard in memory.
#[derive(Debug, Default)]
pub struct LatestLeaderboard {
    latest: watch::Sender<Arc<LeaderboardSnapshot>>,
    /// Votes of each pair, by the two ids in order: what `active` pairing asks for.
    pair_votes: RwLock<HashMap<(String, String), u64>>,
    /// What the votes are about.
    facets: RwLock<Arc<Facets>>,
}

impl LatestLeaderboard {
    /// Starts from what the database holds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        let leaderboard = Self::default();
        leaderboard.reload(store).await?;
        Ok(leaderboard)
    }

    /// Takes in what another instance has fitted, if it has later votes, or the same votes and a later fit.
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
        // A board in an older shape is derived data: the first fit brings it back.
        if let Ok(board) = serde_json::from_str(&stored.body) {
            let StoredLeaderboard { fit, fitted_at, last_vote_seq, .. } = stored;
            self.put(LeaderboardSnapshot { fit, fitted_at: Some(fitted_at), last_vote_seq, board });
        }
        Ok(())
    }

    /// Tells of every new leaderboard.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<LeaderboardSnapshot>> {
        self.latest.subscribe()
    }

    /// The latest leaderboard.
    #[must_use]
    pub fn latest(&self) -> Arc<LeaderboardSnapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// A model's Elo rating.
    #[must_use]
    pub fn elo(&self, model: &ModelId) -> f64 {
        let standing = self.latest();
        let row = standing.board.models.iter().find(|row| row.model == model.as_str());
        row.map_or(ELO_START, |row| row.elo)
    }

    /// How much one more vote moves the Elo rating of side A; side B moves by as much the other way.
    #[must_use]
    pub fn elo_change(&self, models: &[ModelId; 2], outcome: Outcome) -> f64 {
        elo::change(self.elo(&models[0]), self.elo(&models[1]), outcome)
    }

    /// Votes between two models so far.
    #[must_use]
    pub fn votes_between(&self, one: &str, other: &str) -> u64 {
        let pairs = self.pair_votes.read().unwrap_or_else(PoisonError::into_inner);
        pairs.get(&pair_key(one, other)).copied().unwrap_or(0)
    }

    /// What the votes so far are about.
    #[must_use]
    pub fn facets(&self) -> Arc<Facets> {
        Arc::clone(&self.facets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn put_facets(&self, facets: Facets) {
        *self.facets.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(facets);
    }

    fn put(&self, standing: LeaderboardSnapshot) {
        self.latest.send_replace(Arc::new(standing));
    }

    fn count_pair(&self, one: &str, other: &str, votes: u64) {
        let mut pairs = self.pair_votes.write().unwrap_or_else(PoisonError::into_inner);
        *pairs.entry(pair_key(one, other)).or_insert(0) += votes;
    }
}

fn pair_key(one: &str, other: &str) -> (String, String) {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    (first.to_owned(), second.to_owned())
}

/// The options of the published leaderboard.
///
/// # Errors
/// [`FitError`] where the confidence level is none.
pub fn leaderboard_options(settings: &RatingSettings) -> Result<LeaderboardOptions, FitError> {
    Ok(LeaderboardOptions {
        confidence: ConfidenceLevel::new(settings.confidence)?,
        min_votes: settings.min_votes,
        ..LeaderboardOptions::default()
    })
}

/// Why a refit failed.
#[derive(Debug, thiserror::Error)]
pub enum RefitError {
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The leaderboard could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit's thread died.
    #[error("the thread of the fit ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl RefitError {
    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Votes(error) => error.is_outage(),
            Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// Keeps the leaderboard up to date; one per process, and one process of all fits.
pub struct Refitter {
    /// Where votes and leaderboards are kept.
    pub store: Store,
    /// Where the latest leaderboard is shown.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// Who is told.
    pub events: Arc<dyn EventBus>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// How to rank, as the settings have it at each fit.
    pub settings: CurrentSettings,
    /// How the latest leaderboard of this process was ranked; `None` before the first look.
    pub ranked_by: Option<LeaderboardOptions>,
    /// The votes so far.
    pub tally: VoteTally,
    /// What final labels change in what they are about.
    pub relabelled: FacetChanges,
}

impl Refitter {
    /// When the oldest vote was cast that the latest leaderboard lacks.
    async fn oldest_unranked(&self) -> Result<Option<Timestamp>, StoreError> {
        let held = self.leaderboard.latest().last_vote_seq;
        let next = self.store.votes_after(held, Timestamp(i64::MIN), Timestamp(i64::MAX), 1).await?;
        Ok(next.first().map(|vote| vote.created_at))
    }

    /// Takes in new votes and what another instance has fitted: all that an instance does which does not lead. It can
    /// take the lead at any moment without reading the log again.
    ///
    /// # Errors
    /// [`RefitError`].
    pub async fn follow(&mut self) -> Result<(), RefitError> {
        self.count_new_votes().await?;
        Ok(self.leaderboard.reload(&self.store).await?)
    }

    /// Takes in new votes and, if the latest leaderboard lacks any or nothing was ever fitted, fits, stores and announces
    /// one. Returns whether it did.
    ///
    /// # Errors
    /// [`RefitError`]; the former leaderboard stays.
    pub async fn refit(&mut self) -> Result<bool, RefitError> {
        let started = Instant::now();
        self.count_new_votes().await?;
        let options = leaderboard_options(&self.settings.now().rating)?;
        let ranked_by = self.ranked_by.replace(options.clone());
        let same_rules = ranked_by.is_none_or(|former| former == options);
        let latest = self.leaderboard.latest();
        if latest.last_vote_seq >= self.tally.last_seq() && same_rules && latest.fitted_at.is_some() {
            return Ok(false);
        }
        let oldest = self.oldest_unranked().await?;
        // A few hundred kilobytes, whatever the number of votes.
        let (comparisons, elo) = (self.tally.comparisons.clone(), self.tally.elo.clone());
        let board = tokio::task::spawn_blocking(move || rank(&comparisons, &elo, &options)).await??;
        self.publish(board).await?;
        let lag = oldest.and_then(|cast| u64::try_from(self.clock.now().0.saturating_sub(cast.0)).ok());
        metrics::refitted(started.elapsed(), lag.map(Duration::from_millis));
        Ok(true)
    }

    /// Keeps the counts of the votes for whoever starts next: always at the end, otherwise where there are many new ones.
    ///
    /// # Errors
    /// [`RefitError`]; they can be counted again.
    pub async fn keep_counts(&mut self, last: bool) -> Result<(), RefitError> {
        Ok(self.tally.keep(&self.store, last).await?)
    }

    async fn count_new_votes(&mut self) -> Result<(), RefitError> {
        let leaderboard = Arc::clone(&self.leaderboard);
        let new =
            self.tally.catch_up(&self.store, |one, other, votes| leaderboard.count_pair(one, other, votes)).await?;
        let relabelled = self.relabelled.refresh(&self.store, self.tally.last_seq()).await?;
        if new > 0 || relabelled || self.leaderboard.facets().languages.is_empty() {
            self.leaderboard.put_facets(self.relabelled.apply(&self.tally.facets));
        }
        Ok(())
    }

    async fn publish(&self, mut board: Leaderboard) -> Result<(), RefitError> {
        board.votes.exclude(&self.tally.excluded);
        let fitted_at = self.clock.now();
        let body = serde_json::to_string(&board).expect("a leaderboard is plain text and finite numbers");
        let (fit, last_vote_seq) = (self.leaderboard.latest().fit, self.tally.last_seq());
        match self.store.put_leaderboard(&StoredLeaderboard { fit, fitted_at, last_vote_seq, body }).await? {
            Some(fit) => {
                self.leaderboard.put(LeaderboardSnapshot { fit, fitted_at: Some(fitted_at), last_vote_seq, board })
            }
            // Another instance has fitted later votes in the same minute.
            None => self.leaderboard.reload(&self.store).await?,
        }
        self.events.publish(Event::LeaderboardPublished);
        Ok(())
    }
}
