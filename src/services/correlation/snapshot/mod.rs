//! All series of the arena and their correlations, in memory and up to date.
//!
//! A [`CorrelationSnapshot`] is what there was at one moment; nothing of it is stored. The [`CorrelationService`] makes a new one when something
//! changed that it rests on (`InputVersion`), and answers what is asked of the latest. One question at a time is computed, so that
//! visitors cannot make the arena compute on all cores, and each has a bounded size.

mod catalog;
mod compute_permit;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::watch;

pub use catalog::{Source, arena_names};
pub use compute_permit::{CorrelationError, MixtureQuestion, PairStudy};

use super::{ReadSeriesError, SeriesReader, Sources, Suites};
use crate::domain::correlation::align::column;
use crate::domain::correlation::papers::published_names;
use crate::domain::correlation::report::StudyOptions;
use crate::domain::correlation::{Aliases, Series, SeriesName, Subjects};
use crate::domain::rating::history::{Moment, history};
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::vote_log::ColumnSet;
use crate::domain::stats::matrix::{Cell, Matrix, matrix};
use crate::domain::stats::resample::BootstrapOptions;
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::tasks::Tasks;
use crate::services::leaderboard::refit::{LatestLeaderboard, leaderboard_options};
use crate::services::leaderboard::vote_log::{ReadOptions, read_log};

/// How votes and judged items are resampled. The command line draws more often, with the same seed.
const BOOTSTRAP: BootstrapOptions = BootstrapOptions { replicates: 200, seed: 0 };
/// Of more votes than this not every prompt is read after each leaderboard.
const MANY: i64 = 200_000;
/// Moments of the history.
const MOMENTS: usize = 40;
/// Series of a matrix.
pub const SHOWN: usize = 40;

/// What a board rests on.
#[derive(Debug, Clone, PartialEq)]
struct InputVersion {
    /// The latest vote.
    votes: i64,
    /// Data files, answers and judgements of benchmarks.
    judged: u64,
    /// What judges were asked of the arena's battles.
    verdicts: u64,
    /// When labels last changed.
    labelled: Timestamp,
    /// What was imported that others have published, as one number.
    imported: u64,
    /// How the arena rates.
    rating: LeaderboardOptions,
    /// Other names of models.
    aliases: Aliases,
    /// The series of the arena's votes.
    names: Vec<SeriesName>,
}

/// All series at one moment.
pub struct CorrelationSnapshot {
    input_version: Option<InputVersion>,
    /// When it was made; `None` before the first.
    pub made_at: Option<Timestamp>,
    /// The series, in the order in which they are listed.
    pub series: Vec<Series>,
    /// Why there are no others: what the user would have to mend.
    pub unusable: Vec<String>,
    /// How intervals are found.
    pub options: StudyOptions,
    history: Vec<Moment>,
    /// The benchmarks' scores, resampled only when somebody was judged.
    suites: Suites,
    grids: [OnceLock<CorrelationMatrix>; 3],
    /// How long it took.
    cost: Duration,
}

impl Default for CorrelationSnapshot {
    fn default() -> Self {
        let rating = LeaderboardOptions::default();
        Self {
            input_version: None,
            made_at: None,
            series: Vec::new(),
            unusable: Vec::new(),
            options: StudyOptions { level: rating.confidence, bootstrap: BOOTSTRAP },
            history: Vec::new(),
            suites: Suites::default(),
            grids: Default::default(),
            cost: Duration::ZERO,
        }
    }
}

/// Which series a matrix has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Group {
    /// The arena's votes, its benchmarks, and what was imported.
    #[default]
    Own,
    /// What the papers print.
    Published,
    /// All.
    All,
}

impl Group {
    /// Its name in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Published => "published",
            Self::All => "all",
        }
    }
}

