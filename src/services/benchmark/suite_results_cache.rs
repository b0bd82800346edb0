//! Caches the scores of each suite until there are new judgements.
//!
//! Judgements are insert-only, so their number shows whether a cached result is current. One suite at a time is computed, on a blocking
//! thread; concurrent requests wait for it ([`single_flight`](crate::infra::single_flight)).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::error::BenchError;
use super::loading::{LoadedSuite, load};
use super::run_comparison::RunComparisons;
use super::run_manifests::mixed_settings;
use super::scores::suites;
use crate::domain::benchmark::analysis::self_preference_matrix::SelfPreferenceMatrix;
use crate::domain::benchmark::runs::run_selector::{RunSelector, SECOND_ROUND};
use crate::domain::benchmark::scores::judgement::Judgement;
use crate::domain::benchmark::scores::panel_scores::JudgementFilter;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::suite_of;
use crate::domain::benchmark::suite_options::split_references;
use crate::domain::benchmark::suite_summary::SuiteSummary;
use crate::domain::language::Language;
use crate::infra::single_flight::{ByAddress, SingleFlight, Throttle};
use crate::infra::storage::{
    AnswerLength, AnswerRound, BenchJudgementRow, PublishedScoreRow, ScoredJudgement, Store, StoreError,
};
use crate::infra::tasks::Tasks;
use crate::render::report::benchmark::findings::Lengths;
use crate::render::report::benchmark::suite_results::{ReportChoice, ReportSources, ResultsInput, SuiteResults};
use crate::render::report::benchmark::{PublishedScore, Report};

/// Number of cached suites.
const SUITE_CACHE_CAPACITY: usize = 16;
/// Number of latest runs over a suite searched for those of a report.
const MAX_SEARCHED_RUNS: u32 = 20;
/// Number of cached reports.
const REPORT_CACHE_CAPACITY: usize = 16;
/// Computation time above which stale results are served while new ones are computed.
const MAX_FRESH_COMPUTATION: Duration = Duration::from_millis(200);
/// Maximum wait for other scores and reports.
const RESULTS_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Computes a suite's scores, for the models and judges of the filter. Judgements from [`reparse`](super::reparse_replies) are added to the
/// stored ones.
///
/// # Errors
/// [`BenchError`] for an unknown suite, a suite without data, or a database failure.
pub async fn measure(
    store: &Store,
    suite: &str,
    way: &RunSelector,
    filter: &JudgementFilter,
    reparsed: Vec<BenchJudgementRow>,
) -> Result<SuiteResults, BenchError> {
    let LoadedSuite { row, suite, data } = load(store, suite, Some(&way.data), &way.options()).await?;
    let set = AnswerRound { suite: row.suite.clone(), version: row.version.clone(), sample: way.sample };
    let grid = cross_validation(store, &set, way, &reparsed, filter).await?;
    let mut judgements = store.scored_judgements(&set, &way.variant).await?;
    judgements.extend(reparsed.into_iter().filter(|row| row.variant == way.variant).map(ScoredJudgement::from));
    let lengths = store.answer_lengths(&set).await?;
    let (way, filter) = (way.clone(), filter.clone());
    let computed = tokio::task::spawn_blocking(move || {
        let lengths = by_answer(lengths);
        SuiteResults::new(ResultsInput { row, suite, data, way, filter, judgements, lengths, grid })
    });
    Ok(computed.await?)
}

/// Reads the judgements for the self-preference matrix, in the selected round and in the second one; `reparsed` counts with the selected
/// one.
async fn cross_validation(
    store: &Store,
    set: &AnswerRound,
    way: &RunSelector,
    reparsed: &[BenchJudgementRow],
    filter: &JudgementFilter,
) -> Result<SelfPreferenceMatrix, StoreError> {
    let judged = store.judged(&set.suite, &set.version).await?;
    let is_round = |sample| sample == way.sample || (way.sample == 1 && sample == SECOND_ROUND);
    let beside = judged.iter().filter(|group| is_round(group.sample) && split_references(&group.variant).1.is_some());
    let ways: BTreeSet<(u32, &str)> = beside.map(|group| (group.sample, group.variant.as_str())).collect();
    let mut rows: Vec<(u32, &str, Judgement)> = Vec::new();
    for (sample, variant) in ways {
        let said = store.scored_judgements(&AnswerRound { sample, ..set.clone() }, variant).await?;
        rows.extend(said.into_iter().map(|row| (sample, variant, row.judgement)));
    }
    rows.extend(reparsed.iter().map(|row| (row.sample, row.variant.as_str(), row.judgement.clone())));
    let taken = rows.iter().filter(|(.., said)| filter.matches(said));
    Ok(SelfPreferenceMatrix::of_judgements(way, taken.map(|(sample, variant, said)| (*sample, *variant, said))))
}

