//! Judgement of an assignment by an annotator.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::invalid_judgement::{ANSWER_LETTERS, InvalidJudgement};
use super::plan::{CampaignPlan, Task};
use super::questions::{self, QuestionAnswers, QuestionContext};
use crate::battle::Outcome;

/// Judgement as sent and stored, in the display order of the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitJudgement {
    /// Preference between two answers.
    Outcome(Outcome),
    /// Degree of preference between two answers: negative for A, positive for B, 0 for equally good ones.
    Preference(i8),
    /// Score of the answer.
    Score(u8),
    /// Positions of the answers, best first.
    Ranking(Vec<u8>),
}

/// Request body with the judgement of an assignment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SentJudgement {
    /// For the task `pairwise`: `a`, `b`, `tie` or `both_bad`.
    pub outcome: Option<String>,
    /// For the task `pairwise` of a campaign with a preference scale: a whole number from -2 (A is much better) over 0 to 2 (B is
    /// much better), or from -3 to 3.
    #[schemars(with = "Option<i64>")]
    pub preference: Option<serde_json::Number>,
    /// For the task `score`: the score.
    #[schemars(with = "Option<i64>")]
    pub score: Option<serde_json::Number>,
    /// For the task `rank`: the letters, best first.
    pub ranking: Option<Vec<String>>,
    /// Answers to the campaign's questions by their ids: a value, or a value by the letter of each shown answer.
    pub answers: Option<QuestionAnswers>,
}

impl SentJudgement {
    /// Returns which task keys are present: outcome, preference, score, ranking.
    fn keys(&self) -> [bool; 4] {
        [self.outcome.is_some(), self.preference.is_some(), self.score.is_some(), self.ranking.is_some()]
    }
}

impl UnitJudgement {
    /// Returns the outcome of a comparison.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Outcome(outcome) => Some(*outcome),
            Self::Preference(preference) => Some(match preference.signum() {
                -1 => Outcome::AWins,
                1 => Outcome::BWins,
                _ => Outcome::Tie,
            }),
            Self::Score(_) | Self::Ranking(_) => None,
        }
    }

    fn read_outcome(sent: &SentJudgement) -> Result<Self, InvalidJudgement> {
        match (sent.keys(), &sent.outcome) {
            ([true, false, false, false], Some(outcome)) => {
                Outcome::parse(outcome).map(Self::Outcome).map_err(|error| InvalidJudgement(error.to_string()))
            }
            _ => invalid("send \"outcome\": \"a\", \"b\", \"tie\" or \"both_bad\", and nothing else"),
        }
    }

    /// Reads a preference on a scale with this many points.
    fn read_preference(sent: &SentJudgement, points: u8) -> Result<Self, InvalidJudgement> {
        let most = i64::from(points / 2);
        let found = sent.preference.as_ref().and_then(serde_json::Number::as_i64).filter(|value| value.abs() <= most);
        match (sent.keys(), found.and_then(|value| i8::try_from(value).ok())) {
            ([false, true, false, false], Some(preference)) => Ok(Self::Preference(preference)),
            _ => invalid(&format!(
                "send \"preference\", a whole number from -{most} (A is much better) to {most} (B is much better), and nothing else"
            )),
        }
    }

    fn read_score(sent: &SentJudgement, [lowest, highest]: [u8; 2]) -> Result<Self, InvalidJudgement> {
        let ([false, false, true, false], Some(score)) = (sent.keys(), &sent.score) else {
            return invalid("send \"score\", a number, and no outcome or ranking");
        };
        let found = score.as_u64().and_then(|score| u8::try_from(score).ok());
        match found.filter(|score| (lowest..=highest).contains(score)) {
            Some(score) => Ok(Self::Score(score)),
            None => invalid(&format!(
                "the score {score} is not on the scale: send a whole number from {lowest} to {highest}"
            )),
        }
    }

    fn read_ranking(sent: &SentJudgement, answers: usize) -> Result<Self, InvalidJudgement> {
        let ([false, false, false, true], Some(ranking)) = (sent.keys(), &sent.ranking) else {
            return invalid("send \"ranking\", a list of letters, and no outcome or score");
        };
        let place = |letter: &String| ANSWER_LETTERS.iter().take(answers).position(|known| known == letter);
        let places: Option<Vec<u8>> =
            ranking.iter().map(|letter| place(letter).and_then(|place| u8::try_from(place).ok())).collect();
        let all = |places: &Vec<u8>| places.len() == answers && places.iter().collect::<BTreeSet<_>>().len() == answers;
        match places.filter(all) {
            Some(places) => Ok(Self::Ranking(places)),
            None => invalid(&format!(
                "the ranking names each of {} once, the best first",
                ANSWER_LETTERS[..answers].join(", ")
            )),
        }
    }
}

fn invalid<T>(text: &str) -> Result<T, InvalidJudgement> {
    Err(InvalidJudgement(text.to_owned()))
}

