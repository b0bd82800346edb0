//! Validation of a run's participants: refused and flagged combinations.

use super::super::JudgeMode;

/// Models, judges and baseline of a run.
#[derive(Debug, Clone, Copy)]
pub struct Participants<'a> {
    /// Ids of the evaluated models.
    pub models: &'a [String],
    /// Ids of the judge models.
    pub judges: &'a [String],
    /// Id of the baseline model.
    pub baseline: Option<&'a str>,
}

/// Error of a run's participants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParticipantsError {
    /// The baseline is one of the models.
    #[error("model {0:?} is the baseline and cannot be compared with itself: leave it out of the models")]
    BaselineAgainstItself(String),
    /// A comparison has no baseline.
    #[error("this suite compares with a baseline model: name one with --baseline")]
    NoBaseline,
    /// The run has no judge.
    #[error("this suite needs a judge: name one or more with --judge")]
    NoJudge,
}

impl Participants<'_> {
    /// Validates the participants, and returns the judges that judge their own answers, which is allowed but flagged.
    ///
    /// # Errors
    /// [`ParticipantsError`] if the baseline is among the models, or a role is missing.
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
