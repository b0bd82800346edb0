//! Valid judgements and their comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::battle::Outcome;
use crate::benchmark::scores::judgement::{Game, Status};
use crate::campaign::assignment::AssignmentKind;
use crate::campaign::ending::{CampaignEnding, EndCondition};
use crate::campaign::judgement::UnitJudgement;
use crate::campaign::plan::Task;
use crate::campaign::questions::{CampaignQuestion, QuestionAnswers};
use crate::judging::verdict::Preference;
use crate::time::Timestamp;

/// Family-wise error: the probability that a test flags anybody in a campaign whose annotators are all honest.
pub(super) const FAMILY_ERROR: f64 = 0.01;

/// Valid judgement of a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedUnit {
    /// Pseudonym of the annotator; shared between judgements.
    pub annotator: Arc<str>,
    /// Position of the unit in the campaign.
    pub unit: u32,
    /// Position of the unit's item.
    pub item: u32,
    /// Models in display order; shared between judgements.
    pub shown: Arc<[String]>,
    /// Kind of the assignment.
    pub kind: AssignmentKind,
    /// Judgement of the annotator.
    pub judgement: UnitJudgement,
    /// Answers to questions in addition to the task; judgements without questions share one value.
    pub answers: Arc<QuestionAnswers>,
    /// Seconds from display to judgement.
    pub seconds: f64,
}

/// Annotator whose judgements are excluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutAnnotator {
    /// Pseudonym of the annotator.
    pub annotator: String,
    /// Reason for the exclusion.
    pub reason: String,
    /// Name of the operator who excluded the annotator.
    pub by: String,
    /// Time of the exclusion, in milliseconds since 1970.
    pub at: i64,
    /// Number of excluded judgements.
    pub judgements: u64,
}

/// Data of a campaign other than its judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignFacts {
    /// Id of the campaign.
    pub id: String,
    /// Task of the annotators.
    pub task: Task,
    /// Number of judgements that each unit needs.
    pub judgements_per_item: u32,
    /// Additional condition for the end.
    pub until: Option<EndCondition>,
    /// End of the campaign, if it ended early.
    pub ended: Option<CampaignEnding>,
    /// Questions in addition to the task.
    pub questions: Vec<CampaignQuestion>,
    /// Number of units.
    pub units: u32,
    /// Known outcomes by unit, with the models in the order of their names.
    pub gold: BTreeMap<u32, Outcome>,
    /// Annotators whose judgements are excluded.
    pub left_out: Vec<LeftOutAnnotator>,
    /// Verdicts of judge models, as [`by_judge`](crate::battle_judging::verdicts::by_judge) expects them.
    pub verdicts: Vec<UnitVerdict>,
    /// Random seed of resampling.
    pub seed: u64,
}

impl CampaignFacts {
    /// Returns the planned number of judgements, without repetitions.
    #[must_use]
    pub fn planned(&self) -> u64 {
        u64::from(self.units) * u64::from(self.judgements_per_item)
    }
}

/// Judge's verdict on a unit, in one order of its answers.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitVerdict {
    /// Position of the unit.
    pub unit: u32,
    /// Models of the unit, in the order of their names.
    pub models: [String; 2],
    /// Id of the judge.
    pub judge: String,
    /// SHA-256 of the judge's instructions.
    pub prompt_sha256: String,
    /// Game: in the first the judge sees the answers in the order of the models' names, in the second reversed.
    pub game: Game,
    /// Status of the judgement.
    pub status: Status,
    /// Parsed preference, in the order that the judge saw.
    pub parsed: Option<Preference>,
    /// Time of the judgement.
    pub created_at: Timestamp,
}

/// Labels of first judgements by unit in chronological order, each with its annotator.
pub(super) type LabelsByUnit<'j> = BTreeMap<u32, Vec<(&'j str, JudgementLabel<'j>)>>;

/// Comparable form of a judgement, independent of the sides: equal for the same opinion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JudgementLabel<'j> {
    /// Outcome with the models in the order of their names.
    Outcome(&'static str),
    /// Preference with the models in the order of their names.
    Preference(i8),
    /// Score of the answer.
    Score(u8),
    /// Models, best first.
    Ranking(Vec<&'j str>),
}

/// Returns the labels of all first judgements.
pub(super) fn labels_by_unit(judged: &[JudgedUnit]) -> LabelsByUnit<'_> {
    let mut labels = LabelsByUnit::new();
    for unit in judged.iter().filter(|unit| unit.kind != AssignmentKind::Repeat) {
        labels.entry(unit.unit).or_default().push((&unit.annotator, label(unit)));
    }
    labels
}

/// Converts an outcome to the order of the models' names.
pub(super) fn by_name(outcome: Outcome, shown: &[String]) -> Outcome {
    if shown[0] > shown[1] { outcome.swapped() } else { outcome }
}

/// Converts a preference to the order of the models' names.
pub(super) fn preference_by_name(preference: i8, shown: &[String]) -> i8 {
    if shown[0] > shown[1] { -preference } else { preference }
}

/// Returns the label of a judgement.
pub(super) fn label(unit: &JudgedUnit) -> JudgementLabel<'_> {
    match &unit.judgement {
        UnitJudgement::Outcome(outcome) => JudgementLabel::Outcome(by_name(*outcome, &unit.shown).as_str()),
        UnitJudgement::Preference(preference) => {
            JudgementLabel::Preference(preference_by_name(*preference, &unit.shown))
        }
        UnitJudgement::Score(score) => JudgementLabel::Score(*score),
        UnitJudgement::Ranking(places) => {
            JudgementLabel::Ranking(places.iter().map(|place| unit.shown[usize::from(*place)].as_str()).collect())
        }
    }
}
