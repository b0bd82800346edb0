//! Caches the scores of each suite until there are new judgements.
//!
//! Judgements are insert-only, so how many there are tells whether what is kept is still true. One suite at a time is
//! computed, on a blocking thread; whoever asks meanwhile waits for it ([`single_flight`](crate::infra::single_flight)).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::error::BenchError;
use super::loading::{Loaded, load, suite_of};
use super::scores::{SuiteSummary, by_baseline, suites};
use crate::domain::benchmark::analysis::item_scores::ModelComparison;
use crate::domain::benchmark::analysis::self_preference_matrix::{CrossScore, SelfPreferenceMatrix};
use crate::domain::benchmark::options::split_references;
use crate::domain::benchmark::panel_scores::{JudgementFilter, silent_judges};
use crate::domain::benchmark::run_selector::{RunSelector, SECOND_ROUND};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::judging::verdict::Verdict;
use crate::domain::language::Language;
use crate::infra::single_flight::{Same, SingleFlight, Throttle};
use crate::infra::storage::{
    AnswerLength, BenchFilter, BenchJudgementRow, BenchSet, IncludeText, JudgedGroup, PublishedScoreRow, Store,
    StoreError,
};
use crate::infra::tasks::Tasks;
use crate::render::report::benchmark::findings::{Findings, Judged, Lengths};
use crate::render::report::benchmark::{Material, PublishedScore, Report, ScoreEntry};

/// Suites that are kept.
const KEPT: usize = 16;
/// Longest wait for the scores and reports of others.
const PATIENCE: Duration = Duration::from_secs(10);

/// A suite with its items and scores.
pub struct SuiteResults {
    /// The suite and its items.
    pub loaded: Loaded,
    /// Which judgements.
    pub way: RunSelector,
    entries: Vec<ScoreEntry>,
    findings: Findings,
    silent_judges: Vec<String>,
    judgements: u64,
}

impl SuiteResults {
    /// Its set of answers in the database.
    #[must_use]
    pub fn set(&self) -> BenchSet {
        let row = &self.loaded.row;
        BenchSet { suite: row.suite.clone(), version: row.version.clone(), sample: self.way.sample }
    }

    /// Every other model beside this one on the same items, by the mean of all judges; none where the model has no judgement.
    #[must_use]
    pub fn compare_with(&self, reference: &str) -> Option<Vec<ModelComparison>> {
        self.findings.compare_with(reference)
    }

    /// The report as it is asked for.
    ///
    /// # Errors
    /// [`BenchError::NotCompared`] for a model without judgements.
    pub fn report(
        &self,
        choice: &ReportChoice,
        published: &[PublishedScore],
        language: Language,
    ) -> Result<Report, BenchError> {
        let row = &self.loaded.row;
        let compare_with = choice.compare_with.as_deref();
        if let Some(model) = compare_with.filter(|model| !self.findings.models().contains(model)) {
            return Err(BenchError::NotCompared { suite: row.suite.to_string(), model: model.to_owned() });
        }
        let material = Material {
            suite: self.loaded.suite.as_ref(),
            variant: &self.way.variant,
            version: &row.version,
            source: &row.source,
            items: row.items,
            sample: self.way.sample,
            entries: &self.entries,
            published,
            findings: &self.findings,
            silent_judges: &self.silent_judges,
            compare_with,
        };
        Ok(Report::new(material, choice.judge.as_deref(), language))
    }
}

/// What of a suite's results a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportChoice {
    /// The judge; the jury where none is named and there is one.
    pub judge: Option<String>,
    /// The model that the others are compared with; the best one where none is named.
    pub compare_with: Option<String>,
}