/// A matrix of series of models.
pub struct CorrelationMatrix {
    /// The places of its series on the board.
    pub series: Vec<usize>,
    /// As many series as the group has; the matrix has the first [`SHOWN`].
    pub of: usize,
    matrix: Matrix,
    cost: Duration,
}

impl CorrelationMatrix {
    /// What the series of a row and of another column have.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.matrix.cell(row, column)
    }
}

impl CorrelationSnapshot {
    /// A series by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name.to_string() == name)
    }

    /// How many series a group has.
    #[must_use]
    pub fn of_group(&self, group: Group) -> usize {
        catalog::of_group(&self.series, group).len()
    }

    /// The two series that are shown where none are asked for: the arena's rating and its first benchmark, or else two
    /// that a paper compares.
    #[must_use]
    pub fn default_pair(&self) -> Option<[String; 2]> {
        const PRINTED: [&str; 2] = ["published:superclue_close", "published:superclue_open:turn:1"];
        let rating = self.find("arena:rating").map(|series| series.name.to_string());
        let bench = self.series.iter().find(|series| Source::of(series) == Source::Benchmark);
        if let (Some(rating), Some(bench)) = (rating, bench) {
            return Some([rating, bench.name.to_string()]);
        }
        PRINTED.iter().all(|name| self.find(name).is_some()).then(|| PRINTED.map(str::to_owned))
    }

    /// Satisfaction and a benchmark's means by intent, where both are there: a benchmark that was run here goes first.
    #[must_use]
    pub fn intents(&self) -> Option<[String; 2]> {
        let of_intents = || self.series.iter().filter(|series| Source::of(series) == Source::Intents);
        let satisfaction = of_intents().find(|series| series.name == SeriesName::Satisfaction)?;
        let suite = of_intents().find(|series| series.name != SeriesName::Satisfaction)?;
        Some([&satisfaction.name, &suite.name].map(ToString::to_string))
    }

    /// The matrix of a group, computed when it is first asked for: do that on a blocking thread.
    pub fn grid(&self, group: Group) -> &CorrelationMatrix {
        self.grids[group as usize].get_or_init(|| {
            let started = Instant::now();
            let all = catalog::of_group(&self.series, group);
            let shown: Vec<usize> = all.iter().copied().take(SHOWN).collect();
            let series: Vec<&Series> = shown.iter().map(|&at| &self.series[at]).collect();
            let models: std::collections::BTreeSet<&String> =
                series.iter().flat_map(|series| series.points.keys()).collect();
            let of = |series: &&Series| column(models.iter().map(|model| series.points.get(*model)));
            let columns: Vec<_> = series.iter().map(of).collect();
            let matrix = matrix(&columns, self.options.level);
            CorrelationMatrix { series: shown, of: all.len(), matrix, cost: started.elapsed() }
        })
    }

    /// How long it has taken so far, with its matrices.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.cost + self.grids.iter().filter_map(OnceLock::get).map(|grid| grid.cost).sum::<Duration>()
    }
}

/// Keeps the latest board and answers what is asked of it.
pub struct CorrelationService {
    store: Store,
    settings: CurrentSettings,
    leaderboard: Arc<LatestLeaderboard>,
    clock: Arc<dyn Clock>,
    latest: watch::Sender<Arc<CorrelationSnapshot>>,
    compute_permit: compute_permit::ComputePermit,
}

impl CorrelationService {
    /// There is no board yet.
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