impl CampaignPlan {
    /// Validates the judgement of an assignment of this campaign with this many shown answers.
    ///
    /// # Errors
    /// [`InvalidJudgement`] with the expected input.
    pub fn judgement(&self, sent: &SentJudgement, answers: usize) -> Result<UnitJudgement, InvalidJudgement> {
        match (self.task, self.preference_scale) {
            (Task::Pairwise, None) => UnitJudgement::read_outcome(sent),
            (Task::Pairwise, Some(points)) => UnitJudgement::read_preference(sent, points),
            (Task::Score, _) => UnitJudgement::read_score(sent, self.scale),
            (Task::Rank, _) => UnitJudgement::read_ranking(sent, answers),
        }
    }

    /// Validates the answers to questions that were sent with the judgement.
    ///
    /// # Errors
    /// [`InvalidJudgement`] with the expected input.
    pub fn question_answers(
        &self,
        sent: &SentJudgement,
        about: QuestionContext<'_>,
    ) -> Result<QuestionAnswers, InvalidJudgement> {
        questions::read(&self.questions, sent.answers.as_ref().unwrap_or(&QuestionAnswers::new()), about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, task: Task) -> Result<UnitJudgement, String> {
        let plan = format!("[campaign]\nid = \"a\"\ntitle = \"t\"\nanswers = \"x\"\ntask = \"{}\"\n", task.as_str());
        read_by(json, &plan)
    }

    fn read_by(json: &str, plan: &str) -> Result<UnitJudgement, String> {
        let sent: SentJudgement = serde_json::from_str(json).map_err(|error| error.to_string())?;
        CampaignPlan::parse(plan).unwrap().judgement(&sent, 3).map_err(|error| error.to_string())
    }

    #[test]
    fn a_preference_is_a_point_of_its_scale_and_its_sign_the_outcome() {
        let plan = |points: u8| {
            format!(
                "[campaign]\nid = \"a\"\ntitle = \"t\"\nanswers = \"x\"\ntask = \"pairwise\"\npreference_scale = {points}\n"
            )
        };
        for (value, outcome) in [(-2, Outcome::AWins), (-1, Outcome::AWins), (0, Outcome::Tie), (2, Outcome::BWins)] {
            let judgement = read_by(&format!("{{\"preference\":{value}}}"), &plan(5)).unwrap();
            assert_eq!((judgement.outcome(), &judgement), (Some(outcome), &UnitJudgement::Preference(value)));
        }
        assert_eq!(read_by(r#"{"preference":3}"#, &plan(7)), Ok(UnitJudgement::Preference(3)));
        for json in
            [r#"{"preference":3}"#, r#"{"preference":0.5}"#, r#"{"outcome":"a"}"#, r#"{"preference":1,"score":1}"#]
        {
            let error = read_by(json, &plan(5)).unwrap_err();
            assert!(error.contains("a whole number from -2"), "{json}: {error}");
        }
        assert!(read(r#"{"preference":1}"#, Task::Pairwise).unwrap_err().contains("send \"outcome\""));
    }

    #[test]
    fn each_task_takes_its_own_judgement() {
        assert_eq!(read(r#"{"outcome":"both_bad"}"#, Task::Pairwise), Ok(UnitJudgement::Outcome(Outcome::BothBad)));
        assert_eq!(read(r#"{"score":10}"#, Task::Score), Ok(UnitJudgement::Score(10)));
        assert_eq!(read(r#"{"ranking":["c","a","b"]}"#, Task::Rank), Ok(UnitJudgement::Ranking(vec![2, 0, 1])));
    }

    #[test]
    fn anything_else_is_refused_with_what_to_send() {
        for (json, task, words) in [
            (r#"{"outcome":"left"}"#, Task::Pairwise, "unknown outcome"),
            (r#"{"score":3}"#, Task::Pairwise, "send \"outcome\""),
            (r#"{"outcome":"a","score":3}"#, Task::Pairwise, "nothing else"),
            (r#"{"score":11}"#, Task::Score, "from 1 to 10"),
            (r#"{"score":0}"#, Task::Score, "from 1 to 10"),
            (r#"{"score":2.5}"#, Task::Score, "whole number"),
            (r#"{"score":-1}"#, Task::Score, "whole number"),
            ("{}", Task::Score, "send \"score\""),
            (r#"{"ranking":["a","b"]}"#, Task::Rank, "each of a, b, c once"),
            (r#"{"ranking":["a","b","b"]}"#, Task::Rank, "each of a, b, c once"),
            (r#"{"ranking":["a","b","d"]}"#, Task::Rank, "each of a, b, c once"),
            (r#"{"outcome":"a"}"#, Task::Rank, "send \"ranking\""),
        ] {
            let error = read(json, task).unwrap_err();
            assert!(error.contains(words), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_stored_reads_back() {
        for judgement in [
            UnitJudgement::Outcome(Outcome::Tie),
            UnitJudgement::Preference(-2),
            UnitJudgement::Score(7),
            UnitJudgement::Ranking(vec![1, 0]),
        ] {
            let json = serde_json::to_string(&judgement).unwrap();
            assert_eq!(serde_json::from_str::<UnitJudgement>(&json).unwrap(), judgement, "{json}");
        }
    }
}
