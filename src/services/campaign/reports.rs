//! Reads a campaign's judgements and reports them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::domain::battle::Outcome;
use crate::domain::campaign::assignment::AssignmentKind;
use crate::domain::campaign::judged_rows::{JudgedRow, JudgedRowParser, position};
use crate::domain::campaign::plan::{CampaignPlan, Task};
use crate::domain::campaign::report::{
    CampaignFacts, CampaignReport, JudgedUnit, LeftOutAnnotator, question_scores, report, scores_by_model,
    unit_verdict_log, vote_log,
};
use crate::domain::correlation::series_name::CampaignPart;
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::vote_log::VoteLog;
use crate::infra::single_flight::FlightError;
use crate::infra::storage::{AnnotatorExclusion, AnnotatorJudgements, CampaignRow, Store, StoreError};

/// Maximum number of annotators read concurrently.
const MAX_CONCURRENT_READS: usize = 4;

/// Error of reporting a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignReportError {
    /// Stored data of the campaign cannot be parsed.
    #[error("the campaign {campaign:?} cannot be read: {source}")]
    Unreadable {
        /// Id of the campaign.
        campaign: String,
        /// Parse error.
        source: serde_json::Error,
    },
    /// No campaign has this id.
    #[error("there is no campaign {0:?}: `langya campaign list` shows them")]
    Unknown(String),
    /// The campaign has no scale question with this id about answers.
    #[error(
        "the campaign {campaign:?} has no question {question:?} with kind = \"scale\" and about = \"answer\": only such questions are \
         series"
    )]
    UnknownQuestion {
        /// Id of the campaign.
        campaign: String,
        /// The question.
        question: String,
    },
    /// The judge has no verdicts on units judged by people.
    #[error(
        "{judge:?} has judged nothing of the campaign {campaign:?} that people have judged: `langya judge run --campaign {campaign} --judge \
         {judge}` asks it"
    )]
    NoVerdicts {
        /// Id of the campaign.
        campaign: String,
        /// Id of the judge.
        judge: String,
    },
    /// The computing thread panicked.
    #[error("the thread that computes the report ended early")]
    Thread,
    /// The comparisons cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
}

impl CampaignReportError {
    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            _ => false,
        }
    }

    /// Whether the wait for other reports timed out.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Shared(FlightError::Busy))
    }
}

/// Computes the current report of a campaign.
///
/// # Errors
/// [`CampaignReportError`].
pub async fn campaign_report(
    store: &Store,
    campaign: &CampaignRow,
    options: &LeaderboardOptions,
) -> Result<CampaignReport, CampaignReportError> {
    let unreadable = |source| CampaignReportError::Unreadable { campaign: campaign.id.clone(), source };
    let plan: CampaignPlan = serde_json::from_str(&campaign.plan).map_err(unreadable)?;
    let judged = judged_units(store, &campaign.id).await?;
    let gold = store.campaign_gold(&campaign.id).await?;
    let known = |(unit, outcome): (i64, String)| Some((position(unit), Outcome::parse(&outcome).ok()?));
    let gold: BTreeMap<u32, Outcome> = gold.into_iter().filter_map(known).collect();
    let exclusions = store.annotator_exclusions(&campaign.id).await?;
    let facts = CampaignFacts {
        id: campaign.id.clone(),
        task: plan.task,
        judgements_per_item: plan.judgements_per_item,
        until: plan.until,
        ended: campaign.ended,
        questions: plan.questions,
        units: position(campaign.units),
        gold,
        left_out: exclusions.into_iter().filter_map(left_out).collect(),
        verdicts: store.campaign_verdicts(&campaign.id).await?,
        seed: plan.seed,
    };
    let options = options.clone();
    let report = tokio::task::spawn_blocking(move || report(&facts, judged, &options)).await;
    Ok(report.map_err(|_| CampaignReportError::Thread)??)
}

/// Data of a campaign's series.
pub enum CampaignSeries {
    /// Comparisons, to be fitted like votes.
    Votes(Arc<VoteLog>),
    /// Mean scores of items, by model.
    Scores(BTreeMap<String, Vec<f64>>),
}

