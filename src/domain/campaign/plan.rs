//! Campaign file.

use serde::{Deserialize, Serialize};

use super::ending::EndCondition;
pub use super::id::is_id;
use super::questions::{self, CampaignQuestion, MAX_SCALE_POINTS, QuestionKind, Subject};
use super::rubric::CampaignRubric;

/// Maximum number of judgements per unit.
const MAX_JUDGEMENTS: u32 = 1_000;

/// Task of the annotators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Compare two answers: A, B, a tie, or both bad.
    Pairwise,
    /// Score one answer, as a whole number of the scale.
    Score,
    /// Rank up to five answers, best first.
    Rank,
}

impl Task {
    /// Returns the name in the file and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pairwise => "pairwise",
            Self::Score => "score",
            Self::Rank => "rank",
        }
    }
}

/// Error of a campaign file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The text is not a campaign file.
    #[error("{0}")]
    Syntax(String),
    /// A key has an invalid value.
    #[error("{key}: {reason}")]
    Value {
        /// Name of the key.
        key: &'static str,
        /// Description of the problem and of valid values.
        reason: String,
    },
}

/// Contents of a campaign file. Paths are relative to the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignPlan {
    /// Id of the campaign: lower-case letters, digits, `-` and `_`.
    pub id: String,
    /// Title that annotators read above every item.
    pub title: String,
    /// Task of the annotators.
    pub task: Task,
    /// File of the answers: `item`, `prompt` or `conversation`, `model`, `answer`, one row per answer. `bench:SUITE` takes the answers to a
    /// suite from the database, and `ask:FILE` asks models the prompts of a file: `item`, `prompt` or `conversation`.
    pub answers: String,
    /// Models whose answers to a suite are used, all by default; or those that are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Maximum cost of asking, in the currency of the models' prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Maximum number of requests to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// Instructions that annotators read before they begin.
    #[serde(default)]
    pub instructions: String,
    /// Number of annotators who judge each unit.
    #[serde(default = "default_judgements_per_item")]
    pub judgements_per_item: u32,
    /// Condition that ends the campaign before each unit has all its judgements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<EndCondition>,
    /// Maximum number of judgements by all annotators, including repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_judgements: Option<u64>,
    /// Share of an annotator's judgements that are repeated.
    #[serde(default)]
    pub repeat_share: f64,
    /// Share of the items that every annotator judges.
    #[serde(default)]
    pub overlap_share: f64,
    /// File of known outcomes: `item`, `model_a`, `model_b`, `outcome`. Every annotator judges these pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Lowest and highest score of the task `score`.
    #[serde(default = "one_to_ten")]
    pub scale: [u8; 2],
    /// Number of points of a preference between two answers, 5 or 7, from "A is much better" to "B is much better"; without it, the task
    /// `pairwise` has the four outcomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preference_scale: Option<u8>,
    /// Dimensions of the task `score` on which each answer is scored beside its overall score. They are among the questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<CampaignRubric>,
    /// Questions in addition to the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<CampaignQuestion>,
    /// Whether the reference answer is shown, if an item has one.
    #[serde(default)]
    pub show_reference: bool,
    /// Whether the judgements count as votes on the arena's leaderboard, with each annotator as a voter.
    #[serde(default)]
    pub rated: bool,
    /// Whether the report, without its annotators, is public once the campaign is closed.
    #[serde(default)]
    pub public: bool,
    /// Redirect address at the end, by which a recruitment platform recognises annotators who are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_url: Option<String>,
    /// Random seed of the campaign.
    #[serde(default)]
    pub seed: u64,
}

fn default_judgements_per_item() -> u32 {
    3
}