/// Reads and computes a suite's scores, of the models and by the judges that the filter takes. What was
/// [`reread`](super::reread) counts beside what is kept.
///
/// # Errors
/// [`BenchError`] where there is no such suite, no data, or the database fails.
pub async fn measure(
    store: &Store,
    suite: &str,
    way: &RunSelector,
    filter: &JudgementFilter,
    reread: Vec<BenchJudgementRow>,
) -> Result<SuiteResults, BenchError> {
    let loaded = load(store, suite, Some(&way.data), &way.options()).await?;
    let judgements = store.judgement_count(&loaded.row.suite, &loaded.row.version).await?;
    let set = BenchSet { suite: loaded.row.suite.clone(), version: loaded.row.version.clone(), sample: way.sample };
    let mut rows = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::No).await?;
    rows.extend(reread);
    let grid = cross_validation(store, &set, way, &rows, filter).await?;
    rows.retain(|row| row.variant == way.variant);
    // Whoever is judged at all is a contestant, shown or not.
    let contestants: BTreeSet<String> = rows.iter().map(|row| row.judgement.model.clone()).collect();
    rows.retain(|row| filter.matches(&row.judgement));
    let lengths = store.answer_lengths(&set).await?;
    let way = way.clone();
    let computed = tokio::task::spawn_blocking(move || {
        let findings = Findings::new(&judged(&rows), &by_answer(lengths));
        let silent_judges = silent_judges(rows.iter().map(|row| &row.judgement));
        let silent_judges: Vec<String> = silent_judges.into_iter().map(str::to_owned).collect();
        let judges: BTreeSet<String> = rows.iter().map(|row| row.judgement.judge_model.clone()).collect();
        let by_baseline = by_baseline(rows);
        let entries = ScoreEntry::all(loaded.suite.as_ref(), &loaded.data.items, &by_baseline, &contestants);
        let findings = findings.with_scores(&entries, &judges).with_grid(grid);
        let findings = findings.with_items(loaded.suite.as_ref(), &loaded.data.items, &by_baseline, &entries);
        SuiteResults { loaded, way, entries, findings, silent_judges, judgements }
    });
    Ok(computed.await?)
}

/// What judges say beside the answers of models; `rows` are the judgements of the way's round.
async fn cross_validation(
    store: &Store,
    set: &BenchSet,
    way: &RunSelector,
    rows: &[BenchJudgementRow],
    filter: &JudgementFilter,
) -> Result<SelfPreferenceMatrix, StoreError> {
    let second = match way.sample {
        1 => {
            store
                .bench_judgements(&BenchSet { sample: SECOND_ROUND, ..set.clone() }, BenchFilter::ALL, IncludeText::No)
                .await?
        }
        _ => Vec::new(),
    };
    let mut latest = BTreeMap::new();
    for row in rows.iter().chain(&second).filter(|row| filter.matches(&row.judgement)) {
        let said = &row.judgement;
        let (Some(generator), Some(Verdict::Rating(rating))) = (split_references(&row.variant).1, &said.parsed) else {
            continue;
        };
        if way.crosses((row.sample, &row.variant), &said.model, generator) {
            latest.insert((&said.judge_model, generator, &said.model, &said.item_id, said.turn), rating.score);
        }
    }
    let scores = latest.into_iter().map(|((evaluator, generator, model, ..), score)| CrossScore {
        evaluator,
        generator,
        model,
        score,
    });
    Ok(SelfPreferenceMatrix::new(scores))
}

/// What was published of a suite: in the papers, and in files that were imported.
///
/// # Errors
/// [`StoreError`].
pub async fn published(store: &Store, suite: &str) -> Result<Vec<PublishedScore>, StoreError> {
    let rows = store.published_scores().await?;
    let brought = rows.into_iter().filter(|row| row.suite == suite).map(|row| {
        let PublishedScoreRow { series, part, model, score, source, .. } = row;
        PublishedScore { series, source, part, model, score }
    });
    Ok(PublishedScore::printed(suite).chain(brought).collect())
}

/// The scores of all suites, kept while they are true.
pub struct SuiteResultsCache {
    store: Store,
    measured: SingleFlight<(SuiteId, RunSelector), SuiteResults, BenchError>,
    reports: SingleFlight<(Same<SuiteResults>, ReportChoice, Language), Report, BenchError>,
    listed: Mutex<Option<(u64, Arc<Vec<SuiteSummary>>)>>,
}