/// Reads the judgements of a campaign, the answers to one of its questions, or a judge's verdicts on the same units, for a series; without
/// repetitions and excluded annotators.
///
/// # Errors
/// [`CampaignReportError`].
pub async fn campaign_series(
    store: &Store,
    id: &str,
    part: &CampaignPart,
) -> Result<CampaignSeries, CampaignReportError> {
    let campaign = store.campaign(id).await?.ok_or_else(|| CampaignReportError::Unknown(id.to_owned()))?;
    let unreadable = |source| CampaignReportError::Unreadable { campaign: id.to_owned(), source };
    let plan: CampaignPlan = serde_json::from_str(&campaign.plan).map_err(unreadable)?;
    let question = match part {
        CampaignPart::Question(question) => Some(plan.model_scale(question).ok_or_else(|| {
            CampaignReportError::UnknownQuestion { campaign: plan.id.clone(), question: question.clone() }
        })?),
        CampaignPart::Task | CampaignPart::Judge(_) => None,
    };
    let judged = counted_units(store, id).await?;
    let judged: Vec<&JudgedUnit> = judged.iter().collect();
    if let CampaignPart::Judge(judge) = part {
        let log = unit_verdict_log(&store.campaign_verdicts(id).await?, judge, &judged);
        let none = || CampaignReportError::NoVerdicts { campaign: id.to_owned(), judge: judge.clone() };
        return log.map(|log| CampaignSeries::Votes(Arc::new(log))).ok_or_else(none);
    }
    Ok(match (question, plan.task) {
        (Some(question), _) => CampaignSeries::Scores(question_scores(question, &judged)),
        (None, Task::Score) => CampaignSeries::Scores(scores_by_model(&judged)),
        (None, Task::Pairwise | Task::Rank) => CampaignSeries::Votes(Arc::new(vote_log(&judged))),
    })
}

/// Reads the judgements that count for ratings: without repetitions and excluded annotators.
pub(super) async fn counted_units(store: &Store, id: &str) -> Result<Vec<JudgedUnit>, CampaignReportError> {
    let mut judged = judged_units(store, id).await?;
    let exclusions = store.annotator_exclusions(id).await?;
    let left_out: BTreeSet<String> = exclusions.into_iter().filter_map(left_out).map(|left| left.annotator).collect();
    judged.retain(|unit| unit.kind != AssignmentKind::Repeat && !left_out.contains(&*unit.annotator));
    Ok(judged)
}

fn left_out(exclusion: AnnotatorExclusion) -> Option<LeftOutAnnotator> {
    let AnnotatorExclusion { annotator, reason, excluded_by: by, excluded_at: at, withdrawn_at, .. } = exclusion;
    withdrawn_at.is_none().then_some(LeftOutAnnotator { annotator, reason, by, at, judgements: 0 })
}

/// Reads all judgements of a campaign that were not undone, in order of time.
async fn judged_units(store: &Store, campaign: &str) -> Result<Vec<JudgedUnit>, CampaignReportError> {
    let annotators = store.annotators_with_judgements(campaign).await?;
    let read = stream::iter(annotators).map(|annotator| judged_by(store, campaign, annotator));
    let parts: Vec<Vec<(i64, JudgedUnit)>> = read.buffered(MAX_CONCURRENT_READS).try_collect().await?;
    let mut judged: Vec<(i64, JudgedUnit)> = parts.into_iter().flatten().collect();
    judged.sort_by_key(|(judged_at, _)| *judged_at);
    Ok(judged.into_iter().map(|(_, unit)| unit).collect())
}

/// Reads the judgements of an annotator with their times.
async fn judged_by(
    store: &Store,
    campaign: &str,
    annotator: String,
) -> Result<Vec<(i64, JudgedUnit)>, CampaignReportError> {
    let judgements = store.judgements_of(&annotator).await?;
    let units = tokio::task::spawn_blocking(move || parsed(&judgements)).await;
    units.map_err(|_| CampaignReportError::Thread)?.map_err(|error| match error {
        UnreadableJudgement::Json(source) => CampaignReportError::Unreadable { campaign: campaign.to_owned(), source },
        UnreadableJudgement::Store(error) => error.into(),
    })
}

/// Error of parsing a judgement.
enum UnreadableJudgement {
    Json(serde_json::Error),
    Store(StoreError),
}

/// Parses the judgements of an annotator, each with its time.
fn parsed(judgements: &AnnotatorJudgements) -> Result<Vec<(i64, JudgedUnit)>, UnreadableJudgement> {
    let mut parser = JudgedRowParser::new(&judgements.annotator);
    let unit = |row: Result<JudgedRow<'_>, StoreError>| {
        let row = row.map_err(UnreadableJudgement::Store)?;
        parser.parse(row).map(|unit| (row.judged_at, unit)).map_err(UnreadableJudgement::Json)
    };
    judgements.rows().map(unit).collect()
}
