//! What an annotator says of one assignment.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{CampaignPlan, Task};
use crate::battle::Outcome;

/// The letters under which answers are shown, in order.
pub const LETTERS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A judgement as it is sent and stored, in the order in which the answers were shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Which of two answers is better.
    Outcome(Outcome),
    /// How good the answer is.
    Score(u8),
    /// Positions of the answers, the best first.
    Ranking(Vec<u8>),
}

/// What can be sent for an assignment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SentJudgement {
    /// For the task `pairwise`: `a`, `b`, `tie` or `both_bad`.
    pub outcome: Option<String>,
    /// For the task `score`.
    #[schemars(with = "Option<i64>")]
    pub score: Option<serde_json::Number>,
    /// For the task `rank`: the letters, the best first.
    pub ranking: Option<Vec<String>>,
}

/// Why a judgement cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJudgement(String);

impl Judgement {
    /// Reads what was sent for a task with so many answers.
    ///
    /// # Errors
    /// [`InvalidJudgement`] says what to send.
    pub fn read(sent: &SentJudgement, task: Task, answers: usize, scale: [u8; 2]) -> Result<Self, InvalidJudgement> {
        let invalid = |text: String| Err(InvalidJudgement(text));
        match (task, sent) {
            (Task::Pairwise, SentJudgement { outcome: Some(outcome), score: None, ranking: None }) => {
                Outcome::parse(outcome).map(Self::Outcome).map_err(|error| InvalidJudgement(error.to_string()))
            }
            (Task::Score, SentJudgement { outcome: None, score: Some(score), ranking: None }) => {
                let [lowest, highest] = scale;
                let found = score.as_u64().and_then(|score| u8::try_from(score).ok());
                match found.filter(|score| (lowest..=highest).contains(score)) {
                    Some(score) => Ok(Self::Score(score)),
                    None => invalid(format!(
                        "the score {score} is not on the scale: send a whole number from {lowest} to {highest}"
                    )),
                }
            }
            (Task::Rank, SentJudgement { outcome: None, score: None, ranking: Some(ranking) }) => {
                let place = |letter: &String| LETTERS.iter().take(answers).position(|known| known == letter);
                let places: Option<Vec<u8>> =
                    ranking.iter().map(|letter| place(letter).and_then(|place| u8::try_from(place).ok())).collect();
                let all = |places: &Vec<u8>| {
                    places.len() == answers && places.iter().collect::<BTreeSet<_>>().len() == answers
                };
                match places.filter(all) {
                    Some(places) => Ok(Self::Ranking(places)),
                    None => invalid(format!(
                        "the ranking names each of {} once, the best first",
                        LETTERS[..answers].join(", ")
                    )),
                }
            }
            (Task::Pairwise, _) => {
                invalid("send \"outcome\": \"a\", \"b\", \"tie\" or \"both_bad\", and nothing else".into())
            }
            (Task::Score, _) => invalid("send \"score\", a number, and no outcome or ranking".into()),
            (Task::Rank, _) => invalid("send \"ranking\", a list of letters, and no outcome or score".into()),
        }
    }
}

impl CampaignPlan {
    /// Reads what was sent for an assignment of this campaign.
    ///
    /// # Errors
    /// [`InvalidJudgement`] says what to send.
    pub fn judgement(&self, sent: &SentJudgement, answers: usize) -> Result<Judgement, InvalidJudgement> {
        Judgement::read(sent, self.task, answers, self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, task: Task) -> Result<Judgement, String> {
        let sent: SentJudgement = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Judgement::read(&sent, task, 3, [1, 10]).map_err(|error| error.to_string())
    }

    #[test]
    fn each_task_takes_its_own_judgement() {
        assert_eq!(read(r#"{"outcome":"both_bad"}"#, Task::Pairwise), Ok(Judgement::Outcome(Outcome::BothBad)));
        assert_eq!(read(r#"{"score":10}"#, Task::Score), Ok(Judgement::Score(10)));
        assert_eq!(read(r#"{"ranking":["c","a","b"]}"#, Task::Rank), Ok(Judgement::Ranking(vec![2, 0, 1])));
    }

    #[test]
    fn anything_else_is_told_what_to_send() {
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
        for judgement in [Judgement::Outcome(Outcome::Tie), Judgement::Score(7), Judgement::Ranking(vec![1, 0])] {
            let json = serde_json::to_string(&judgement).unwrap();
            assert_eq!(serde_json::from_str::<Judgement>(&json).unwrap(), judgement, "{json}");
        }
    }
}
