//! Finds a model's stored answer by the exact question.

use std::collections::HashMap;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::item::{Answer, Ask, Item};
use crate::domain::judging::rubric::{prompt_sha256, sha256};
use crate::infra::storage::{BenchFilter, BenchSet, Store, StoreError};

/// What stands for an answer that is yet to be given, where only the size of later questions matters.
const STAND_IN: &str = "word ";
/// How often: about as long as answers are.
const STAND_IN_LENGTH: usize = 400;

/// A model's answers to the items of one data file.
#[derive(Debug, Default)]
pub(super) struct AnswerIndex(HashMap<String, Vec<Given>>);

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
pub(super) fn ask_sha256(ask: &Ask) -> String {
    let sampling = serde_json::to_string(&ask.sampling).expect("plain numbers");
    sha256(format!("{} {sampling}", prompt_sha256(&ask.messages)).as_bytes())
}

impl AnswerIndex {
    /// Reads a model's answers.
    pub(super) async fn load(store: &Store, set: &BenchSet, model: &ModelId) -> Result<Self, StoreError> {
        let mut given: HashMap<String, Vec<Given>> = HashMap::new();
        for row in store.bench_answers(set, BenchFilter::of_model(model)).await? {
            let answer = Given { turn: row.turn, ask_sha256: row.ask_sha256, text: row.text };
            given.entry(row.item).or_default().push(answer);
        }
        Ok(Self(given))
    }

    /// The answers to what the suite asks about an item: those to other questions do not count.
    pub(super) fn to(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
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
    pub(super) fn open(&self, suite: &dyn Suite, item: &Item) -> Vec<Ask> {
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
    pub(super) fn with_stand_ins(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
        let open = self.open(suite, item).into_iter().map(|ask| stand_in(&ask));
        self.to(suite, item).into_iter().chain(open).collect()
    }

    fn find(&self, item: &str, ask: &Ask) -> Option<Answer> {
        let wanted = ask_sha256(ask);
        let given = self.0.get(item)?.iter().find(|given| given.turn == ask.turn && given.ask_sha256 == wanted)?;
        Some(Answer { turn: given.turn, text: given.text.clone() })
    }
}
