//! Answers requests about a snapshot one at a time, each of bounded size, on a blocking thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::CorrelationService;
use crate::domain::benchmark::paper_claims::{self, Claim};
use crate::domain::correlation::catalog::{CatalogError, MixtureQuestion, PairStudy, SeriesGroup};
use crate::domain::correlation::report::MixtureReport;
use crate::domain::correlation::snapshot::CorrelationSnapshot;
use crate::domain::correlation::suite_score_table::ScoreTableComparison;
use crate::domain::stats::correlation::Coefficient;
use crate::infra::single_flight::{ByAddress, FlightError, SingleFlight, Throttle};
use crate::infra::tasks::Tasks;

/// Maximum wait for other requests.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of cached comparisons of one model with the others.
const COMPARISON_CACHE_CAPACITY: usize = 8;

/// Error of a request about a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum CorrelationError {
    /// Error of the series catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The computing thread panicked.
    #[error("the thread of the study ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl CorrelationError {
    /// Whether the request is invalid.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Catalog(error) => error.is_input(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_input),
            Self::Thread(_) => false,
        }
    }
}

/// Admits one computation at a time; identical concurrent requests share one.
pub(super) struct ComputePermit {
    pairs: SingleFlight<(ByAddress<CorrelationSnapshot>, [String; 2], Coefficient), PairStudy, CorrelationError>,
    mixtures: SingleFlight<(ByAddress<CorrelationSnapshot>, MixtureQuestion), MixtureReport, CorrelationError>,
    matrices: SingleFlight<(ByAddress<CorrelationSnapshot>, SeriesGroup), (), CorrelationError>,
    comparisons: SingleFlight<(ByAddress<CorrelationSnapshot>, String), Option<ScoreTableComparison>, CorrelationError>,
    claims: SingleFlight<(), Vec<Claim>, CorrelationError>,
}

impl ComputePermit {
    pub(super) fn new(tasks: &Tasks) -> Self {
        let throttle = Throttle::new(0, PERMIT_TIMEOUT);
        Self {
            pairs: SingleFlight::new("correlate_pair", 0, throttle.clone(), tasks.clone()),
            mixtures: SingleFlight::new("correlate_mixture", 0, throttle.clone(), tasks.clone()),
            matrices: SingleFlight::new("correlate_group", 0, throttle.clone(), tasks.clone()),
            comparisons: SingleFlight::new(
                "compare_models",
                COMPARISON_CACHE_CAPACITY,
                throttle.clone(),
                tasks.clone(),
            ),
            claims: SingleFlight::new("correlate_claims", 1, throttle, tasks.clone()),
        }
    }
}

impl CorrelationService {
    /// Computes the correlation of two series, with the history of a coefficient.
    ///
    /// # Errors
    /// [`CorrelationError`].
    pub async fn pair(
        &self,
        snapshot: &Arc<CorrelationSnapshot>,
        [x, y]: [&str; 2],
        coefficient: Coefficient,
    ) -> Result<Arc<PairStudy>, CorrelationError> {
        let names = [x.to_owned(), y.to_owned()];
        let compute = || {
            let names = names.clone();
            blocking(snapshot, move |snapshot| {
                Ok(snapshot.catalog.pair(names.each_ref().map(String::as_str), coefficient)?)
            })
        };
        let key = (ByAddress(Arc::clone(snapshot)), names.clone(), coefficient);
        Ok(self.compute_permit.pairs.get(key, |_| true, compute).await?)
    }

    /// Computes the mixture of series that predicts a target best.
    ///
    /// # Errors
    /// [`CorrelationError`].
    pub async fn mixture(
        &self,
        snapshot: &Arc<CorrelationSnapshot>,
        question: &MixtureQuestion,
    ) -> Result<Arc<MixtureReport>, CorrelationError> {
        let compute = || {
            let question = question.clone();
            blocking(snapshot, move |snapshot| Ok(snapshot.catalog.mixture(&question)?))
        };
        let key = (ByAddress(Arc::clone(snapshot)), question.clone());
        Ok(self.compute_permit.mixtures.get(key, |_| true, compute).await?)
    }

    /// Computes the matrix of a group, unless cached.
    ///
    /// # Errors
    /// [`CorrelationError::Shared`].
    pub async fn prepare(
        &self,
        snapshot: &Arc<CorrelationSnapshot>,
        group: SeriesGroup,
    ) -> Result<(), CorrelationError> {
        if snapshot.has_matrix(group) {
            return Ok(());
        }
        let compute = || {
            blocking(snapshot, move |snapshot| {
                let started = Instant::now();
                snapshot.matrix(group);
                snapshot.add_cost(started.elapsed());
                Ok(())
            })
        };
        self.compute_permit.matrices.get((ByAddress(Arc::clone(snapshot)), group), |()| true, compute).await?;
        Ok(())
    }

    /// Compares one model with the others of the score table; `None` if no suite has a score of the model.
    ///
    /// # Errors
    /// [`CorrelationError::Shared`].
    pub async fn compare_with(
        &self,
        snapshot: &Arc<CorrelationSnapshot>,
        model: &str,
    ) -> Result<Option<ScoreTableComparison>, CorrelationError> {
        let compute = || {
            let model = model.to_owned();
            blocking(snapshot, move |snapshot| Ok(snapshot.compare_with(&model)))
        };
        let key = (ByAddress(Arc::clone(snapshot)), model.to_owned());
        Ok(Arc::unwrap_or_clone(self.compute_permit.comparisons.get(key, |_| true, compute).await?))
    }

    /// Returns the papers' claims about their own results, computed on the first call.
    ///
    /// # Errors
    /// [`CorrelationError::Shared`].
    pub async fn claims(&self) -> Result<Arc<Vec<Claim>>, CorrelationError> {
        let all = || async { Ok(tokio::task::spawn_blocking(paper_claims::all).await?) };
        Ok(self.compute_permit.claims.get((), |_| true, all).await?)
    }
}

/// Runs a request on a blocking thread.
fn blocking<T: Send + 'static>(
    snapshot: &Arc<CorrelationSnapshot>,
    question: impl FnOnce(&CorrelationSnapshot) -> Result<T, CorrelationError> + Send + 'static,
) -> impl Future<Output = Result<T, CorrelationError>> + Send + 'static {
    let snapshot = Arc::clone(snapshot);
    async move { tokio::task::spawn_blocking(move || question(&snapshot)).await? }
}
