//! Scores of the same answers by people and by a judge.

use crate::agreement::agreement_input::Scored;
use crate::stats::distribution::mean;
use std::collections::BTreeMap;

/// Scores of each answer by rater; the last of several scores by one rater counts.
pub(super) struct Answers<'a>(pub(super) BTreeMap<AnswerKey<'a>, BTreeMap<&'a str, f64>>);

impl<'a> Answers<'a> {
    pub(super) fn new(scores: &'a [Scored]) -> Self {
        let mut answers: BTreeMap<AnswerKey, BTreeMap<&str, f64>> = BTreeMap::new();
        for Scored { question, model, rater, score } in scores {
            answers.entry((question, model)).or_default().insert(rater, *score);
        }
        Self(answers)
    }

    pub(super) fn mean(&self, key: AnswerKey) -> Option<f64> {
        let scores: Vec<f64> = self.0.get(&key)?.values().copied().collect();
        mean(&scores).ok()
    }

    pub(super) fn scores(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}

/// A question and the model that answered it.
pub(super) type AnswerKey<'a> = (&'a str, &'a str);
