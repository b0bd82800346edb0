//! Judgements that stand, and how two of them are compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::battle::Outcome;
use crate::benchmark::judgement::{Game, Status};
use crate::campaign::assignment::AssignmentKind;
use crate::campaign::ending::{CampaignEnding, EndCondition};
use crate::campaign::judgement::UnitJudgement;
use crate::campaign::plan::Task;
use crate::campaign::questions::{CampaignQuestion, QuestionAnswers};
use crate::judging::verdict::Preference;
use crate::time::Timestamp;

/// Probability that a test flags anybody of a campaign whose annotators are all honest.
pub(super) const FAMILY_ERROR: f64 = 0.01;

/// One judgement that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedUnit {
    /// Pseudonym of the annotator; judgements share it.
    pub annotator: Arc<str>,
    /// Position of the unit in the campaign.
    pub unit: u32,
    /// Position of its item.
    pub item: u32,
    /// The models in the order in which they were shown; judgements share them.
    pub shown: Arc<[String]>,
    /// Why it was shown.
    pub kind: AssignmentKind,
    /// What the annotator said.
    pub judgement: UnitJudgement,
    /// What the annotator answered to questions beside it; judgements without questions share it.
    pub answers: Arc<QuestionAnswers>,
    /// Seconds from being shown to being judged.
    pub seconds: f64,
}

/// An annotator whose judgements count no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutAnnotator {
    /// Pseudonym.
    pub annotator: String,
    /// Why.
    pub reason: String,
    /// Who decided it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Judgements that count no more.
    pub judgements: u64,
}

/// What is known about a campaign besides its judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignFacts {
    /// Its id.
    pub id: String,
    /// What was asked.
    pub task: Task,
    /// Judgements that each unit needs.
    pub judgements_per_item: u32,
    /// What it waits for besides.
    pub until: Option<EndCondition>,
    /// Why nobody is asked any more.
    pub ended: Option<CampaignEnding>,
    /// Its questions beside the task.
    pub questions: Vec<CampaignQuestion>,
    /// Its units.
    pub units: u32,
    /// Known outcomes by unit; the models in the order of their names.
    pub gold: BTreeMap<u32, Outcome>,
    /// Annotators whose judgements count no more.
    pub left_out: Vec<LeftOutAnnotator>,
    /// What judge models said, as [`by_judge`](crate::battle_judging::verdicts::by_judge) wants it.
    pub verdicts: Vec<UnitVerdict>,
    /// Seed of resampling.
    pub seed: u64,
}

impl CampaignFacts {
    /// Judgements that it was planned with, without repetitions.
    #[must_use]
    pub fn planned(&self) -> u64 {
        u64::from(self.units) * u64::from(self.judgements_per_item)
    }
}

/// What a judge said of a unit, in one order of its answers.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitVerdict {
    /// Position of the unit.
    pub unit: u32,
    /// Its models in the order of their names.
    pub models: [String; 2],
    /// The judge.
    pub judge: String,
    /// SHA-256 of the judge's instructions.
    pub prompt_sha256: String,
    /// In the first the judge sees the answers in the order of the models' names; in the second the other way round.
    pub game: Game,
    /// How it ended.
    pub status: Status,
    /// What was read, as the judge saw the answers.
    pub parsed: Option<Preference>,
    /// When it ended.
    pub created_at: Timestamp,
}

/// First judgements by unit, in the order in which they were made: who, and what they said.
pub(super) type LabelsByUnit<'j> = BTreeMap<u32, Vec<(&'j str, JudgementLabel<'j>)>>;

/// What two judgements of one unit are compared by: equal for the same opinion, whatever the sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JudgementLabel<'j> {
    /// An outcome, the models in the order of their names.
    Outcome(&'static str),
    /// A preference, the models in the order of their names.
    Preference(i8),
    /// A score.
    Score(u8),
    /// The models, the best first.
    Ranking(Vec<&'j str>),
}

/// The labels of all first judgements.
pub(super) fn labels_by_unit(judged: &[JudgedUnit]) -> LabelsByUnit<'_> {
    let mut labels = LabelsByUnit::new();
    for unit in judged.iter().filter(|unit| unit.kind != AssignmentKind::Repeat) {
        labels.entry(unit.unit).or_default().push((&unit.annotator, label(unit)));
    }
    labels
}

/// The outcome with the models in the order of their names.
pub(super) fn by_name(outcome: Outcome, shown: &[String]) -> Outcome {
    if shown[0] > shown[1] { outcome.swapped() } else { outcome }
}

/// The preference with the models in the order of their names.
pub(super) fn preference_by_name(preference: i8, shown: &[String]) -> i8 {
    if shown[0] > shown[1] { -preference } else { preference }
}

/// The label of a judgement.
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
