//! Judge-based benchmarks: items, requests to models and judges, and scores.
//!
//! Pure. One file per suite, each behind [`Suite`]; [`item`] defines questions, [`judgement`](scores::judgement) the record of a
//! judgement, [`score`](scores::score) the shared aggregation, [`panel_scores`](scores::panel_scores) the scores of all models by all
//! judges, and [`table_layout`] their tables. [`analysis`] examines the judges, [`published`] has the papers' published results,
//! [`paper_claims`] recomputes the papers' claims, [`cross_validation`](judging_forms::cross_validation) uses a model's answers as
//! references, and [`logprob_weighted`](judging_forms::logprob_weighted) a judge's expected scores. Prompts are in `prompts/`, in the
//! format of [`prompt_file`](crate::judging::prompt_file). [`suite_options`] selects a suite by name, [`record`] has the stored suites
//! and runs, [`plan_progress`] the progress of a plan of runs and [`plan_end`](runs::plan_end) its end.

pub mod analysis;
mod delegate_to_suite;
pub mod item;
pub mod judging_forms;
pub mod paper_claims;
pub mod plan_progress;
pub mod published;
pub mod record;
pub mod runs;
pub mod scores;
pub mod suite_data_file;
pub mod suite_id;
pub mod suite_options;
pub mod suite_summary;
pub mod suites;
pub mod table_layout;

pub use crate::benchmark::suites::registry::{custom_suite, suite, suite_of};
use item::{Answer, AnswerRequest, Item};
use scores::judgement::{JudgeTask, Judgement};
use scores::score::{Scores, Verdicts};
use suite_data_file::DataError;
pub use suite_options::{SuiteError, SuiteOptions};

use crate::judging::verdict::{Verdict, VerdictError};
use crate::sha256::sha256;

/// Method of judging answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeMode {
    /// A judge compares the answer with a baseline model's, in two games with swapped sides.
    PairwiseBaseline,
    /// A judge scores several dimensions and the whole answer, with a reference.
    PointwiseRefMultidim,
    /// A judge gives one score, with a reference.
    PointwiseRef,
    /// A judge scores each turn of a dialogue.
    PointwiseTurn,
    /// The answer's letter is parsed without a judge.
    MultipleChoice,
}

impl JudgeMode {
    /// Whether every judgement uses a reference.
    #[must_use]
    pub fn has_references(self) -> bool {
        matches!(self, Self::PointwiseRef | Self::PointwiseRefMultidim)
    }
}

/// Unit of a suite's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 1 to 10.
    OneToTen,
    /// 0 to 100.
    Percent,
}

/// Benchmark suite with its options.
pub trait Suite: Send + Sync {
    /// Returns the name on the command line and in the database.
    fn name(&self) -> &str;

    /// Returns the display name.
    fn title(&self) -> &str;

    /// Returns the method of judging.
    fn mode(&self) -> JudgeMode;

    /// Returns the unit of the scores.
    fn scale(&self) -> Scale {
        match self.mode() {
            JudgeMode::PairwiseBaseline | JudgeMode::MultipleChoice => Scale::Percent,
            _ => Scale::OneToTen,
        }
    }

    /// Returns the differences from the plain suite: ablation, custom prompt, compat switches. Empty for the plain one. Runs with different
    /// variants must not be mixed.
    fn variant(&self) -> &str;

    /// Returns the display name of a category.
    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        category
    }

    /// Parses the suite's data file.
    ///
    /// # Errors
    /// [`DataError`] for the first problem.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError>;

    /// Returns the questions that a model can be asked now, given its answers so far; answered turns are left out. Empty once there are no
    /// more questions.
    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest>;

    /// Returns the judgements that a model's answers allow, in order of turn and game. `baseline` has the baseline model's answers to the
    /// item, for [`JudgeMode::PairwiseBaseline`].
    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask>;

    /// Parses a judge's reply about the item.
    ///
    /// # Errors
    /// [`VerdictError`] if the reply is not a verdict.
    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError>;

    /// Returns a one-line reminder of the reply format, for another attempt at temperature 0.
    fn reminder(&self, item: &Item) -> String;

    /// Computes the score of one item, in the unit of the scores; `None` if a required judgement is missing.
    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64>;

    /// Computes the scores of one model by one judge over these items. Items without a judgement count as missing.
    fn score(&self, items: &[Item], judgements: &[&Judgement]) -> Scores {
        self.score_verdicts(items, &Verdicts::new(judgements.iter().copied()))
    }

    /// Computes the scores from indexed verdicts, and over each replicate if these are resampled.
    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores;
}

/// Parsed data file of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteData {
    /// SHA-256 of the file: the version of the suite.
    pub sha256: String,
    /// Items in the file's order.
    pub items: Vec<Item>,
}

impl SuiteData {
    /// Parses a suite's data file.
    ///
    /// # Errors
    /// [`DataError`] for the first problem.
    pub fn read(suite: &dyn Suite, bytes: &[u8]) -> Result<Self, DataError> {
        Ok(Self { sha256: sha256(bytes), items: suite.read(bytes)? })
    }
}
