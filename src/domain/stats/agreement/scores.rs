//! Agreement of a judge's scores with people's scores of the same answers (AlignBench, section 3.3).

use crate::stats::correlation::{Coefficient, Correlation, pearson_r};
use crate::stats::distribution::mean;
use crate::stats::ranks::by_size;
use crate::stats::real_len;
use crate::stats::{Share, Undefined};

/// The scores of the answers to one question, by model; `None` for an answer that lacks a score.
pub type ScoredQuestion = Vec<Option<AnswerScores>>;

/// Rounds a mean score to 12 decimals, so that means that differ by floating-point error alone are equal.
#[must_use]
pub fn without_rounding(mean: f64) -> f64 {
    // Larger numbers have no decimals.
    if mean.abs() < 1e16 { (mean * 1e12).round() / 1e12 } else { mean }
}

/// The two scores of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerScores {
    /// Score by people.
    pub human: f64,
    /// Score by the judge.
    pub judge: f64,
}

/// Pearson's r over the models for each question.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleLevel {
    /// One correlation for each question.
    pub questions: Vec<Result<f64, Undefined>>,
    /// Number of questions with a correlation.
    pub defined: usize,
    /// Mean over these questions.
    pub mean: Result<f64, Undefined>,
}

/// Treatment of a judge's tie on two answers that people scored differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeTies {
    /// Counts as a disagreement.
    #[default]
    Disagree,
    /// Leaves the pair out.
    Drop,
}

/// Sample-level agreement: the mean over questions of Pearson's r over models. It is undefined for a question with
/// fewer than three models, or where one side gave equal scores to all.
#[must_use]
pub fn sample_level(questions: &[ScoredQuestion]) -> SampleLevel {
    let by_question: Vec<Result<f64, Undefined>> = questions.iter().map(correlation).collect();
    let defined: Vec<f64> = by_question.iter().copied().filter_map(Result::ok).collect();
    SampleLevel { defined: defined.len(), mean: mean(&defined), questions: by_question }
}

fn correlation(question: &ScoredQuestion) -> Result<f64, Undefined> {
    let scored: Vec<AnswerScores> = question.iter().copied().flatten().collect();
    let human: Vec<f64> = scored.iter().map(|scores| scores.human).collect();
    let judge: Vec<f64> = scored.iter().map(|scores| scores.judge).collect();
    pearson_r(&human, &judge)
}

/// System-level agreement: the correlation over models of their mean scores. Means are over the questions in which the
/// model has both scores; models without any are left out.
///
/// # Errors
/// [`Undefined`] as for the correlation.
pub fn system_level(questions: &[ScoredQuestion], coefficient: Coefficient) -> Result<Correlation, Undefined> {
    let models = questions.iter().map(Vec::len).max().unwrap_or(0);
    let of_model = |model: usize| -> Vec<AnswerScores> {
        questions.iter().filter_map(|question| question.get(model).copied().flatten()).collect()
    };
    let scored: Vec<Vec<AnswerScores>> = (0..models).map(of_model).filter(|scores| !scores.is_empty()).collect();
    let means = |score: fn(&AnswerScores) -> f64| -> Vec<f64> {
        scored
            .iter()
            .map(|scores| without_rounding(scores.iter().map(score).sum::<f64>() / real_len(scores.len())))
            .collect()
    };
    coefficient.correlate(&means(|scores| scores.human), &means(|scores| scores.judge))
}

/// Pairwise agreement without human ties: of all pairs of answers to one question that people scored differently, the
/// share that the judge put in the same order.
#[must_use]
pub fn pairwise(questions: &[ScoredQuestion], ties: JudgeTies) -> Share {
    let mut share = Share::default();
    for question in questions {
        let scored: Vec<AnswerScores> = question.iter().copied().flatten().collect();
        for (second, y) in scored.iter().enumerate() {
            for x in &scored[..second] {
                let (human, judge) = (by_size(&x.human, &y.human), by_size(&x.judge, &y.judge));
                if human.is_ne() && (judge.is_ne() || ties == JudgeTies::Disagree) {
                    share.count(human == judge);
                }
            }
        }
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_loses_the_rounding_of_its_sum_and_a_large_one_stays() {
        assert_eq!((without_rounding(0.1 + 0.2), without_rounding(1e308)), (0.3, 1e308));
    }
}
