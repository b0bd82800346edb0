//! Report of a campaign: ratings, agreement, and work quality of annotators.

mod agreement;
mod annotators;
mod copying;
mod item_bootstrap;
mod judged;
mod judges;
mod pairs;
mod questions;
mod scores;
mod stopping_rule;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

pub use agreement::AgreementSummary;
pub use annotators::{AnnotatorFlag, AnnotatorSummary};
pub use item_bootstrap::{ItemInterval, RESAMPLES};
pub use judged::{CampaignFacts, JudgedUnit, LeftOutAnnotator, UnitVerdict};
pub use judges::{JudgeAgreement, unit_verdict_log};
pub use pairs::{AnnotatorPair, ModelPair};
pub use questions::{AnswerCounts, QuestionSummary, question_scores};
pub use scores::{ScoredModel, scores_by_model};
pub use stopping_rule::{are_separated, is_due, neighbours};

use super::assignment::AssignmentKind;
use super::ending::{CampaignEnding, EndCondition};
use super::judgement::UnitJudgement;
use super::plan::Task;
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::intervals::sequential_testing::NeighbourPair;
use crate::rating::leaderboards::leaderboard::RankedModel;
use crate::rating::leaderboards::ranking::rank_log;
use crate::rating::notes::{RatingNote, serialize_texts};
use crate::rating::options::LeaderboardOptions;
use crate::rating::votes::vote_log::{ColumnSet, VoteLog};

/// Report of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CampaignReport {
    /// Id of the campaign.
    pub campaign: String,
    /// Task of the annotators.
    pub task: Task,
    /// Number of valid judgements, including repetitions.
    pub judgements: u64,
    /// Number of repetitions; they count for self-consistency only.
    pub repeats: u64,
    /// Number of units with all their judgements.
    pub units_done: u64,
    /// Number of units.
    pub units: u64,
    /// Whether every unit has all its judgements, or the campaign ended.
    pub complete: bool,
    /// Reason and time of the end, if the campaign ended before each unit had its judgements.
    pub ended: Option<CampaignEnding>,
    /// Comparisons of neighbouring models that hold at any time, for a campaign that ends when they are separated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourPair>,
    /// Agreement between annotators.
    pub agreement: AgreementSummary,
    /// Models, best first.
    pub models: Vec<RankedModel>,
    /// Notes for reading the ratings correctly. In JSON, English texts.
    #[serde(serialize_with = "serialize_texts")]
    pub notes: Vec<RatingNote>,
    /// Number of items with a judgement.
    pub items: u64,
    /// Number of resamples of the items behind each interval over items.
    pub resamples: u32,
    /// Bounds of the ratings over resampled items; those of [`models`](Self::models) allow for annotators who judge alike.
    pub item_intervals: Vec<ItemInterval>,
    /// Mean scores by model, best first; only for the task `score`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<ScoredModel>,
    /// Outcomes between each two models, for comparisons of answers.
    pub pairs: Vec<ModelPair>,
    /// Answers to each question in addition to the task.
    pub questions: Vec<QuestionSummary>,
    /// Judge models on the same units, and their agreement with people.
    pub judges: Vec<JudgeAgreement>,
    /// Work quality of each annotator.
    pub annotators: Vec<AnnotatorSummary>,
    /// Agreement of each two annotators, in campaigns with up to 40 of them.
    pub annotator_pairs: Vec<AnnotatorPair>,
    /// Excluded annotators; no other field counts their judgements.
    pub left_out: Vec<LeftOutAnnotator>,
}

