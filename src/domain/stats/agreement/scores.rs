//! Agreement of a judge's scores with people's scores of the same answers (AlignBench, section 3.3).

use crate::domain::rating::real_len;
use crate::domain::stats::correlation::{Coefficient, Correlation, pearson_r};
use crate::domain::stats::distribution::mean;
use crate::domain::stats::ranks::by_size;
use crate::domain::stats::{Share, Undefined};

/// Both scores of the answers to one question, one pair a model in the order of the models; `None` for an answer that
/// lacks one of them.
pub type ScoredQuestion = Vec<Option<Scores>>;

/// What an answer was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// By people.
    pub human: f64,
    /// By the judge.
    pub judge: f64,
}

/// Pearson's r over the models, question by question.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleLevel {
    /// One a question.
    pub questions: Vec<Result<f64, Undefined>>,
    /// For how many questions it exists.
    pub defined: usize,
    /// The mean over these.
    pub mean: Result<f64, Undefined>,
}

/// What a judge's tie counts between two answers that people did not score alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeTies {
    /// A disagreement.
    #[default]
    Disagree,
    /// Nothing: the pair is left out.
    Drop,
}

/// Sample-level agreement: the mean over questions of Pearson's r over models. A question has none where fewer than
/// three models have both scores, or one side scored all alike.
#[must_use]
pub fn sample_level(questions: &[ScoredQuestion]) -> SampleLevel {
    let by_question: Vec<Result<f64, Undefined>> = questions.iter().map(correlation).collect();
    let defined: Vec<f64> = by_question.iter().copied().filter_map(Result::ok).collect();
    SampleLevel { defined: defined.len(), mean: mean(&defined), questions: by_question }
}

fn correlation(question: &ScoredQuestion) -> Result<f64, Undefined> {
    let scored: Vec<Scores> = question.iter().copied().flatten().collect();
    let human: Vec<f64> = scored.iter().map(|scores| scores.human).collect();
    let judge: Vec<f64> = scored.iter().map(|scores| scores.judge).collect();
    pearson_r(&human, &judge)
}

/// System-level agreement: the correlation over models of their mean scores. A mean is taken over the questions in
/// which the model has both scores; a model without any is left out.
///
/// # Errors
/// [`Undefined`] as for the correlation.
pub fn system_level(questions: &[ScoredQuestion], coefficient: Coefficient) -> Result<Correlation, Undefined> {
    let models = questions.iter().map(Vec::len).max().unwrap_or(0);
    let of_model = |model: usize| -> Vec<Scores> {
        questions.iter().filter_map(|question| question.get(model).copied().flatten()).collect()
    };
    let scored: Vec<Vec<Scores>> = (0..models).map(of_model).filter(|scores| !scores.is_empty()).collect();
    let means = |score: fn(&Scores) -> f64| -> Vec<f64> {
        scored.iter().map(|scores| scores.iter().map(score).sum::<f64>() / real_len(scores.len())).collect()
    };
    coefficient.of(&means(|scores| scores.human), &means(|scores| scores.judge))
}

/// Pairwise agreement without human ties: of all pairs of answers to one question that people scored differently, the
/// share that the judge put into the same order.
#[must_use]
pub fn pairwise(questions: &[ScoredQuestion], ties: JudgeTies) -> Share {
    let mut share = Share::default();
    for question in questions {
        let scored: Vec<Scores> = question.iter().copied().flatten().collect();
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
