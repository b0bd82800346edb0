//! Scores of the same answers by people and by a judge.

use super::answers::{AnswerKey, Answers};
use super::calibration::{CalibrationOptions, CalibrationReport, calibrate};
use std::collections::BTreeSet;

use serde::Serialize;

use super::labels::{Bins, LabelsSection, by_label};
use crate::correlation::agreement::metrics::{MetricValue, ShareReport};
use crate::correlation::agreement::score_sheet::{ScoreSheet, shown};
use crate::correlation::report::CoefficientReport;
use crate::stats::agreement::scores::{
    AnswerScores, JudgeTies, SampleLevel, ScoredQuestion, pairwise, sample_level, system_level, without_rounding,
};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::Coefficient;
use crate::stats::resample::BootstrapOptions;

/// How far the scores of a judge agree with those of people. Where several people or judges scored an answer, their mean
/// counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoresReport {
    /// Questions with an answer that both scored.
    pub questions: usize,
    /// Answers that both scored.
    pub answers: usize,
    /// Answers that only one of them scored.
    pub unmatched: usize,
    /// Scores that a later one by the same individual of the same answer replaces.
    pub replaced: usize,
    /// The correlation over models of each question, and its mean.
    pub sample_level: SampleLevelReport,
    /// The correlation over models of their mean scores.
    pub system_level: SystemLevelReport,
    /// The order of every two answers to a question that people did not score alike.
    pub pairwise: PairwiseReport,
    /// The judge's scores, calibrated on people's.
    pub calibration: CalibrationReport,
    /// The scores as labels.
    pub labels: LabelsSection,
}

/// Pearson's r over the models, question by question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleLevelReport {
    /// The mean over the questions that have one.
    pub pearson: MetricValue,
    /// How many have one.
    pub defined: usize,
    /// Of how many.
    pub questions: usize,
    /// The r of each.
    pub by_question: Vec<QuestionReport>,
}

/// Pearson's r of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionReport {
    /// The question.
    pub question: String,
    /// Its r.
    #[serde(flatten)]
    pub pearson: MetricValue,
}

/// The correlations over models of their mean scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemLevelReport {
    /// The models.
    pub models: Vec<String>,
    /// Pearson's r.
    pub pearson: CoefficientReport,
    /// Spearman's ρ.
    pub spearman: CoefficientReport,
    /// Kendall's τ-b.
    pub kendall: CoefficientReport,
}

/// Pairs of answers that people did not score alike, by what a judge's tie counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairwiseReport {
    /// A disagreement.
    pub judge_ties_disagree: ShareReport,
    /// Nothing.
    pub judge_ties_dropped: ShareReport,
}

/// Compares scores of the same questions and models.
#[must_use]
pub fn compare(
    people: &ScoreSheet,
    judge: &ScoreSheet,
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
