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
use crate::domain::rating::vote_log::VoteLog;
use crate::infra::single_flight::FlightError;
use crate::infra::storage::{AnnotatorExclusion, AnnotatorJudgements, CampaignRow, Store, StoreError};

/// Annotators whose judgements are read at once.
const AT_ONCE: usize = 4;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum CampaignReportError {
    /// What is stored of the campaign cannot be read.
    #[error("the campaign {campaign:?} cannot be read: {source}")]
    Unreadable {
        /// The campaign.
        campaign: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// There is none of this id.
    #[error("there is no campaign {0:?}: `langya campaign list` shows them")]
    Unknown(String),
    /// It has no question of this id that gives each model a number.
    #[error(
        "the campaign {campaign:?} has no question {question:?} with kind = \"scale\" and about = \"answer\": only such questions are \
         series"
    )]
    UnknownQuestion {
        /// The campaign.
        campaign: String,
        /// The question.
        question: String,
    },
    /// The judge has judged nothing of it.
    #[error(
        "{judge:?} has judged nothing of the campaign {campaign:?} that people have judged: `langya judge run --campaign {campaign} --judge \
         {judge}` asks it"
    )]
    NoVerdicts {
        /// The campaign.
        campaign: String,
        /// The judge.
        judge: String,
    },
    /// The thread died that worked on it.
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
    /// Whether the database has an outage, which is in the log already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            _ => false,
        }
    }

    /// Whether other reports take too long.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Shared(FlightError::Busy))
    }
}

/// The report of a campaign as it stands now.
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

/// What a campaign says of each model, as a series reads it.
pub enum CampaignSeries {
    /// Comparisons, to be fitted like votes.
    Votes(Arc<VoteLog>),
    /// Means of each model's items.
    Scores(BTreeMap<String, Vec<f64>>),
}

/// The judgements of a campaign, the answers to one of its questions, or a judge's verdicts on what people judged, as a series reads
/// them, without repetitions and without annotators who are left out.
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

/// The judgements that count for ratings: no repetitions, and none of annotators who are left out.
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

/// All judgements of a campaign that stand, in the order in which they were made.
async fn judged_units(store: &Store, campaign: &str) -> Result<Vec<JudgedUnit>, CampaignReportError> {
    let annotators = store.annotators_with_judgements(campaign).await?;
    let read = stream::iter(annotators).map(|annotator| judged_by(store, campaign, annotator));
    let parts: Vec<Vec<(i64, JudgedUnit)>> = read.buffered(AT_ONCE).try_collect().await?;
    let mut judged: Vec<(i64, JudgedUnit)> = parts.into_iter().flatten().collect();
    judged.sort_by_key(|(judged_at, _)| *judged_at);
    Ok(judged.into_iter().map(|(_, unit)| unit).collect())
}

/// The judgements of an annotator with their times.
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

/// Why a judgement cannot be read.
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
