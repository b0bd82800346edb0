//! Reads series, with each source read once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::{ReadSeriesError, published, satisfaction, suite_series};
use crate::battle_judging::reports::verdict_votes;
use crate::campaign::reports::{CampaignSeries, campaign_series};
use crate::domain::correlation::metrics::{MetricPoints, metric_points};
use crate::domain::correlation::satisfaction::group_means;
use crate::domain::correlation::series_name::CampaignPart;
use crate::domain::correlation::suite_cache::SuiteCache;
use crate::domain::correlation::{
    Aliases, Provenance, Series, SeriesName, SeriesValues, Subjects, SuiteSeries, VotePart, VotesUsed, bootstrap_for,
    published_series,
};
use crate::domain::rating::bootstrap_samples::Metric;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::slice::Slice;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::domain::stats::resample::BootstrapOptions;
use crate::domain::time::Timestamp;
use crate::formats::model_table::ModelTable;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, read_log};

/// Number of concurrent page reads.
const MAX_CONCURRENT_READS: usize = 2;

/// Sources of series, and options for computing them.
#[derive(Clone)]
pub struct Sources<'s> {
    /// Database of the arena.
    pub store: Option<&'s Store>,
    /// Table of models.
    pub table: Option<&'s ModelTable>,
    /// Aliases of models.
    pub aliases: Aliases,
    /// The rating options; also the confidence level of all intervals.
    pub rating: LeaderboardOptions,
    /// Bootstrap of votes and items; no replicates to hold them fixed.
    pub bootstrap: BootstrapOptions,
}

/// Reads series. Data shared by several of them, such as votes or judgements, is read once.
pub struct SeriesReader<'s> {
    sources: Sources<'s>,
    /// Sequence number of the last vote to read.
    last_vote: i64,
    log: Option<(ColumnSet, Arc<VoteLog>)>,
    used: Provenance,
    suites: SuiteCache,
}

impl<'s> SeriesReader<'s> {
    /// Creates a reader with empty caches.
    #[must_use]
    pub fn new(sources: Sources<'s>) -> Self {
        Self {
            sources,
            last_vote: VoteRange::ALL.upto,
            log: None,
            used: Provenance::default(),
            suites: SuiteCache::default(),
        }
    }

    /// Creates a reader with the suite scores of an earlier reader of the same judgements.
    #[must_use]
    pub fn with_suites(sources: Sources<'s>, suites: SuiteCache) -> Self {
        Self { suites, ..Self::new(sources) }
    }

    /// Limits the reader to the votes up to this sequence number.
    #[must_use]
    pub fn up_to(self, last_vote: i64) -> Self {
        Self { last_vote, ..self }
    }

    /// Returns the cached suite scores.
    #[must_use]
    pub fn into_suites(self) -> SuiteCache {
        self.suites
    }

    /// Reads several series, in this order.
    ///
    /// # Errors
    /// [`ReadSeriesError`].
    pub async fn read_all(&mut self, names: &[SeriesName]) -> Result<Vec<Series>, ReadSeriesError> {
        self.read_votes(names).await?;
        let mut series = Vec::with_capacity(names.len());
        for name in names {
            series.push(self.read(name).await?);
        }
        Ok(series)
    }

    /// Reads a series.
    ///
    /// # Errors
    /// [`ReadSeriesError`].
    pub async fn read(&mut self, name: &SeriesName) -> Result<Series, ReadSeriesError> {
        let found = match name {
            SeriesName::Column(column) => self.column(column)?,
            SeriesName::Arena { metric, part } => self.arena_metric(name, *metric, part).await?,
            SeriesName::Satisfaction => self.satisfaction().await?,
            SeriesName::Verdicts(judge) => self.verdicts(name, judge).await?,
            SeriesName::Campaign { id, part } => self.campaign(name, id, part).await?,
            SeriesName::Bench { suite, judge, part } => {
                let scores = self.suite(suite, judge.as_deref()).await?;
                scores.part(part, self.sources.rating.confidence)?
            }
            SeriesName::Published(id) => {
                let published_series::PublishedValues { title, source, subjects, values } =
                    published::read(id, self.sources.store).await?;
                self.used.published.insert(name.to_string(), source);
                SeriesValues::fixed(title, subjects, values)
            }
        };
        let SeriesValues { title, subjects, points, notes, resampled } = found;
        let points = match subjects {
            Subjects::Models => self.sources.aliases.apply(&name.to_string(), points)?,
            Subjects::Intents | Subjects::Methods => points,
        };
        Ok(Series { name: name.clone(), title, subjects, points, notes, resampled })
    }