fn one_to_ten() -> [u8; 2] {
    [1, 10]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CampaignFile {
    campaign: CampaignPlan,
    /// `[[questions]]`, a table at the top level beside `[campaign]`.
    #[serde(default)]
    questions: Vec<CampaignQuestion>,
}

impl CampaignPlan {
    /// Parses and validates a campaign file.
    ///
    /// # Errors
    /// [`PlanError`] with the key and valid values.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let file: CampaignFile = toml::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))?;
        let mut plan = file.campaign;
        plan.questions.extend(file.questions);
        if let Some(rubric) = plan.rubric {
            plan.questions.splice(0..0, rubric.questions(plan.scale));
        }
        plan.check()?;
        Ok(plan)
    }

    /// Returns the suite whose answers are used from the database; `None` if they are in a file.
    #[must_use]
    pub fn suite(&self) -> Option<&str> {
        self.answers.strip_prefix("bench:")
    }

    /// Returns the file of prompts that models are asked; `None` if the answers exist.
    #[must_use]
    pub fn prompts(&self) -> Option<&str> {
        self.answers.strip_prefix("ask:")
    }

    /// Whether some questions apply to items of some categories only.
    #[must_use]
    pub fn asks_by_category(&self) -> bool {
        self.questions.iter().any(|question| !question.categories.is_empty())
    }

    fn check(&self) -> Result<(), PlanError> {
        let bad = |key, reason: &str| Err(PlanError::Value { key, reason: reason.to_owned() });
        let [lowest, highest] = self.scale;
        if !is_id(&self.id) {
            return bad("id", "write 1 to 64 lower-case letters, digits, - and _, beginning with a letter or digit");
        }
        if self.title.trim().is_empty() {
            return bad("title", "write what annotators read above every item");
        }
        if !(1..=MAX_JUDGEMENTS).contains(&self.judgements_per_item) {
            return bad("judgements_per_item", "write a number from 1 to 1000");
        }
        if !(0.0..=0.5).contains(&self.repeat_share) {
            return bad("repeat_share", "write a share from 0 to 0.5");
        }
        if !(0.0..=1.0).contains(&self.overlap_share) {
            return bad("overlap_share", "write a share from 0 to 1");
        }
        if lowest >= highest {
            return bad("scale", "write the lowest score and then a higher one, such as [1, 10]");
        }
        if self.gold.is_some() && self.task != Task::Pairwise {
            return bad("gold", "known answers are for the task \"pairwise\": leave it out");
        }
        if self.preference_scale.is_some_and(|points| self.task != Task::Pairwise || ![5, 7].contains(&points)) {
            return bad("preference_scale", "write 5 or 7 for the task \"pairwise\", or leave it out");
        }
        if self.rubric.is_some() && self.task != Task::Score {
            return bad("rubric", "its dimensions are scored: leave it out, or write task = \"score\"");
        }
        if self.rubric.is_some() && highest - lowest >= MAX_SCALE_POINTS {
            return bad("scale", "each dimension of a rubric has buttons for its scores: give 11 of them at most");
        }
        if let Err(reason) = questions::check(&self.questions) {
            return bad("questions", &reason);
        }
        self.check_asking()?;
        if self.until.is_some() && self.task == Task::Score {
            return bad("until", "the task \"score\" does not compare models: remove this key, or write another task");
        }
        if self.max_judgements == Some(0) {
            return bad("max_judgements", "write a number from 1, or leave it out");
        }
        if self.completion_url.as_deref().is_some_and(|url| !url.starts_with("https://")) {
            return bad("completion_url", "write an address that begins with https://");
        }
        if self.rated && self.task != Task::Pairwise {
            return bad("rated", "only votes for one of two answers move the arena's leaderboard: write false");
        }
        Ok(())
    }
}

impl CampaignPlan {
    /// Returns the question with this id, if it yields a number for each model.
    #[must_use]
    pub fn model_scale(&self, id: &str) -> Option<&CampaignQuestion> {
        let is_of_model = |question: &&CampaignQuestion| question.about == Subject::Answer || self.task == Task::Score;
        let found = self.questions.iter().find(|question| question.id == id && question.kind == QuestionKind::Scale);
        found.filter(is_of_model)
    }

