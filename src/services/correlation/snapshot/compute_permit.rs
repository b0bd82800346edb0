//! Answers questions about a snapshot one at a time, each of bounded size, on a blocking thread.

use std::sync::Arc;
use std::time::Duration;

use super::{CorrelationService, CorrelationSnapshot, Group};
use crate::domain::benchmark::claims::{self, Claim};
use crate::domain::correlation::history::{HistoryPoint, correlation_history};
use crate::domain::correlation::report::{MixtureReport, PairReport, compare, mixture};
use crate::domain::correlation::{Series, SeriesError, align};
use crate::domain::stats::combination::Search;
use crate::domain::stats::correlation::Coefficient;
use crate::domain::stats::matrix::{Cell, pair};
use crate::infra::tasks::Tasks;
use crate::services::single_flight::{FlightError, Same, SingleFlight, Throttle};

/// Longest wait for the questions of others.
const PATIENCE: Duration = Duration::from_secs(5);
/// Series that may be mixed.
pub(super) const MIXED: usize = 4;
/// Mixtures that may be tried for each question: about a tenth of a second.
const MOST_TRIED: f64 = 3e6;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CorrelationError {
    /// The board has no such series.
    #[error("unknown series {0:?}: /api/v1/correlation lists all series")]
    Unknown(String),
    /// Too few or too many series.
    #[error(
        "{0} series cannot be mixed here: choose two to {MIXED} different series and a target that is not one of them"
    )]
    Count(usize),
    /// The grid is too fine for so many series and models.
    #[error(
        "steps of {step} over {series} series and {models} models take too long here: choose larger steps, 0 for the exact optimum, or langya correlate --combine"
    )]
    Fine {
        /// The step.
        step: String,
        /// Series that are mixed.
        series: usize,
        /// Models that they have in common.
        models: usize,
    },
    /// There is no result, for all who asked.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The series cannot be compared.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The thread died.
    #[error("the thread of the study ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl CorrelationError {
    /// Whether something was asked that cannot be.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Count(_) | Self::Fine { .. } => true,
            Self::Series(error) => error.is_input(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_input),
            Self::Thread(_) => false,
        }
    }
}

/// Two series.
#[derive(Debug, Clone, PartialEq)]
pub struct PairStudy {
    /// The figures.
    pub report: PairReport,
    /// The correlations as such, with the reasons where there are none.
    pub cell: Cell,
    /// How the correlation came about; empty where neither is the arena's rating.
    pub history: Vec<HistoryPoint>,
}

/// Which mixture is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixtureQuestion {
    /// What is mixed.
    pub series: Vec<String>,
    /// What the mixture is to follow.
    pub target: String,
    /// Steps from 0 to 1; `None` for the exact optimum.
    pub steps: Option<u32>,
}

/// Lets one question in after the other; what is asked twice at a time is computed once.
pub(super) struct ComputePermit {
    pairs: SingleFlight<(Same<CorrelationSnapshot>, [usize; 2], Coefficient), PairStudy, CorrelationError>,
    mixtures: SingleFlight<(Same<CorrelationSnapshot>, MixtureQuestion), MixtureReport, CorrelationError>,
    grids: SingleFlight<(Same<CorrelationSnapshot>, Group), (), CorrelationError>,
    claims: SingleFlight<(), Vec<Claim>, CorrelationError>,
}

impl ComputePermit {
    pub(super) fn new(tasks: &Tasks) -> Self {
        let throttle = Throttle::new(0, PATIENCE);
        Self {
            pairs: SingleFlight::new("correlate_pair", 0, throttle.clone(), tasks.clone()),
            mixtures: SingleFlight::new("correlate_mixture", 0, throttle.clone(), tasks.clone()),
            grids: SingleFlight::new("correlate_group", 0, throttle.clone(), tasks.clone()),
            claims: SingleFlight::new("correlate_claims", 1, throttle, tasks.clone()),
        }
    }
}

