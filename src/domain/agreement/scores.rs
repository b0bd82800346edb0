//! Agreement of scores of the same answers by people and by a judge.

use super::answers::{AnswerKey, Answers};
use super::calibration::{CalibrationOptions, CalibrationReport, calibrate};
use std::collections::BTreeSet;

use serde::Serialize;

use super::binned_scores::{Bins, LabelsSection, by_label};
use crate::agreement::agreement_input::{ScoreData, shown};
use crate::agreement::metrics::{MetricValue, ShareReport};
use crate::correlation::report::CoefficientReport;
use crate::stats::agreement::scores::{
    AnswerScores, JudgeTies, SampleLevel, ScoredQuestion, pairwise, sample_level, system_level, without_rounding,
};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::Coefficient;
use crate::stats::resample::BootstrapOptions;

/// Agreement of the scores of a judge with those of people. If several people or judges scored an answer, their mean counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoresReport {
    /// Number of questions with an answer that both scored.
    pub questions: usize,
    /// Number of answers that both scored.
    pub answers: usize,
    /// Number of answers that only one side scored.
    pub unmatched: usize,
    /// Number of scores replaced by a later one of the same rater for the same answer.
    pub replaced: usize,
    /// Correlation over the models of each question, and its mean.
    pub sample_level: SampleLevelReport,
    /// Correlation over the models' mean scores.
    pub system_level: SystemLevelReport,
    /// Agreement on the order of two answers to a question, for answers that people scored differently.
    pub pairwise: PairwiseReport,
    /// Calibration of the judge's scores on people's.
    pub calibration: CalibrationReport,
    /// Agreement of the scores as labels.
    pub labels: LabelsSection,
}

/// Pearson's r over the models, question by question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleLevelReport {
    /// Mean over the questions with a defined r.
    pub pearson: MetricValue,
    /// Number of questions with a defined r.
    pub defined: usize,
    /// Number of questions.
    pub questions: usize,
    /// Pearson's r by question.
    pub by_question: Vec<QuestionReport>,
}

/// Pearson's r of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionReport {
    /// Question with its turn.
    pub question: String,
    /// Pearson's r.
    #[serde(flatten)]
    pub pearson: MetricValue,
}

/// Correlations over the models' mean scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemLevelReport {
    /// Model ids.
    pub models: Vec<String>,
    /// Pearson's r.
    pub pearson: CoefficientReport,
    /// Spearman's ρ.
    pub spearman: CoefficientReport,
    /// Kendall's τ-b.
    pub kendall: CoefficientReport,
}

/// Agreement on pairs of answers that people scored differently, by treatment of the judge's ties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairwiseReport {
    /// Ties of the judge count as disagreement.
    pub judge_ties_disagree: ShareReport,
    /// Ties of the judge are left out.
    pub judge_ties_dropped: ShareReport,
}

/// Compares scores of the same questions and models.
#[must_use]
pub fn compare(
    people: &ScoreData,
    judge: &ScoreData,
    bins: Bins,
    calibration: CalibrationOptions,
    bootstrap: BootstrapOptions,
) -> ScoresReport {
    let (by_people, by_judge) = (Answers::new(&people.0), Answers::new(&judge.0));
    let both: Vec<AnswerKey> = by_people.0.keys().copied().filter(|key| by_judge.0.contains_key(key)).collect();
    let models: BTreeSet<&str> = both.iter().map(|(_, model)| *model).collect();
    let questions: BTreeSet<&str> = both.iter().map(|(question, _)| *question).collect();
    let scores = |question, model| {
        let (human, judge) = (by_people.mean((question, model))?, by_judge.mean((question, model))?);
        Some(AnswerScores { human: without_rounding(human), judge: without_rounding(judge) })
    };
    let scored: Vec<ScoredQuestion> =
        questions.iter().map(|question| models.iter().map(|model| scores(question, model)).collect()).collect();
    let kept = by_people.scores() + by_judge.scores();
    ScoresReport {
        questions: questions.len(),
        answers: both.len(),
        unmatched: by_people.0.len() + by_judge.0.len() - 2 * both.len(),
        replaced: people.0.len() + judge.0.len() - kept,
        sample_level: SampleLevelReport::new(sample_level(&scored), &questions),
        system_level: SystemLevelReport::new(&scored, &models),
        pairwise: PairwiseReport {
            judge_ties_disagree: pairwise(&scored, JudgeTies::Disagree).into(),
            judge_ties_dropped: pairwise(&scored, JudgeTies::Drop).into(),
        },
        calibration: calibrate(&scored, calibration),
        labels: by_label(&by_people, &by_judge, bins, bootstrap),
    }
}

impl SampleLevelReport {
    fn new(found: SampleLevel, questions: &BTreeSet<&str>) -> Self {
        let by_question = questions.iter().zip(found.questions);
        Self {
            pearson: found.mean.into(),
            defined: found.defined,
            questions: questions.len(),
            by_question: by_question
                .map(|(question, r)| QuestionReport { question: shown(question), pearson: r.into() })
                .collect(),
        }
    }
}

impl SystemLevelReport {
    fn new(scored: &[ScoredQuestion], models: &BTreeSet<&str>) -> Self {
        let of = |coefficient| CoefficientReport::new(system_level(scored, coefficient), ConfidenceLevel::default());
        Self {
            models: models.iter().map(|&model| model.to_owned()).collect(),
            pearson: of(Coefficient::Pearson),
            spearman: of(Coefficient::Spearman),
            kendall: of(Coefficient::Kendall),
        }
    }
}