/// Reads the published scores of a suite, from papers and imported files, and the runs over its data in this variant.
///
/// # Errors
/// [`StoreError`].
pub async fn report_sources(store: &Store, set: &AnswerRound, variant: &str) -> Result<ReportSources, StoreError> {
    let suite = set.suite.as_str();
    let rows = store.published_scores().await?;
    let brought = rows.into_iter().filter(|row| row.suite == suite).map(|row| {
        let PublishedScoreRow { series, part, model, score, source, .. } = row;
        PublishedScore { series, source, part, model, score }
    });
    let mut runs = store.bench_runs_of(suite, MAX_SEARCHED_RUNS).await?;
    runs.retain(|row| {
        row.run.version == set.version && row.run.sample == set.sample && row.run.manifest.variant == variant
    });
    Ok(ReportSources {
        published: PublishedScore::printed(suite).chain(brought).collect(),
        runs: runs.into_iter().map(|row| row.run.reported()).collect(),
        mixed_settings: mixed_settings(store, set).await?,
    })
}

/// Cache of the scores of all suites.
///
/// While a large suite is being judged, each judgement invalidates its entry. If recomputing takes longer than `MAX_FRESH_COMPUTATION`,
/// the stale entry is served meanwhile.
pub struct SuiteResultsCache {
    store: Store,
    measured: SingleFlight<(SuiteId, RunSelector), MeasuredSuite, BenchError>,
    reports: SingleFlight<ReportKey, Report, BenchError>,
    listed: SingleFlight<(), ListedSuites, BenchError>,
    /// Cache of run comparisons, which wait only for each other.
    pub comparisons: RunComparisons,
    /// Number of judgements over each data file, with the number of all rows when they were counted.
    counted: Mutex<HashMap<(SuiteId, String), (u64, u64)>>,
}

/// Key of a cached report.
type ReportKey = (ByAddress<SuiteResults>, ReportChoice, Language, ReportSources);

/// Cached results of a suite, with the version of their inputs.
struct MeasuredSuite {
    results: Arc<SuiteResults>,
    judgements: u64,
    /// Time to read and compute them.
    cost: Duration,
}

/// Summaries of all data files, with the number of all rows at that time.
struct ListedSuites {
    summaries: Arc<Vec<SuiteSummary>>,
    rows: u64,
    cost: Duration,
}

