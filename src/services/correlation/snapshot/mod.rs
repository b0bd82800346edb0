//! In-memory snapshots of all series of the arena and their correlations.
//!
//! A [`CorrelationSnapshot`] has the data of one moment and is not stored. The [`CorrelationService`] makes a new one when an input changed
//! (`SeriesVersion`), and answers requests from the latest. One request at a time is computed, so that visitors cannot occupy all cores,
//! and each has a bounded size.

mod compute_permit;
mod reading;

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

pub use compute_permit::CorrelationError;

use super::{ReadSeriesError, SeriesReader, Sources};
use crate::domain::correlation::Aliases;
use crate::domain::correlation::catalog::{arena_names, reads_prompts};
use crate::domain::correlation::published_series::published_names;
use crate::domain::correlation::snapshot::{
    CorrelationSnapshot, SNAPSHOT_BOOTSTRAP, SeriesVersion, SnapshotInput, UnusableReason, UnusableSeries,
};
use crate::domain::rating::leaderboards::history::{Moment, history};
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, read_log};
use crate::infra::tasks::Tasks;
use crate::infra::time::clock::Clock;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Maximum number of votes at which all prompts are read after each leaderboard.
const MAX_VOTES_TO_READ_PROMPTS: i64 = 200_000;
/// Number of moments in the history.
const HISTORY_POINTS: usize = 40;

/// Keeps the latest snapshot and answers requests from it.
pub struct CorrelationService {
    store: Store,
    settings: CurrentSettings,
    leaderboard: Arc<LatestLeaderboard>,
    clock: Arc<dyn Clock>,
    latest: watch::Sender<Arc<CorrelationSnapshot>>,
    compute_permit: compute_permit::ComputePermit,
}

impl CorrelationService {
    /// Creates the service without a snapshot.
    #[must_use]
    pub fn new(
        store: Store,
        settings: CurrentSettings,
        leaderboard: Arc<LatestLeaderboard>,
        clock: Arc<dyn Clock>,
        tasks: &Tasks,
    ) -> Self {
        Self {
            store,
            settings,
            leaderboard,
            clock,
            latest: watch::Sender::default(),
            compute_permit: compute_permit::ComputePermit::new(tasks),
        }
    }

    /// Returns the latest snapshot.
    #[must_use]
    pub fn latest(&self) -> Arc<CorrelationSnapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// Returns a receiver of every new snapshot.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<CorrelationSnapshot>> {
        self.latest.subscribe()
    }

    /// Makes a new snapshot if an input of the latest one changed. Returns whether it did.
    ///
    /// # Errors
    /// [`ReadSeriesError`]; the previous snapshot stays.
    pub async fn refresh(&self) -> Result<bool, ReadSeriesError> {
        let input_version = self.input_version().await?;
        if self.latest().input_version.as_ref() == Some(&input_version) {
            return Ok(false);
        }
        let snapshot = Arc::new(self.compute_snapshot(input_version).await?);
        self.latest.send_replace(snapshot);
        Ok(true)
    }

    async fn input_version(&self) -> Result<SeriesVersion, ReadSeriesError> {
        let settings = self.settings.now();
        Ok(SeriesVersion {
            votes: self.leaderboard.latest().last_public_seq().min(self.store.last_vote_seq().await?),
            exclusion_changes: self.store.exclusion_changes().await?,
            judged: self.store.bench_row_count().await?,
            verdicts: self.store.verdict_spending(Timestamp(i64::MIN)).await?.iter().map(|spent| spent.calls).sum(),
            labelled: self.store.labels_changed_at().await?,
            imported: reading::fingerprint(&self.store.published_scores().await?),
            rating: settings.rating.leaderboard_options()?,
            aliases: Aliases::new(&settings.aliases)?,
            names: arena_names(&self.leaderboard.slice_votes().counts),
        })
    }

    async fn compute_snapshot(&self, input_version: SeriesVersion) -> Result<CorrelationSnapshot, ReadSeriesError> {
        let started = Instant::now();
        let sources = Sources {
            store: Some(&self.store),
            table: None,
            aliases: input_version.aliases.clone(),
            rating: input_version.rating.clone(),
            bootstrap: SNAPSHOT_BOOTSTRAP,
        };
        let known = self.latest();
        let suites = known
            .input_version
            .as_ref()
            .filter(|known| known.judged == input_version.judged)
            .map(|_| known.suites.clone());
        let mut reader = SeriesReader::with_suites(sources, suites.unwrap_or_default()).up_to(input_version.votes);
        let mut names = if input_version.votes > 0 { input_version.names.clone() } else { Vec::new() };
        let mut unusable = Vec::new();
        if input_version.votes > MAX_VOTES_TO_READ_PROMPTS {
            // Prompt lengths can only be computed from the prompts.
            names.retain(|name| !reads_prompts(name));
            unusable.push(UnusableSeries {
                message: format!(
                    "long prompts are no series here of more than {MAX_VOTES_TO_READ_PROMPTS} votes: langya correlate has them"
                ),
                reason: UnusableReason::TooManyPrompts { votes: MAX_VOTES_TO_READ_PROMPTS },
            });
        }
        match reader.stored_scores().await {
            Ok(stored) => names.extend(stored),
            Err(error) if error.is_input() => unusable.push(reading::unusable(&error)),
            Err(error) => return Err(error),
        }
        names.extend(published_names().filter_map(|name| name.parse().ok()));
        let series = reading::read(&mut reader, &names, &mut unusable).await?;
        // Frees its votes before the history is read.
        let suites = reader.into_suites();
        let history = self.history(&input_version).await?;
        let made_at = self.clock.now();
        let input = SnapshotInput { version: input_version, made_at, series, history, unusable, suites };
        let snapshot = CorrelationSnapshot::new(input);
        snapshot.add_cost(started.elapsed());
        Ok(snapshot)
    }

    /// Computes ratings at past moments from the log, with models under their names in series.
    async fn history(&self, input_version: &SeriesVersion) -> Result<Vec<Moment>, ReadSeriesError> {
        if input_version.votes == 0 {
            return Ok(Vec::new());
        }
        let wanted = ColumnSet { seconds: true, ..ColumnSet::default() };
        let range = VoteRange { upto: input_version.votes, ..VoteRange::ALL };
        let log = read_log(&self.store, LogQuery { columns: wanted, range, concurrency: 1 }, |_, _| {}).await?;
        let (rating, aliases) = (input_version.rating.clone(), input_version.aliases.clone());
        let moments = tokio::task::spawn_blocking(move || {
            let mut moments = history(&log, HISTORY_POINTS, &rating)?;
            for (model, _) in moments.iter_mut().flat_map(|moment| &mut moment.ratings) {
                *model = aliases.model(model).to_owned();
            }
            Ok::<_, ReadSeriesError>(moments)
        });
        moments.await?
    }
}
