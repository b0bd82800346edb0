//! Judge-based benchmarks: items, requests to models and judges, and scores.
//!
//! Pure. One file per suite, each behind [`Suite`]; [`item`] is what is asked, [`judgement`] the record of what a judge
//! said, [`score`] what aggregations share, [`panel_scores`] all models by all judges and [`table_layout`] the tables that show
//! them. [`analysis`] looks at the judges, [`published`] holds the papers' published results, [`paper_claims`] computes again what they say
//! of them, [`cross_validation`] takes a model's answers for them, and [`logprob_weighted`] a judge's expected scores. Prompts are kept in `prompts/` in the
//! form of [`prompt_file`](crate::judging::prompt_file). [`suite_options`] says how a suite is asked for by name. [`record`] is what
//! is kept of suites and runs, [`plan_progress`] how far a plan of runs has come and [`plan_end`] how it ended.

pub mod alignbench;
pub mod analysis;
pub mod answer_index;
pub mod arena_votes;
pub mod batch_events;
pub mod canaries;
pub mod cross_validation;
pub mod custom;
mod delegate_to_suite;
pub mod evaluated_model;
pub mod item;
pub mod item_resampling;
pub mod judgement;
pub mod logprob_weighted;
pub mod mixed_settings;
pub mod mtbench101;
pub mod pairwise;
pub mod panel_scores;
pub mod paper_claims;
pub mod participants;
pub mod plan_end;
pub mod plan_progress;
pub mod published;
pub mod record;
pub mod registry;
pub mod run_comparison;
pub mod run_manifest;
pub mod run_plan;
pub mod run_report;
pub mod run_selector;
pub mod run_state;
pub mod score;
pub mod seeded_suite;
pub mod suite_data_file;
pub mod suite_id;
pub mod suite_options;
pub mod suite_summary;
pub mod superclue;
pub mod table_layout;
pub mod urs;

mod conversation;
mod letter_answers;
mod pointwise;

pub use crate::benchmark::registry::{custom_suite, suite, suite_of};
use item::{Answer, Ask, Item};
use judgement::{JudgeTask, Judgement};
use score::{Scores, Verdicts};
use suite_data_file::DataError;
pub use suite_options::{SuiteError, SuiteOptions};

use crate::judging::verdict::{Verdict, VerdictError};
use crate::sha256::sha256;

/// How answers become verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeMode {
    /// A judge compares the answer with a baseline model's, twice, with the sides swapped.
    PairwiseBaseline,
    /// A judge scores several dimensions and the whole, beside a reference.
    PointwiseRefMultidim,
    /// A judge gives one score, beside a reference.
    PointwiseRef,
    /// A judge scores each turn of a dialogue.
    PointwiseTurn,
    /// The letter of the answer is read; there is no judge.
    MultipleChoice,
}

impl JudgeMode {
    /// Whether every judgement is made beside a reference.
    #[must_use]
    pub fn has_references(self) -> bool {
        matches!(self, Self::PointwiseRef | Self::PointwiseRefMultidim)
    }
}

/// The unit of a suite's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 1 to 10.
    OneToTen,
    /// 0 to 100.
    Percent,
}

/// A benchmark, with the options that it was asked for with.
pub trait Suite: Send + Sync {
    /// Its name on the command line and in the database.
    fn name(&self) -> &str;

    /// Its name for people.
    fn title(&self) -> &str;

    /// How answers become verdicts.
    fn mode(&self) -> JudgeMode;

    /// The unit of its scores.
    fn scale(&self) -> Scale {
        match self.mode() {
            JudgeMode::PairwiseBaseline | JudgeMode::MultipleChoice => Scale::Percent,
            _ => Scale::OneToTen,
        }
    }

    /// What differs from the plain suite: the ablation, another prompt, the compat switches. Empty for the plain one.
    /// Runs with different variants are not to be mixed.
    fn variant(&self) -> &str;

    /// What a category is called for people.
    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        category
    }

    /// Reads the suite's data file.
    ///
    /// # Errors
    /// [`DataError`] for the first thing that is wrong with it.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError>;

    /// What a model may be asked now, given its answers so far: turns that it has answered are not among it. Empty once
    /// there is nothing more to ask.
    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<Ask>;

    /// The judgements that the answers of a model allow, in order of turn and game. `baseline` holds the baseline
    /// model's answers to the item, for [`JudgeMode::PairwiseBaseline`].
    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask>;

    /// Reads what a judge replied about the item.
    ///
    /// # Errors
    /// [`VerdictError`] where that is no verdict.
    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError>;

    /// One line about the form of the reply, for a further try at temperature 0.
    fn reminder(&self, item: &Item) -> String;

    /// What one item is worth by itself, in the unit of the scores; none where something that it needs was not judged.
    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64>;

    /// The scores of one model by one judge over these items. What has no judgement counts as missing.
    fn score(&self, items: &[Item], judgements: &[&Judgement]) -> Scores {
        self.score_verdicts(items, &Verdicts::new(judgements.iter().copied()))
    }

    /// The same of verdicts in order, and over each replicate where these resample the items.
    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores;
}

/// A suite's data as read: what a run is made over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteData {
    /// SHA-256 of the file: the version of the suite.
    pub sha256: String,
    /// Its items in the file's order.
    pub items: Vec<Item>,
}

impl SuiteData {
    /// Reads a suite's data file.
    ///
    /// # Errors
    /// [`DataError`] for the first thing that is wrong with it.
    pub fn read(suite: &dyn Suite, bytes: &[u8]) -> Result<Self, DataError> {
        Ok(Self { sha256: sha256(bytes), items: suite.read(bytes)? })
    }
}