impl SuiteResultsCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: &Tasks) -> Self {
        let throttle = Throttle::new(0, RESULTS_QUEUE_TIMEOUT);
        let measured = SingleFlight::new("measure_suite", SUITE_CACHE_CAPACITY, throttle.clone(), tasks.clone());
        let reports = SingleFlight::new("report_suite", REPORT_CACHE_CAPACITY, throttle.clone(), tasks.clone());
        let listed = SingleFlight::new("list_suites", 1, throttle, tasks.clone());
        let comparisons = RunComparisons::new(store.clone(), tasks.clone());
        Self { store, measured, reports, listed, comparisons, counted: Mutex::default() }
    }

    /// Returns the scores of a suite; those of a large one may be slightly stale.
    ///
    /// # Errors
    /// As [`measure`]; [`BenchError::NotJudged`] if there are no judgements.
    pub async fn measured(&self, suite: &SuiteId, way: &RunSelector) -> Result<Arc<SuiteResults>, BenchError> {
        let way = self.exact(suite, way).await?;
        let judgements = self.judgements(suite, &way.data).await?;
        let is_current = move |measured: &MeasuredSuite| measured.judgements == judgements;
        let key = (suite.clone(), way.clone());
        if let Some(kept) = self.measured.kept(&key, is_current) {
            return Ok(Arc::clone(&kept.results));
        }
        self.check_is_there(suite, &way).await?;
        let compute = || {
            let (store, (suite, way)) = (self.store.clone(), key.clone());
            async move {
                let started = Instant::now();
                let judgements = store.judgement_count(&suite, &way.data).await?;
                let results = measure(&store, suite.as_str(), &way, &JudgementFilter::default(), Vec::new()).await?;
                Ok(MeasuredSuite { results: Arc::new(results), judgements, cost: started.elapsed() })
            }
        };
        if let Some(before) = self.measured.kept(&key, |measured| measured.cost > MAX_FRESH_COMPUTATION) {
            self.measured.begin(&key, is_current, compute);
            return Ok(Arc::clone(&before.results));
        }
        Ok(Arc::clone(&self.measured.get(key.clone(), is_current, compute).await?.results))
    }

    /// Returns the number of judgements over a data file, recounted only after a new row of any file.
    async fn judgements(&self, suite: &SuiteId, version: &str) -> Result<u64, StoreError> {
        let rows = self.store.bench_row_count().await?;
        let key = (suite.clone(), version.to_owned());
        if let Some((_, count)) = self.counted.lock().get(&key).filter(|(at, _)| *at == rows) {
            return Ok(*count);
        }
        let count = self.store.judgement_count(suite, version).await?;
        let mut counted = self.counted.lock();
        // Made-up addresses must not fill the cache.
        counted.retain(|_, (_, count)| *count > 0);
        counted.insert(key, (rows, count));
        Ok(count)
    }

    /// Rejects selections without judgements or answers, so that a made-up address does not evict a real suite from the cache. A suite's
    /// default variant is shown without judgements too.
    async fn check_is_there(&self, suite: &SuiteId, way: &RunSelector) -> Result<(), BenchError> {
        let summaries = self.suites().await?;
        let of_file = |summary: &&SuiteSummary| summary.suite.suite == *suite && summary.suite.version == way.data;
        let Some(summary) = summaries.iter().find(of_file) else { return Ok(()) };
        if summary.has(way) {
            return Ok(());
        }
        // Options that the suite does not support are reported first.
        suite_of(&summary.suite, &way.options())?;
        Err(BenchError::NotJudged { suite: suite.to_string(), variant: way.variant.clone(), sample: way.sample })
    }

    /// Expands the SHA-256 prefix of the data file, so that all prefixes of a file share one cache entry.
    async fn exact(&self, suite: &SuiteId, way: &RunSelector) -> Result<RunSelector, StoreError> {
        let mut files = self.store.bench_suites().await?.into_iter().filter(|file| file.suite == *suite);
        let file = files.find(|file| file.version.starts_with(&way.data));
        Ok(RunSelector { data: file.map_or_else(|| way.data.clone(), |file| file.version), ..way.clone() })
    }

    /// Returns a report of a suite, built on a blocking thread.
    ///
    /// # Errors
    /// As [`measure`].
    pub async fn report(
        &self,
        suite: &SuiteId,
        way: &RunSelector,
        choice: ReportChoice,
        language: Language,
    ) -> Result<Report, BenchError> {
        let measured = self.measured(suite, way).await?;
        // Read each time: scores may be imported, and runs begin, at any time.
        let beside = report_sources(&self.store, &measured.set(), &measured.way.variant).await?;
        let key = (ByAddress(Arc::clone(&measured)), choice.clone(), language, beside.clone());
        let make = || {
            let (measured, choice, beside) = (Arc::clone(&measured), choice.clone(), beside.clone());
            async move { Ok(tokio::task::spawn_blocking(move || measured.report(&choice, &beside, language)).await??) }
        };
        Ok(Arc::unwrap_or_clone(self.reports.get(key, |_| true, make).await?))
    }

    /// Returns summaries of all data files; those of large ones may be slightly stale.
    ///
    /// # Errors
    /// [`BenchError`].
    pub async fn suites(&self) -> Result<Arc<Vec<SuiteSummary>>, BenchError> {
        let rows = self.store.bench_row_count().await?;
        let is_current = move |listed: &ListedSuites| listed.rows == rows;
        let compute = || {
            let store = self.store.clone();
            async move {
                let (started, rows) = (Instant::now(), store.bench_row_count().await?);
                let summaries = Arc::new(suites(&store).await?);
                Ok(ListedSuites { summaries, rows, cost: started.elapsed() })
            }
        };
        if let Some(kept) = self.listed.kept(&(), |listed| is_current(listed) || listed.cost > MAX_FRESH_COMPUTATION) {
            if !is_current(&kept) {
                self.listed.begin(&(), is_current, compute);
            }
            return Ok(Arc::clone(&kept.summaries));
        }
        Ok(Arc::clone(&self.listed.get((), is_current, compute).await?.summaries))
    }
}

fn by_answer(lengths: Vec<AnswerLength>) -> Lengths {
    let keyed = |AnswerLength { item, turn, model, characters }| ((item, turn, model), characters);
    lengths.into_iter().map(keyed).collect()
}
