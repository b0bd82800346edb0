//! Record of a judgement: request, raw reply and parsed verdict.

use serde::{Deserialize, Serialize};

use super::super::item::{ItemSampling, request_sha256};
use crate::battle::message::Message;
use crate::judging::judge_prompt::prompt_sha256;
use crate::judging::verdict::{Verdict, VerdictError};

/// Game of a pair; suites without comparisons use only the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Game {
    /// The model is shown as A, the baseline as B.
    #[default]
    First,
    /// The sides are swapped.
    Second,
}

impl Game {
    /// Both games.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];
}

impl From<Game> for u8 {
    fn from(game: Game) -> Self {
        match game {
            Game::First => 1,
            Game::Second => 2,
        }
    }
}

/// Error of a number that is not a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("game {0} is unknown: expected 1 or 2")]
pub struct UnknownGame(u8);

impl TryFrom<u8> for Game {
    type Error = UnknownGame;

    fn try_from(number: u8) -> Result<Self, UnknownGame> {
        match number {
            1 => Ok(Self::First),
            2 => Ok(Self::Second),
            _ => Err(UnknownGame(number)),
        }
    }
}

/// Status of a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The verdict is readable.
    Ok,
    /// The replies had no verdict in the requested format.
    ParseFailed,
    /// The score is outside the valid range.
    OutOfRange,
    /// The judge refused to judge.
    Refused,
    /// The model's answer is empty, so there is nothing to judge.
    EmptyAnswer,
    /// The judge was unreachable or did not finish.
    TransportFailed,
}

impl Status {
    /// All statuses, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::ParseFailed, Self::OutOfRange, Self::Refused, Self::EmptyAnswer, Self::TransportFailed];

    /// Returns the name in files and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ParseFailed => "parse_failed",
            Self::OutOfRange => "out_of_range",
            Self::Refused => "refused",
            Self::EmptyAnswer => "empty_answer",
            Self::TransportFailed => "transport_failed",
        }
    }
}

impl Status {
    /// Returns the text shown for the status.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Ok => "read",
            Self::ParseFailed => "no verdict in the form asked for",
            Self::OutOfRange => "a score beyond the scale",
            Self::Refused => "refused by the judge or its provider",
            Self::EmptyAnswer => "empty answer",
            Self::TransportFailed => "not reached, or broken off",
        }
    }
}

/// Error of an unknown status name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "status {0:?} is unknown: expected one of ok, parse_failed, out_of_range, refused, empty_answer, transport_failed"
)]
pub struct UnknownStatus(String);

impl std::str::FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| UnknownStatus(text.to_owned()))
    }
}

impl From<VerdictError> for Status {
    fn from(error: VerdictError) -> Self {
        match error {
            VerdictError::Unreadable => Self::ParseFailed,
            VerdictError::OutOfRange(_) => Self::OutOfRange,
            VerdictError::Refused => Self::Refused,
        }
    }
}

/// Token counts of one exchange with a judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeTokens {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the reply.
    pub reply: u64,
}

/// Judgement of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 of the suite's data file.
    pub suite_version: String,
    /// Id of the item.
    pub item_id: String,
    /// Turn, from 1.
    pub turn: u32,
    /// Id of the judged model.
    pub model: String,
    /// Id of the judge; empty if the answer is read without a judge.
    pub judge_model: String,
    /// SHA-256 of the sent prompt (see [`prompt_sha256`]); empty without a judge.
    pub judge_prompt_sha256: String,
    /// Sampling settings of the judge.
    pub params: ItemSampling,
    /// Game of a pair.
    pub game: Game,
    /// Judge's last raw reply; empty without one.
    pub raw_text: String,
    /// Parsed verdict; `None` unless the status is ok.
    pub parsed: Option<Verdict>,
    /// Status of the judgement.
    pub status: Status,
    /// Number of requests, including reminders and retries.
    pub attempts: u32,
    /// Milliseconds from the request to the end of the last reply.
    #[serde(rename = "latency")]
    pub latency_ms: Option<u64>,
    /// Tokens of all attempts, if the provider counts them.
    pub tokens: Option<JudgeTokens>,
    /// Time of the judgement, in milliseconds since 1970.
    pub ts: i64,
}

/// Request to a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeRequest {
    /// Messages of the conversation.
    pub messages: Vec<Message>,
    /// Sampling settings.
    pub sampling: ItemSampling,
}

impl JudgeRequest {
    /// Computes the hash of the messages: see [`prompt_sha256`].
    #[must_use]
    pub fn sha256(&self) -> String {
        prompt_sha256(&self.messages)
    }

    /// Computes the hash of the messages and sampling settings.
    #[must_use]
    pub fn request_sha256(&self) -> String {
        request_sha256(&self.messages, &self.sampling)
    }
}

/// Judgement to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeTask {
    /// Turn, from 1.
    pub turn: u32,
    /// Game of a pair.
    pub game: Game,
    /// Method of the judgement.
    pub step: JudgeStep,
}

/// Method of a judgement.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeStep {
    /// A judge is queried.
    Ask(JudgeRequest),
    /// No judge is needed: a multiple-choice answer is read directly.
    Read(Verdict),
    /// There is nothing to judge, such as an empty answer.
    Failed(Status),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_fields_of_the_contract() {
        let judgement = Judgement {
            suite: "mtbench101".to_owned(),
            suite_version: "00".to_owned(),
            item_id: "7".to_owned(),
            turn: 2,
            model: "m".to_owned(),
            judge_model: "j".to_owned(),
            judge_prompt_sha256: "11".to_owned(),
            params: ItemSampling { temperature: Some(0.0), max_tokens: None, seed: None, logprobs: false },
            game: Game::Second,
            raw_text: "?".to_owned(),
            parsed: None,
            status: Status::ParseFailed,
            attempts: 3,
            latency_ms: Some(12),
            tokens: Some(JudgeTokens { prompt: 5, reply: 6 }),
            ts: 1,
        };
        let json = serde_json::to_value(&judgement).unwrap();
        let fields = "suite suite_version item_id turn model judge_model judge_prompt_sha256 params game raw_text parsed \
                      status attempts latency tokens ts";
        let mut fields: Vec<&str> = fields.split_whitespace().collect();
        fields.sort_unstable();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
        assert_eq!((&json["game"], &json["status"]), (&2.into(), &"parse_failed".into()));
        assert_eq!(serde_json::from_value::<Judgement>(json).unwrap(), judgement);
    }

    #[test]
    fn statuses_are_spelled_alike_everywhere() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
            assert_eq!(status.as_str().parse::<Status>().unwrap(), status);
        }
        assert!("done".parse::<Status>().is_err());
    }
}
