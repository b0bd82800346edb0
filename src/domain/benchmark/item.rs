//! What a suite asks: items of one or more turns, in categories.

use serde::{Deserialize, Serialize};

use crate::battle::message::Message;
use crate::judging::judge_prompt::prompt_sha256;
use crate::judging::verdict::Letter;
use crate::language::Language;
use crate::sha256::sha256;

/// One item of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique within the suite's data.
    pub id: String,
    /// The category, as the data file has it.
    pub category: String,
    /// A finer category, where the suite has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcategory: Option<String>,
    /// Its language.
    pub language: Language,
    /// What is asked, in order; at least one.
    pub turns: Vec<Question>,
    /// The options of a multiple-choice item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
}

/// One turn of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What the user says.
    pub question: String,
    /// What a good answer says, where the suite has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Four options, one of them right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// The texts of A to D.
    pub options: [String; 4],
    /// The right one.
    pub correct: Letter,
}

impl Item {
    /// A turn by its number, from 1.
    #[must_use]
    pub fn turn(&self, turn: u32) -> Option<&Question> {
        self.turns.get(usize::try_from(turn).ok()?.checked_sub(1)?)
    }

    /// The numbers of its turns, from 1.
    pub fn turn_numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=u32::try_from(self.turns.len()).unwrap_or(u32::MAX)
    }
}

/// An id as a data file may have it.
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

/// What a model answered in one turn of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// From 1.
    pub turn: u32,
    /// As the model wrote it; an empty one is kept and counts as failed.
    pub text: String,
}

/// The answer of a turn among those of an item.
#[must_use]
pub fn answer_of(answers: &[Answer], turn: u32) -> Option<&str> {
    answers.iter().find(|answer| answer.turn == turn).map(|answer| answer.text.as_str())
}

/// How a model is to be sampled; what is `None` is left to the model's own settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemSampling {
    /// Randomness of the reply.
    pub temperature: Option<f64>,
    /// Most tokens of the reply.
    pub max_tokens: Option<u32>,
    /// For models that take one.
    pub seed: Option<u64>,
    /// Whether the probabilities of the reply's tokens are asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub logprobs: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What tells two requests apart: every message, and how the reply is sampled.
#[must_use]
pub fn request_sha256(messages: &[Message], sampling: &ItemSampling) -> String {
    let sampling = serde_json::to_string(sampling).expect("plain numbers");
    sha256(format!("{} {sampling}", prompt_sha256(messages)).as_bytes())
}

/// A question to a model under test.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The turn that it answers, from 1.
    pub turn: u32,
    /// The conversation so far, ending with the question.
    pub messages: Vec<Message>,
    /// How to sample.
    pub sampling: ItemSampling,
}