/// Builds the report of these judgements, without those of excluded annotators. Repetitions count for self-consistency only.
///
/// # Errors
/// [`FitError`] if the comparisons cannot be fitted.
pub fn report(
    facts: &CampaignFacts,
    judged: Vec<JudgedUnit>,
    options: &LeaderboardOptions,
) -> Result<CampaignReport, FitError> {
    let (judged, left_out) = without_left_out(facts, judged);
    let first: Vec<&JudgedUnit> = judged.iter().filter(|unit| unit.kind != AssignmentKind::Repeat).collect();
    let mut times: BTreeMap<u32, u32> = BTreeMap::new();
    for unit in &first {
        *times.entry(unit.unit).or_default() += 1;
    }
    let units_done = times.values().filter(|times| **times >= facts.judgements_per_item).count() as u64;
    let (models, mut notes, item_intervals) = if facts.task == Task::Score {
        (Vec::new(), Vec::new(), Vec::new())
    } else {
        let by_annotator = || rank_log(&vote_log(&first), options);
        let (ranked, by_item) =
            rayon::join(by_annotator, || item_bootstrap::item_intervals(&first, facts.seed, options));
        let ranked = ranked?;
        (ranked.models, ranked.notes, by_item?)
    };
    // The report has its own note for the case of no judgements.
    notes.retain(|note| *note != RatingNote::NoVotes);
    Ok(CampaignReport {
        campaign: facts.id.clone(),
        task: facts.task,
        judgements: judged.len() as u64,
        repeats: (judged.len() - first.len()) as u64,
        units_done,
        units: u64::from(facts.units),
        complete: units_done == u64::from(facts.units) || facts.ended.is_some(),
        ended: facts.ended,
        neighbours: match facts.until {
            Some(EndCondition::Separated) => neighbours(&first, facts.planned(), options.confidence)?,
            None => Vec::new(),
        },
        agreement: AgreementSummary::new(&first, facts),
        models,
        notes,
        items: item_bootstrap::count_items(&first),
        resamples: RESAMPLES,
        item_intervals,
        scores: if facts.task == Task::Score { scores::mean_scores(&first, options.confidence) } else { Vec::new() },
        questions: questions::summaries(&facts.questions, &first, options.confidence),
        pairs: pairs::model_pairs(&first),
        annotator_pairs: pairs::annotator_pairs(&judged::labels_by_unit(&judged), facts.seed, options.confidence),
        judges: judges::judge_agreements(&facts.verdicts, &first, facts.seed, options.confidence),
        annotators: annotators::summaries(facts, &judged),
        left_out,
    })
}

/// Separates the judgements that count from excluded annotators with their number of judgements.
fn without_left_out(facts: &CampaignFacts, mut judged: Vec<JudgedUnit>) -> (Vec<JudgedUnit>, Vec<LeftOutAnnotator>) {
    let mut left_out = facts.left_out.clone();
    for left in &mut left_out {
        left.judgements = judged.iter().filter(|unit| *unit.annotator == *left.annotator).count() as u64;
        judged.retain(|unit| *unit.annotator != *left.annotator);
    }
    (judged, left_out)
}

/// Converts comparisons into a vote log: a ranking is a vote for each of its pairs, and an annotator a voter.
#[must_use]
pub fn vote_log(judged: &[&JudgedUnit]) -> VoteLog {
    log_by(judged, |unit| Cow::Borrowed(&unit.annotator))
}

/// Converts comparisons into a vote log in which votes that are not independent have the same voter.
fn log_by(judged: &[&JudgedUnit], voter: impl Fn(&JudgedUnit) -> Cow<'_, str>) -> VoteLog {
    let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
    for unit in judged {
        for (a, b, outcome) in comparisons(unit) {
            let (a, b) = (log.models.position(&unit.shown[a]), log.models.position(&unit.shown[b]));
            log.a.push(a);
            log.b.push(b);
            log.outcomes.push(outcome);
            if let Some(voters) = &mut log.voters {
                voters.push(Some(&voter(unit)));
            }
        }
    }
    log
}

/// Returns the positions of each two shown answers, and the outcome between them.
fn comparisons(unit: &JudgedUnit) -> Vec<(usize, usize, Outcome)> {
    match &unit.judgement {
        UnitJudgement::Outcome(_) | UnitJudgement::Preference(_) => {
            unit.judgement.outcome().map(|outcome| (0, 1, outcome)).into_iter().collect()
        }
        UnitJudgement::Score(_) => Vec::new(),
        UnitJudgement::Ranking(places) => {
            let places: Vec<usize> = places.iter().map(|place| usize::from(*place)).collect();
            let pairs = (0..places.len()).flat_map(|at| (at + 1..places.len()).map(move |below| (at, below)));
            let vote = |(better, worse): (usize, usize)| {
                let (better, worse) = (places[better], places[worse]);
                if better < worse { (better, worse, Outcome::AWins) } else { (worse, better, Outcome::BWins) }
            };
            pairs.map(vote).collect()
        }
    }
}
