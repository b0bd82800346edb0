//! Items of a suite: one or more turns, in categories.

use serde::{Deserialize, Serialize};

use crate::battle::message::Message;
use crate::judging::judge_prompt::prompt_sha256;
use crate::judging::verdict::OptionLetter;
use crate::language::Language;
use crate::sha256::sha256;

/// Item of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Id, unique within the suite's data.
    pub id: String,
    /// Category, as in the data file.
    pub category: String,
    /// Finer category, if the suite has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcategory: Option<String>,
    /// Language of the item.
    pub language: Language,
    /// Questions in order; at least one.
    pub turns: Vec<Question>,
    /// Options of a multiple-choice item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
}

/// Question in one turn of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Text of the question.
    pub question: String,
    /// Reference answer, if the suite has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Four options, one of them correct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// Texts of A to D.
    pub options: [String; 4],
    /// Letter of the correct option.
    pub correct: OptionLetter,
}

impl Item {
    /// Returns a turn by its number, from 1.
    #[must_use]
    pub fn turn(&self, turn: u32) -> Option<&Question> {
        self.turns.get(usize::try_from(turn).ok()?.checked_sub(1)?)
    }

    /// Returns the turn numbers, from 1.
    pub fn turn_numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=u32::try_from(self.turns.len()).unwrap_or(u32::MAX)
    }
}

/// Id of an item in a data file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Answer of a model in one turn of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Turn, from 1.
    pub turn: u32,
    /// Text as the model wrote it; an empty one is stored and counts as failed.
    pub text: String,
}

/// Returns the answer of a turn among those of an item.
#[must_use]
pub fn answer_of(answers: &[Answer], turn: u32) -> Option<&str> {
    answers.iter().find(|answer| answer.turn == turn).map(|answer| answer.text.as_str())
}

/// Sampling settings of a request; `None` leaves a setting to the model's own configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemSampling {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the reply.
    pub max_tokens: Option<u32>,
    /// Random seed, for models that support one.
    pub seed: Option<u64>,
    /// Whether token probabilities are requested.
    #[serde(default, skip_serializing_if = "is_false")]
    pub logprobs: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Computes the hash that identifies a request: its messages and sampling settings.
#[must_use]
pub fn request_sha256(messages: &[Message], sampling: &ItemSampling) -> String {
    let sampling = serde_json::to_string(sampling).expect("plain numbers");
    sha256(format!("{} {sampling}", prompt_sha256(messages)).as_bytes())
}

/// Question to an evaluated model.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRequest {
    /// Turn of the answer, from 1.
    pub turn: u32,
    /// The conversation so far, ending with the question.
    pub messages: Vec<Message>,
    /// Sampling settings.
    pub sampling: ItemSampling,
}
