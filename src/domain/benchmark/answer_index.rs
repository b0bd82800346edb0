//! Finds a model's answer by the exact question.

use std::collections::HashMap;

use super::Suite;
use super::item::{Answer, Ask, Item};
use crate::judging::rubric::{prompt_sha256, sha256};

/// What stands for an answer that is yet to be given, where only the size of later questions matters.
const STAND_IN: &str = "word ";
/// How often: about as long as answers are.
const STAND_IN_LENGTH: usize = 400;

/// A model's answers to the items of one data file.
#[derive(Debug, Default)]
pub struct AnswerIndex(HashMap<String, Vec<Given>>);

#[derive(Debug)]
struct Given {
    turn: u32,
    ask_sha256: String,
    text: String,
}

fn stand_in(ask: &Ask) -> Answer {
    Answer { turn: ask.turn, text: STAND_IN.repeat(STAND_IN_LENGTH) }
}

/// What tells two questions apart: every message, and how the reply is sampled.
#[must_use]
pub fn ask_sha256(ask: &Ask) -> String {
    let sampling = serde_json::to_string(&ask.sampling).expect("plain numbers");
    sha256(format!("{} {sampling}", prompt_sha256(&ask.messages)).as_bytes())
}

impl AnswerIndex {
    /// The answers, each with its item and the [`ask_sha256`] of what was asked.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = (String, String, Answer)>) -> Self {
        let mut given: HashMap<String, Vec<Given>> = HashMap::new();
        for (item, ask_sha256, Answer { turn, text }) in answers {
            given.entry(item).or_default().push(Given { turn, ask_sha256, text });
        }
        Self(given)
    }

    /// The answers to what the suite asks about an item: those to other questions do not count.
    #[must_use]
    pub fn to(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
        let mut answers = Vec::new();
        while self.0.contains_key(&item.id) {
            let known: Vec<Answer> =
                suite.asks(item, &answers).iter().filter_map(|ask| self.find(&item.id, ask)).collect();
            if known.is_empty() {
                break;
            }
            answers.extend(known);
        }
        answers
    }

    /// The missing requests of an item. An answer that a later question depends on is replaced by a text of equal length.
    #[must_use]
    pub fn open(&self, suite: &dyn Suite, item: &Item) -> Vec<Ask> {
        let (mut answers, mut open) = (self.to(suite, item), Vec::new());
        loop {
            let asks = suite.asks(item, &answers);
            if asks.is_empty() {
                return open;
            }
            answers.extend(asks.iter().map(stand_in));
            open.extend(asks);
        }
    }

    /// The answers, with something as long for those that are yet to be given.
    #[must_use]
    pub fn with_stand_ins(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
        let open = self.open(suite, item).into_iter().map(|ask| stand_in(&ask));
        self.to(suite, item).into_iter().chain(open).collect()
    }

    fn find(&self, item: &str, ask: &Ask) -> Option<Answer> {
        let wanted = ask_sha256(ask);
        let given = self.0.get(item)?.iter().find(|given| given.turn == ask.turn && given.ask_sha256 == wanted)?;
        Some(Answer { turn: given.turn, text: given.text.clone() })
    }
}
