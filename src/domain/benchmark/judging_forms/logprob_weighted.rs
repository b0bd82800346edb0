//! Suite with expected scores over the token probabilities that judges return.

use super::super::delegate_to_suite::delegate_to_suite;
use super::super::item::{Answer, AnswerRequest, Item};
use super::super::scores::judgement::{JudgeStep, JudgeTask};
use super::super::scores::score::{Scores, Verdicts};
use super::super::suite_data_file::DataError;
use super::super::suite_options::{SuiteError, SuiteOptions};
use super::super::{JudgeMode, Scale, Suite};
use crate::judging::verdict::{Verdict, VerdictError};

/// Name of the ablation.
pub const LOGPROB_WEIGHTED: &str = "logprob_weighted";

/// Suite of scores that requests token probabilities of judges: see
/// [`expected_score`](crate::judging::token_probabilities::expected_score). Without them the written score is used.
pub struct LogprobWeighted {
    suite: Box<dyn Suite>,
    variant: String,
}

impl LogprobWeighted {
    /// Builds a suite with these options, which include this ablation. `build` creates it from the options without it.
    ///
    /// # Errors
    /// [`SuiteError`], also for a suite whose verdicts are not scores.
    pub fn build(
        options: &SuiteOptions,
        build: impl Fn(&SuiteOptions) -> Result<Box<dyn Suite>, SuiteError>,
    ) -> Result<Box<dyn Suite>, SuiteError> {
        if options.ablation.as_deref() != Some(LOGPROB_WEIGHTED) {
            return build(options);
        }
        let suite = build(&SuiteOptions { ablation: None, ..options.clone() })?;
        match suite.mode() {
            // Returns the error of an unknown ablation, which lists the existing ones.
            JudgeMode::PairwiseBaseline | JudgeMode::MultipleChoice => build(options),
            JudgeMode::PointwiseRefMultidim | JudgeMode::PointwiseRef | JudgeMode::PointwiseTurn => {
                Ok(Box::new(Self { suite, variant: options.variant() }))
            }
        }
    }
}

impl Suite for LogprobWeighted {
    delegate_to_suite!();

    fn variant(&self) -> &str {
        &self.variant
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        self.suite.asks(item, answers)
    }

    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask> {
        let mut tasks = self.suite.judgings(item, answers, baseline);
        for task in &mut tasks {
            if let JudgeStep::Ask(request) = &mut task.step {
                request.sampling.logprobs = true;
            }
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::suite_options::BUILT_IN_SUITES;
    use crate::benchmark::suites::registry::suite;

    #[test]
    fn suites_of_scores_ask_for_probabilities_and_say_so_in_their_variant() {
        let ablation = Some(LOGPROB_WEIGHTED.to_owned());
        let compat = ["urs.official_parser".to_owned()].into();
        let options = SuiteOptions { ablation, compat, ..SuiteOptions::default() };
        let weighted = suite("urs", &options).unwrap();
        assert_eq!(weighted.variant(), "logprob_weighted, urs.official_parser");
        let items = weighted.read(b"question,reference_ans,user_intent,language\nHow?,So.,Factual_QA,EN").unwrap();
        let answers = [Answer { turn: 1, text: "So.".to_owned() }];
        let asks_for_probabilities = |suite: &dyn Suite| match &suite.judgings(&items[0], &answers, &[])[0].step {
            JudgeStep::Ask(request) => request.sampling.logprobs,
            other => panic!("{other:?}"),
        };
        assert!(asks_for_probabilities(weighted.as_ref()));
        let plain = SuiteOptions { ablation: None, ..options };
        assert!(!asks_for_probabilities(suite("urs", &plain).unwrap().as_ref()));
    }

    #[test]
    fn only_suites_of_scores_have_the_ablation() {
        let options = SuiteOptions { ablation: Some(LOGPROB_WEIGHTED.to_owned()), ..SuiteOptions::default() };
        for name in BUILT_IN_SUITES {
            match suite(name, &options) {
                Ok(_) => assert!(!name.starts_with("superclue"), "{name}"),
                Err(SuiteError::UnknownAblation { known, .. }) => {
                    assert!(name.starts_with("superclue") && !known.contains(LOGPROB_WEIGHTED), "{name}: {known}");
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
}