    /// The latest board.
    #[must_use]
    pub fn latest(&self) -> Arc<CorrelationSnapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// Tells of every new board.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<CorrelationSnapshot>> {
        self.latest.subscribe()
    }

    /// Makes a new board if something changed that the latest one rests on. Returns whether it did.
    ///
    /// # Errors
    /// [`ReadSeriesError`]; the former board stays.
    pub async fn refresh(&self) -> Result<bool, ReadSeriesError> {
        let input_version = self.input_version().await?;
        if self.latest().input_version.as_ref() == Some(&input_version) {
            return Ok(false);
        }
        let board = Arc::new(self.make(input_version).await?);
        self.latest.send_replace(board);
        Ok(true)
    }

    async fn input_version(&self) -> Result<InputVersion, ReadSeriesError> {
        let settings = self.settings.now();
        Ok(InputVersion {
            votes: self.store.last_vote_seq().await?,
            judged: self.store.bench_row_count().await?,
            verdicts: self.store.verdict_spending(Timestamp(i64::MIN)).await?.iter().map(|spent| spent.calls).sum(),
            labelled: self.store.labels_changed_at().await?,
            imported: catalog::fingerprint(&self.store.published_scores().await?),
            rating: leaderboard_options(&settings.rating)?,
            aliases: Aliases::new(&settings.aliases)?,
            names: arena_names(&self.leaderboard.facets()),
        })
    }

    async fn make(&self, input_version: InputVersion) -> Result<CorrelationSnapshot, ReadSeriesError> {
        let started = Instant::now();
        let sources = Sources {
            store: Some(&self.store),
            table: None,
            aliases: input_version.aliases.clone(),
            rating: input_version.rating.clone(),
            bootstrap: BOOTSTRAP,
        };
        let known = self.latest();
        let suites = known
            .input_version
            .as_ref()
            .filter(|known| known.judged == input_version.judged)
            .map(|_| known.suites.clone());
        let mut reader = SeriesReader::with_suites(sources, suites.unwrap_or_default());
        let mut names = if input_version.votes > 0 { input_version.names.clone() } else { Vec::new() };
        let mut unusable = Vec::new();
        if input_version.votes > MANY {
            // Nothing says how long a prompt is but the prompt.
            names.retain(|name| !catalog::reads_prompts(name));
            unusable
                .push(format!("long prompts are no series here of more than {MANY} votes: langya correlate has them"));
        }
        match reader.stored_scores().await {
            Ok(stored) => names.extend(stored),
            Err(error) if error.is_input() => unusable.push(error.to_string()),
            Err(error) => return Err(error),
        }
        names.extend(published_names().filter_map(|name| name.parse().ok()));
        let mut series = catalog::read(&mut reader, &names, &mut unusable).await?;
        catalog::sort(&mut series);
        // Its votes go before those of the history come.
        let suites = reader.into_suites();
        let history = self.history(&input_version).await?;
        Ok(CorrelationSnapshot {
            made_at: Some(self.clock.now()),
            series,
            unusable,
            options: StudyOptions { level: input_version.rating.confidence, bootstrap: BOOTSTRAP },
            history,
            suites,
            cost: started.elapsed(),
            input_version: Some(input_version),
            ..CorrelationSnapshot::default()
        })
    }

    /// The ratings at past moments, out of the log, with the models under the names that series have them under.
    async fn history(&self, input_version: &InputVersion) -> Result<Vec<Moment>, ReadSeriesError> {
        if input_version.votes == 0 {
            return Ok(Vec::new());
        }
        let wanted = ColumnSet { seconds: true, ..ColumnSet::default() };
        let range = VoteRange { upto: input_version.votes, ..VoteRange::ALL };
        let log = read_log(&self.store, ReadOptions { columns: wanted, range, concurrency: 1 }, |_, _| {}).await?;
        let (rating, aliases) = (input_version.rating.clone(), input_version.aliases.clone());
        let moments = tokio::task::spawn_blocking(move || {
            let mut moments = history(&log, MOMENTS, &rating)?;
            for (model, _) in moments.iter_mut().flat_map(|moment| &mut moment.ratings) {
                *model = aliases.model(model).to_owned();
            }
            Ok::<_, ReadSeriesError>(moments)
        });
        moments.await?
    }
}

/// Whether a series has one number a model.
fn is_of_models(series: &Series) -> bool {
    series.subjects == Subjects::Models
}

#[cfg(test)]
mod tests;