impl CorrelationService {
    /// How two series of a board go together, and how the given correlation of theirs came about.
    ///
    /// # Errors
    /// [`CorrelationError`].
    pub async fn pair(
        &self,
        board: &Arc<CorrelationSnapshot>,
        [x, y]: [&str; 2],
        coefficient: Coefficient,
    ) -> Result<PairStudy, CorrelationError> {
        let [x, y] = [place(board, x)?, place(board, y)?];
        let compute = || {
            blocking(board, move |board| {
                let (x, y) = (&board.series[x], &board.series[y]);
                let report = compare(x, y, &[], board.options)?;
                let columns = align(&[x, y], &[])?.columns();
                let cell = pair(&columns[0], &columns[1], board.options.level);
                Ok(PairStudy { report, cell, history: correlation_history(&board.history, x, y, coefficient) })
            })
        };
        let key = (Same(Arc::clone(board)), [x, y], coefficient);
        Ok(Arc::unwrap_or_clone(self.compute_permit.pairs.get(key, |_| true, compute).await?))
    }

    /// The mixture of series of a board that follows a target best.
    ///
    /// # Errors
    /// [`CorrelationError`].
    pub async fn mixture(
        &self,
        board: &Arc<CorrelationSnapshot>,
        question: &MixtureQuestion,
    ) -> Result<MixtureReport, CorrelationError> {
        let count = question.series.len();
        let repeated = (0..count).any(|at| question.series[..at].contains(&question.series[at]));
        if !(2..=MIXED).contains(&count) || repeated || question.series.contains(&question.target) {
            return Err(CorrelationError::Count(count));
        }
        let series: Vec<usize> = question.series.iter().map(|name| place(board, name)).collect::<Result<_, _>>()?;
        let (target, steps) = (place(board, &question.target)?, question.steps);
        let compute = || {
            let series = series.clone();
            blocking(board, move |board| {
                let series: Vec<&Series> = series.iter().map(|&at| &board.series[at]).collect();
                mix(board, &series, &board.series[target], steps)
            })
        };
        let key = (Same(Arc::clone(board)), question.clone());
        Ok(Arc::unwrap_or_clone(self.compute_permit.mixtures.get(key, |_| true, compute).await?))
    }

    /// Sees to it that the matrix of a group is there.
    ///
    /// # Errors
    /// [`CorrelationError::Shared`].
    pub async fn prepare(&self, board: &Arc<CorrelationSnapshot>, group: Group) -> Result<(), CorrelationError> {
        if board.grids[group as usize].get().is_some() {
            return Ok(());
        }
        let compute = || {
            blocking(board, move |board| {
                board.grid(group);
                Ok(())
            })
        };
        self.compute_permit.grids.get((Same(Arc::clone(board)), group), |()| true, compute).await?;
        Ok(())
    }

    /// What the papers say of their own figures, computed when it is first asked for.
    ///
    /// # Errors
    /// [`CorrelationError::Shared`].
    pub async fn claims(&self) -> Result<Arc<Vec<Claim>>, CorrelationError> {
        let all = || async { Ok(tokio::task::spawn_blocking(claims::all).await?) };
        Ok(self.compute_permit.claims.get((), |_| true, all).await?)
    }
}

/// Answers a question on a blocking thread.
fn blocking<T: Send + 'static>(
    board: &Arc<CorrelationSnapshot>,
    question: impl FnOnce(&CorrelationSnapshot) -> Result<T, CorrelationError> + Send + 'static,
) -> impl Future<Output = Result<T, CorrelationError>> + Send + 'static {
    let board = Arc::clone(board);
    async move { tokio::task::spawn_blocking(move || question(&board)).await? }
}

pub(super) fn mix(
    board: &CorrelationSnapshot,
    series: &[&Series],
    target: &Series,
    steps: Option<u32>,
) -> Result<MixtureReport, CorrelationError> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    let models = align(&all, &[])?.models.len();
    let search = match steps {
        None => Search::Exact,
        // Each model is left out once.
        Some(steps)
            if tried(steps, series.len()) * f64::from(u32::try_from(models + 1).unwrap_or(u32::MAX)) > MOST_TRIED =>
        {
            let step = format!("{}", 1.0 / f64::from(steps));
            return Err(CorrelationError::Fine { step, series: series.len(), models });
        }
        Some(steps) => Search::Grid { steps },
    };
    Ok(mixture(series, target, &[], search, board.options)?)
}

/// How many mixtures a grid has.
fn tried(steps: u32, series: usize) -> f64 {
    (1..u32::try_from(series).unwrap_or(u32::MAX)).map(|place| f64::from(steps + place) / f64::from(place)).product()
}

fn place(board: &CorrelationSnapshot, name: &str) -> Result<usize, CorrelationError> {
    let found = board.series.iter().position(|series| series.name.to_string() == name);
    found.ok_or_else(|| CorrelationError::Unknown(name.to_owned()))
}
