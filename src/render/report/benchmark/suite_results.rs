//! Computed results of a suite, the basis of its reports.

use std::collections::BTreeSet;

use super::findings::{ComparedJudgement, Findings, Lengths};
use super::{PublishedScore, Report, ReportInput, ScoreEntry};
use crate::domain::benchmark::analysis::item_scores::ItemPair;
use crate::domain::benchmark::analysis::self_preference_matrix::SelfPreferenceMatrix;
use crate::domain::benchmark::record::{AnswerRound, BenchSuiteRow, ScoredJudgement};
use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_manifest::ReportedRun;
use crate::domain::benchmark::runs::run_selector::RunSelector;
use crate::domain::benchmark::scores::panel_scores::{
    JudgementFilter, JudgementsByBaseline, judge_names, model_names, silent_judges,
};
use crate::domain::benchmark::{Suite, SuiteData};
use crate::domain::language::Language;

/// Results of a suite: items, scores and findings.
pub struct SuiteResults {
    /// Row of the data file.
    pub row: BenchSuiteRow,
    /// The suite with its options.
    pub suite: Box<dyn Suite>,
    /// Its items.
    pub data: SuiteData,
    /// Selector of the judgements.
    pub way: RunSelector,
    entries: Vec<ScoreEntry>,
    findings: Findings,
    silent_judges: Vec<String>,
}

/// Input of a suite's results.
pub struct ResultsInput {
    /// Row of the data file.
    pub row: BenchSuiteRow,
    /// The suite with its options.
    pub suite: Box<dyn Suite>,
    /// Its items.
    pub data: SuiteData,
    /// Selector of the judgements.
    pub way: RunSelector,
    /// Filter of the displayed models and judges.
    pub filter: JudgementFilter,
    /// The judgements of all models by all judges.
    pub judgements: Vec<ScoredJudgement>,
    /// Lengths of the answers.
    pub lengths: Lengths,
    /// The cross-validation.
    pub grid: SelfPreferenceMatrix,
}

/// Options of a report: judge and comparison model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportChoice {
    /// The judge; by default the panel, if there is one.
    pub judge: Option<String>,
    /// Model that the others are compared with; the best one by default.
    pub compare_with: Option<String>,
}

/// Data of a report besides the scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportSources {
    /// Published scores of the suite.
    pub published: Vec<PublishedScore>,
    /// Latest runs of the judgements.
    pub runs: Vec<ReportedRun>,
    /// Models and judges with scores from several settings.
    pub mixed_settings: Vec<MixedSettings>,
}

/// Error: the requested comparison model has no judgements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("suite {suite} has no judgements of {model:?} to compare with: name another model")]
pub struct NotCompared {
    /// The suite.
    pub suite: String,
    /// The model.
    pub model: String,
}

impl SuiteResults {
    /// Computes the results of the displayed models.
    #[must_use]
    pub fn new(input: ResultsInput) -> Self {
        let ResultsInput { row, suite, data, way, filter, mut judgements, lengths, grid } = input;
        // Every judged model counts as evaluated, displayed or not.
        let evaluated_models = owned_names(model_names(judgements.iter().map(|row| &row.judgement)));
        judgements.retain(|row| filter.matches(&row.judgement));
        let findings = Findings::new(&compared_judgements(&judgements), &lengths);
        let silent_judges = silent_judges(judgements.iter().map(|row| &row.judgement));
        let silent_judges: Vec<String> = silent_judges.into_iter().map(str::to_owned).collect();
        let judges = owned_names(judge_names(judgements.iter().map(|row| &row.judgement)));
        let mut by_baseline = JudgementsByBaseline::new();
        judgements.into_iter().for_each(|row| by_baseline.entry(row.baseline).or_default().push(row.judgement));
        let entries = ScoreEntry::all(suite.as_ref(), &data.items, &by_baseline, &evaluated_models);
        let findings = findings.with_scores(&entries, &judges).with_grid(grid);
        let findings = findings.with_items(suite.as_ref(), &data.items, &by_baseline, &entries);
        Self { row, suite, data, way, entries, findings, silent_judges }
    }

    /// Suite, version and round of answers.
    #[must_use]
    pub fn set(&self) -> AnswerRound {
        AnswerRound { suite: self.row.suite.clone(), version: self.row.version.clone(), sample: self.way.sample }
    }

    /// The models with judgements.
    #[must_use]
    pub fn judged_models(&self) -> Vec<&str> {
        self.findings.models().into_iter().collect()
    }

    /// Items with scores of both models, the largest difference first.
    #[must_use]
    pub fn item_pairs(&self, models: [&str; 2]) -> Vec<ItemPair> {
        self.findings.item_pairs(models)
    }

    /// Items on which judges disagree, the largest disagreement first.
    #[must_use]
    pub fn disputed_items(&self) -> Vec<&str> {
        self.findings.disputed_items()
    }

    /// Builds the requested report.
    ///
    /// # Errors
    /// [`NotCompared`] for a model without judgements.
    pub fn report(
        &self,
        choice: &ReportChoice,
        beside: &ReportSources,
        language: Language,
    ) -> Result<Report, NotCompared> {
        let row = &self.row;
        let compare_with = choice.compare_with.as_deref();
        if let Some(model) = compare_with.filter(|model| !self.findings.models().contains(model)) {
            return Err(NotCompared { suite: row.suite.to_string(), model: model.to_owned() });
        }
        let material = ReportInput {
            suite: self.suite.as_ref(),
            variant: &self.way.variant,
            version: &row.version,
            source: &row.source,
            items: row.items,
            sample: self.way.sample,
            entries: &self.entries,
            published: &beside.published,
            runs: &beside.runs,
            findings: &self.findings,
            silent_judges: &self.silent_judges,
            mixed_settings: &beside.mixed_settings,
            compare_with,
        };
        Ok(Report::new(material, choice.judge.as_deref(), language))
    }
}

fn owned_names(names: BTreeSet<&str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn compared_judgements(rows: &[ScoredJudgement]) -> Vec<ComparedJudgement<'_>> {
    rows.iter().map(|row| ComparedJudgement { judgement: &row.judgement, baseline: &row.baseline }).collect()
}
