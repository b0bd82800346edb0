//! Checks the participants of a run: which combinations are refused, and which are flagged.

use super::JudgeMode;

/// The models, judges and baseline of a run.
#[derive(Debug, Clone, Copy)]
pub struct Participants<'a> {
    /// Models under test.
    pub models: &'a [String],
    /// Judge models.
    pub judges: &'a [String],
    /// The model that the others are compared with.
    pub baseline: Option<&'a str>,
}

/// Why a run cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParticipantsError {
    /// The baseline is one of the models.
    #[error("model {0:?} is the baseline and cannot be compared with itself: leave it out of the models")]
    BaselineAgainstItself(String),
    /// A comparison without a baseline.
    #[error("this suite compares with a baseline model: name one with --baseline")]
    NoBaseline,
    /// Nobody judges.
    #[error("this suite needs a judge: name one or more with --judge")]
    NoJudge,
}

impl Participants<'_> {
    /// Checks who takes part, and returns the judges that judge their own answers: allowed, and to be flagged.
    ///
    /// # Errors
    /// [`ParticipantsError`] where the baseline would be compared with itself, or someone is missing.
    pub fn check(&self, mode: JudgeMode) -> Result<Vec<String>, ParticipantsError> {
        if mode == JudgeMode::MultipleChoice {
            return Ok(Vec::new());
        }
        if mode == JudgeMode::PairwiseBaseline {
            let baseline = self.baseline.ok_or(ParticipantsError::NoBaseline)?;
            if self.models.iter().any(|model| model == baseline) {
                return Err(ParticipantsError::BaselineAgainstItself(baseline.to_owned()));
            }
        }
        if self.judges.is_empty() {
            return Err(ParticipantsError::NoJudge);
        }
        let evaluated_model = |judge: &&String| self.models.contains(*judge) || self.baseline == Some(judge.as_str());
        Ok(self.judges.iter().filter(evaluated_model).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_baseline_is_not_compared_with_itself() {
        let (models, judges) = (names(&["a", "base"]), names(&["j"]));
        let plan = Participants { models: &models, judges: &judges, baseline: Some("base") };
        let refused = plan.check(JudgeMode::PairwiseBaseline);
        assert_eq!(refused, Err(ParticipantsError::BaselineAgainstItself("base".to_owned())));
        let without = Participants { baseline: None, ..plan };
        assert_eq!(without.check(JudgeMode::PairwiseBaseline), Err(ParticipantsError::NoBaseline));
        assert_eq!(without.check(JudgeMode::PointwiseTurn), Ok(Vec::new()));
    }

    #[test]
    fn a_judge_that_is_evaluated_too_is_flagged() {
        let (models, judges) = (names(&["a", "b"]), names(&["j", "b", "base"]));
        let plan = Participants { models: &models, judges: &judges, baseline: Some("base") };
        assert_eq!(plan.check(JudgeMode::PairwiseBaseline), Ok(names(&["b", "base"])));
        let nobody = Participants { judges: &[], ..plan };
        assert_eq!(nobody.check(JudgeMode::PointwiseRef), Err(ParticipantsError::NoJudge));
        assert_eq!(nobody.check(JudgeMode::MultipleChoice), Ok(Vec::new()));
    }
}