    /// Checks the source of the answers and the budget of asking.
    fn check_asking(&self) -> Result<(), PlanError> {
        let bad = |key, reason: &str| Err(PlanError::Value { key, reason: reason.to_owned() });
        let asks = self.prompts().is_some();
        if !self.models.is_empty() && self.suite().is_none() && !asks {
            return bad(
                "models",
                "a file of answers names its own models: remove this key, or write answers = \"bench:SUITE\" or \"ask:FILE\"",
            );
        }
        if asks && self.models.is_empty() {
            return bad("models", "name the models to ask, such as [\"m1\", \"m2\"]");
        }
        if self.budget.is_some_and(|money| !asks || !money.is_finite() || money < 0.0) {
            return bad("budget", "write an amount from 0 beside answers = \"ask:FILE\", or leave it out");
        }
        if self.max_calls.is_some() && !asks {
            return bad("max_calls", "only answers = \"ask:FILE\" asks models: leave it out");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PILOT: &str = r#"
[campaign]
id = "pilot"
title = "Which answer helps more?"
task = "pairwise"
answers = "answers.jsonl"
judgements_per_item = 3
repeat_share = 0.1
gold = "gold.jsonl"
rated = false
seed = 1
"#;

    #[test]
    fn a_campaign_file_is_read_with_its_defaults() {
        let plan = CampaignPlan::parse(PILOT).unwrap();
        assert_eq!((plan.id.as_str(), plan.task, plan.judgements_per_item), ("pilot", Task::Pairwise, 3));
        assert_eq!((plan.scale, plan.overlap_share, plan.show_reference), ([1, 10], 0.0, false));
        assert!(CampaignPlan::parse(&PILOT.replace("rated = false", "rated = true")).unwrap().rated);
        let short = "[campaign]\nid = \"a\"\ntitle = \"t\"\ntask = \"score\"\nanswers = \"x.csv\"\n";
        assert_eq!(CampaignPlan::parse(short).unwrap().judgements_per_item, 3);
    }

    #[test]
    fn questions_stand_beside_the_campaign() {
        let asked = format!(
            "{PILOT}preference_scale = 7\n[[questions]]\nid = \"clear\"\ntext = \"Clear?\"\nkind = \"scale\"\n"
        );
        let plan = CampaignPlan::parse(&asked).unwrap();
        assert_eq!((plan.preference_scale, plan.questions[0].scale), (Some(7), [1, 5]));
        let stored = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<CampaignPlan>(&stored).unwrap(), plan);
    }

    #[test]
    fn only_a_scale_about_answers_gives_each_model_a_number() {
        let question = |id: &str, rest: &str| format!("[[questions]]\nid = \"{id}\"\ntext = \"?\"\n{rest}\n");
        let scale = "kind = \"scale\"";
        let questions = question("of-answers", &format!("{scale}\nabout = \"answer\""))
            + &question("of-all", scale)
            + &question("text", "kind = \"text\"\nabout = \"answer\"");
        let plan = CampaignPlan::parse(&format!("{PILOT}{questions}")).unwrap();
        let found = ["of-answers", "of-all", "text", "none"].map(|id| plan.model_scale(id).is_some());
        assert_eq!(found, [true, false, false, false]);
    }

    #[test]
    fn a_rubric_is_asked_before_the_questions_of_the_file() {
        let scored = "[campaign]\nid = \"a\"\ntitle = \"t\"\nanswers = \"x\"\ntask = \"score\"\n";
        let own = "[[questions]]\nid = \"why\"\ntext = \"Why?\"\nkind = \"text\"\n";
        let plan = CampaignPlan::parse(&format!("{scored}rubric = \"superclue\"\nscale = [1, 5]\n{own}")).unwrap();
        let ids: Vec<&str> = plan.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!((ids, plan.questions[0].scale), (vec!["targeted", "accurate", "comprehensive", "why"], [1, 5]));
        let stored = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<CampaignPlan>(&stored).unwrap(), plan, "it is not asked twice");
        for (keys, words) in [
            ("rubric = \"helpful\"\n".to_owned(), "expected `alignbench` or `superclue`"),
            ("rubric = \"superclue\"\nscale = [0, 100]\n".to_owned(), "scale: each dimension of a rubric"),
            (format!("rubric = \"superclue\"\n{}", own.replace("why", "accurate")), "an id of its own"),
        ] {
            let error = CampaignPlan::parse(&format!("{scored}{keys}")).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = CampaignPlan::parse(&PILOT.replace("seed = 1", "rubric = \"alignbench\"")).unwrap_err();
        assert!(error.to_string().starts_with("rubric: its dimensions are scored"), "{error}");
    }

    #[test]
    fn each_wrong_value_is_named_with_its_key() {
        for (from, to, key) in [
            ("id = \"pilot\"", "id = \"Pilot 1\"", "id"),
            ("id = \"pilot\"", "id = \"\"", "id"),
            ("title = \"Which answer helps more?\"", "title = \" \"", "title"),
            ("judgements_per_item = 3", "judgements_per_item = 0", "judgements_per_item"),
            ("repeat_share = 0.1", "repeat_share = nan", "repeat_share"),
            ("repeat_share = 0.1", "repeat_share = 0.9", "repeat_share"),
            ("seed = 1", "scale = [5, 5]", "scale"),
            ("\"pairwise\"", "\"score\"", "gold"),
            ("seed = 1", "preference_scale = 6", "preference_scale"),
            ("seed = 1", "models = [\"m1\"]", "models"),
            ("\"answers.jsonl\"", "\"ask:prompts.jsonl\"", "models"),
            ("\"answers.jsonl\"", "\"ask:prompts.jsonl\"\nmodels = [\"m1\"]\nbudget = nan", "budget"),
            ("seed = 1", "budget = 1.0", "budget"),
            ("seed = 1", "max_calls = 5", "max_calls"),
            ("seed = 1", "max_judgements = 0", "max_judgements"),
            ("seed = 1", "completion_url = \"javascript:alert(1)\"", "completion_url"),
            ("seed = 1", "[[questions]]\nid = \"fair\"\ntext = \"Fair?\"\nkind = \"choice\"", "questions"),
        ] {
            let error = CampaignPlan::parse(&PILOT.replace(from, to)).unwrap_err();
            assert!(matches!(&error, PlanError::Value { key: found, .. } if *found == key), "{to}: {error}");
        }
        let scored = PILOT.replace("gold = \"gold.jsonl\"\n", "").replace("\"pairwise\"", "\"score\"");
        let error = CampaignPlan::parse(&scored.replace("rated = false", "rated = true")).unwrap_err();
        assert!(error.to_string().starts_with("rated: only votes for one of two answers"), "{error}");
        for (from, to, word) in [("seed", "sead", "sead"), ("\"pairwise\"", "\"pairs\"", "pairs"), ("title", "x", "x")]
        {
            let error = CampaignPlan::parse(&PILOT.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
