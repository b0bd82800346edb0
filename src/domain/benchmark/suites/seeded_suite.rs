//! Suite whose requests have a random seed, for models that support one.

use super::super::delegate_to_suite::delegate_to_suite;
use super::super::item::{Answer, AnswerRequest, Item};
use super::super::scores::judgement::{JudgeStep, JudgeTask};
use super::super::scores::score::{Scores, Verdicts};
use super::super::suite_data_file::DataError;
use super::super::{JudgeMode, Scale, Suite};
use crate::judging::verdict::{Verdict, VerdictError};

/// Suite that queries models and judges with a random seed. Requests with different seeds, or without one, are different questions.
pub struct Seeded {
    suite: Box<dyn Suite>,
    seed: u64,
}

impl Seeded {
    /// Creates the suite with the seed of a round: that of the first one plus one per further round, so that rounds differ.
    #[must_use]
    pub fn new(suite: Box<dyn Suite>, seed: u64, sample: u32) -> Self {
        Self { suite, seed: seed.wrapping_add(u64::from(sample.saturating_sub(1))) }
    }
}

impl Suite for Seeded {
    delegate_to_suite!();

    fn variant(&self) -> &str {
        self.suite.variant()
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        let mut asks = self.suite.asks(item, answers);
        asks.iter_mut().for_each(|ask| ask.sampling.seed = Some(self.seed));
        asks
    }

    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask> {
        let mut tasks = self.suite.judgings(item, answers, baseline);
        for task in &mut tasks {
            if let JudgeStep::Ask(request) = &mut task.step {
                request.sampling.seed = Some(self.seed);
            }
        }
        tasks
    }
}