    /// Returns the provenance of all data read so far.
    #[must_use]
    pub fn used(&self) -> Provenance {
        Provenance { suites: self.suites.used(), ..self.used.clone() }
    }

    /// Lists the names of all stored series: every part of every judged suite, the whole suite by each judge if it has several, ratings by
    /// verdicts on battles, and imported scores.
    ///
    /// # Errors
    /// [`ReadSeriesError`].
    pub async fn stored_scores(&mut self) -> Result<Vec<SeriesName>, ReadSeriesError> {
        let Some(store) = self.sources.store else { return Ok(Vec::new()) };
        let suites: BTreeSet<String> =
            store.bench_suites().await?.into_iter().map(|row| row.suite.to_string()).collect();
        let mut names = Vec::new();
        for suite in suites {
            match self.suite(&suite, None).await {
                Ok(scores) => {
                    names.extend(scores.keys().into_iter().map(|key| SeriesName::of_suite(&suite, &key)));
                    names.extend(SeriesName::by_single_judges(&suite, &scores.judges));
                }
                Err(ReadSeriesError::NotJudged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let imported = store.published_scores().await?.into_iter().map(|row| match row.part.as_str() {
            "" => row.series,
            part => format!("{}:{part}", row.series),
        });
        let judges = store.verdict_spending(Timestamp(i64::MIN)).await?;
        names.extend(judges.into_iter().map(|spent| SeriesName::Verdicts(spent.judge)));
        names.extend(imported.collect::<BTreeSet<String>>().into_iter().map(SeriesName::Published));
        Ok(names)
    }

    fn column(&self, name: &str) -> Result<SeriesValues, ReadSeriesError> {
        let table = self.sources.table.ok_or_else(|| ReadSeriesError::NoTable(name.to_owned()))?;
        Ok(SeriesValues::fixed(name.to_owned(), Subjects::Models, table.column(name)?))
    }

    async fn arena_metric(
        &mut self,
        name: &SeriesName,
        metric: Metric,
        part: &VotePart,
    ) -> Result<SeriesValues, ReadSeriesError> {
        self.read_votes(std::slice::from_ref(name)).await?;
        let (_, log) = self.log.clone().expect("the votes were just read");
        // All metrics of a slice share the resampled votes of each replicate.
        let log = SlicedLog { log, slice: part.0.clone(), source: format!("arena:{part}") };
        self.rated(part.title(metric), metric, log).await
    }

    /// Computes a metric from a judge's verdicts on the arena's battles, fitted like votes.
    async fn verdicts(&self, name: &SeriesName, judge: &str) -> Result<SeriesValues, ReadSeriesError> {
        let log = Arc::new(verdict_votes(self.store(name)?, judge, self.last_vote).await?);
        let log = SlicedLog { log, slice: Slice::default(), source: name.to_string() };
        self.rated(format!("rating by verdicts of {judge}"), Metric::Rating, log).await
    }

    /// Computes ratings or mean scores from a campaign, one of its questions, or a judge's verdicts on the same answers. Bootstrap units
    /// are items for scores, and annotators with all of their judgements for ratings.
    async fn campaign(
        &self,
        name: &SeriesName,
        id: &str,
        part: &CampaignPart,
    ) -> Result<SeriesValues, ReadSeriesError> {
        match campaign_series(self.store(name)?, id, part).await? {
            CampaignSeries::Votes(log) => {
                let log = SlicedLog { log, slice: Slice::default(), source: name.to_string() };
                let title = match part {
                    CampaignPart::Judge(judge) => format!("rating by verdicts of {judge} on the campaign {id}"),
                    CampaignPart::Task | CampaignPart::Question(_) => format!("rating by the campaign {id}"),
                };
                self.rated(title, Metric::Rating, log).await
            }
            CampaignSeries::Scores(scores) => {
                let bootstrap = bootstrap_for(self.sources.bootstrap, &name.to_string());
                let points = group_means(&scores, bootstrap, self.sources.rating.confidence);
                let what = match part {
                    CampaignPart::Question(question) => format!("answer to {question}"),
                    CampaignPart::Task | CampaignPart::Judge(_) => "score".to_owned(),
                };
                let title = format!("mean {what} by the campaign {id}");
                let (subjects, notes) = (Subjects::Models, Vec::new());
                Ok(SeriesValues { title, subjects, points, notes, resampled: None })
            }
        }
    }

    async fn rated(
        &self,
        title: String,
        metric: Metric,
        SlicedLog { log, slice, source }: SlicedLog,
    ) -> Result<SeriesValues, ReadSeriesError> {
        let options = self.sources.rating.clone();
        let bootstrap = bootstrap_for(self.sources.bootstrap, &source);
        let computed = tokio::task::spawn_blocking(move || {
            let whole = slice == Slice::default();
            let log = if whole { Cow::Borrowed(log.as_ref()) } else { Cow::Owned(slice.pick(&log)?) };
            Ok::<_, ReadSeriesError>(metric_points(&log, metric, &options, bootstrap)?)
        });
        let MetricPoints { points, notes, resampled } = computed.await??;
        Ok(SeriesValues { title, subjects: Subjects::Models, points, notes, resampled })
    }

    async fn satisfaction(&mut self) -> Result<SeriesValues, ReadSeriesError> {
        let store = self.store(&SeriesName::Satisfaction)?;
        let by_intent = satisfaction::by_intent(store, self.votes()).await?;
        self.used.satisfied_votes = Some(by_intent.values().map(Vec::len).sum());
        let bootstrap = bootstrap_for(self.sources.bootstrap, "arena:satisfaction");
        let points = group_means(&by_intent, bootstrap, self.sources.rating.confidence);
        let title = "satisfaction, 1 to 5".to_owned();
        Ok(SeriesValues { title, subjects: Subjects::Intents, points, notes: Vec::new(), resampled: None })
    }

    async fn suite(&mut self, suite: &str, judge: Option<&str>) -> Result<Arc<SuiteSeries>, ReadSeriesError> {
        if let Some(known) = self.suites.get(suite, judge) {
            return Ok(Arc::clone(known));
        }
        let judge_name = judge.map(str::to_owned);
        let name = SeriesName::Bench { suite: suite.to_owned(), judge: judge_name, part: String::new() };
        let scores = suite_series::read(self.store(&name)?, suite, judge, self.sources.bootstrap).await?;
        self.suites.insert(suite, judge, Arc::clone(&scores));
        Ok(scores)
    }

    /// Reads the votes with all columns that the series need, unless cached. To read the votes once, call this with all series before
    /// reading them one by one.
    ///
    /// # Errors
    /// [`ReadSeriesError`].
    pub async fn read_votes(&mut self, names: &[SeriesName]) -> Result<(), ReadSeriesError> {
        let mut wanted = self.log.as_ref().map(|(wanted, _)| *wanted).unwrap_or_default();
        let mut asked = None;
        for name in names {
            if let SeriesName::Arena { part, .. } = name {
                part.0.add_columns(&mut wanted);
                // Bootstrap units and rating intervals are as on the leaderboard.
                wanted.voters |= self.sources.rating.interval.reads_voters();
                asked = Some(name);
            }
        }
        let Some(name) = asked else { return Ok(()) };
        if self.log.as_ref().is_some_and(|(known, _)| *known == wanted) {
            return Ok(());
        }
        let reading = LogQuery { columns: wanted, range: self.votes(), concurrency: MAX_CONCURRENT_READS };
        let last_seq = AtomicI64::new(0);
        let log = read_log(self.store(name)?, reading, |_, last| last_seq.store(last, Ordering::Relaxed)).await?;
        self.used.votes =
            Some(VotesUsed { rated: log.len(), excluded: log.excluded.clone(), last_seq: last_seq.into_inner() });
        self.log = Some((wanted, Arc::new(log)));
        Ok(())
    }

    fn votes(&self) -> VoteRange {
        VoteRange { upto: self.last_vote, ..VoteRange::ALL }
    }

    fn store(&self, name: &SeriesName) -> Result<&'s Store, ReadSeriesError> {
        self.sources.store.ok_or_else(|| ReadSeriesError::NoStore(name.to_string()))
    }
}

/// Votes of a slice.
struct SlicedLog {
    log: Arc<VoteLog>,
    slice: Slice,
    /// Name that seeds the bootstrap.
    source: String,
}