impl SuiteResultsCache {
    /// An empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: &Tasks) -> Self {
        let throttle = Throttle::new(0, PATIENCE);
        let measured = SingleFlight::new("measure_suite", KEPT, throttle.clone(), tasks.clone());
        let reports = SingleFlight::new("report_suite", 0, throttle, tasks.clone());
        Self { store, measured, reports, listed: Mutex::default() }
    }

    /// The scores of a suite as they are now.
    ///
    /// # Errors
    /// As [`measure`]; [`BenchError::NotJudged`] where nothing is there to be measured.
    pub async fn measured(&self, suite: &SuiteId, way: &RunSelector) -> Result<Arc<SuiteResults>, BenchError> {
        let way = self.exact(suite, way).await?;
        let judgements = self.store.judgement_count(suite, &way.data).await?;
        let is_current = |measured: &SuiteResults| measured.judgements == judgements;
        let key = (suite.clone(), way.clone());
        if let Some(kept) = self.measured.kept(&key, is_current) {
            return Ok(kept);
        }
        self.check_is_there(suite, &way).await?;
        let compute = || {
            let (store, (suite, way)) = (self.store.clone(), key.clone());
            async move { measure(&store, suite.as_str(), &way, &JudgementFilter::default(), Vec::new()).await }
        };
        Ok(self.measured.get(key.clone(), is_current, compute).await?)
    }

    /// Refuses what nobody has judged or answered, so that an address that anybody can make up takes no real suite's place
    /// among those that are kept. A suite's own way is shown without judgements too.
    async fn check_is_there(&self, suite: &SuiteId, way: &RunSelector) -> Result<(), BenchError> {
        let summaries = self.suites().await?;
        let of_file = |summary: &&SuiteSummary| summary.suite.suite == *suite && summary.suite.version == way.data;
        let Some(summary) = summaries.iter().find(of_file) else { return Ok(()) };
        if is_in(way, summary) {
            return Ok(());
        }
        // What the suite does not have at all says so first.
        suite_of(&summary.suite, &way.options())?;
        Err(BenchError::NotJudged { suite: suite.to_string(), variant: way.variant.clone(), sample: way.sample })
    }

    /// The same with the full SHA-256 of the data file, so that every spelling of a file shares one cache entry.
    async fn exact(&self, suite: &SuiteId, way: &RunSelector) -> Result<RunSelector, StoreError> {
        let mut files = self.store.bench_suites().await?.into_iter().filter(|file| file.suite == *suite);
        let file = files.find(|file| file.version.starts_with(&way.data));
        Ok(RunSelector { data: file.map_or_else(|| way.data.clone(), |file| file.version), ..way.clone() })
    }

    /// A report of a suite, made on a blocking thread.
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
        let key = (Same(Arc::clone(&measured)), choice.clone(), language);
        let make = || {
            let (store, measured, choice) = (self.store.clone(), Arc::clone(&measured), choice.clone());
            async move {
                let published = published(&store, measured.loaded.row.suite.as_str()).await?;
                let report = move || measured.report(&choice, &published, language);
                tokio::task::spawn_blocking(report).await?
            }
        };
        Ok(Arc::unwrap_or_clone(self.reports.get(key, |_| true, make).await?))
    }

    /// Every data file of every suite, with what was done over it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn suites(&self) -> Result<Arc<Vec<SuiteSummary>>, StoreError> {
        let stamp = self.store.bench_row_count().await?;
        if let Some((_, listed)) = lock(&self.listed).as_ref().filter(|(of, _)| *of == stamp) {
            return Ok(Arc::clone(listed));
        }
        let listed = Arc::new(suites(&self.store).await?);
        *lock(&self.listed) = Some((stamp, Arc::clone(&listed)));
        Ok(listed)
    }
}

/// Whether there is anything to show: judgements like this or beside a model's answers, or answers of this round.
fn is_in(way: &RunSelector, summary: &SuiteSummary) -> bool {
    let base = |variant: &str| split_references(variant).0 == way.variant;
    let judged =
        |group: &JudgedGroup| group.sample == way.sample && (group.variant == way.variant || base(&group.variant));
    let plain = way.variant.is_empty() && (way.sample == 1 || summary.answered.contains_key(&way.sample));
    plain || summary.judged.iter().any(judged)
}

/// A panic elsewhere leaves what can be used.
fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock()
}

fn judged(rows: &[BenchJudgementRow]) -> Vec<Judged<'_>> {
    rows.iter().map(|row| Judged { judgement: &row.judgement, baseline: &row.baseline }).collect()
}

fn by_answer(lengths: Vec<AnswerLength>) -> Lengths {
    let keyed = |AnswerLength { item, turn, model, characters }| ((item, turn, model), characters);
    lengths.into_iter().map(keyed).collect()
}
