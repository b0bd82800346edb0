//! Index of a model's answers by exact question.

use std::collections::{HashMap, HashSet};

use super::super::Suite;
use super::super::item::{Answer, AnswerRequest, Item, request_sha256};
use crate::sha256::sha256;

/// Word of placeholder answers, for estimating the size of later questions.
const PLACEHOLDER_WORD: &str = "word ";
/// Number of words of a placeholder answer, a typical length.
const PLACEHOLDER_LENGTH: usize = 400;

/// Answers of a model to the items of one data file, in one round.
#[derive(Debug, Default)]
pub struct AnswerIndex {
    given: HashMap<String, Vec<IndexedAnswer>>,
    round: String,
    refused: HashSet<String>,
}

#[derive(Debug)]
struct IndexedAnswer {
    turn: u32,
    ask_sha256: String,
    text: String,
}

fn placeholder(ask: &AnswerRequest) -> Answer {
    Answer { turn: ask.turn, text: PLACEHOLDER_WORD.repeat(PLACEHOLDER_LENGTH) }
}

/// Computes the hash that identifies a question: its messages and sampling settings.
#[must_use]
pub fn ask_sha256(ask: &AnswerRequest) -> String {
    request_sha256(&ask.messages, &ask.sampling)
}

/// Computes the hash that identifies a request for an answer: round, item, turn and question.
#[must_use]
pub fn answer_request_sha256(round: &str, item: &Item, ask: &AnswerRequest) -> String {
    sha256(format!("{round} {} {} {}", item.id, ask.turn, ask_sha256(ask)).as_bytes())
}

/// Returns the missing requests after these answers, without closed ones and those that depend on them.
#[must_use]
pub fn open_after(
    suite: &dyn Suite,
    item: &Item,
    mut answers: Vec<Answer>,
    is_closed: impl Fn(&AnswerRequest) -> bool,
) -> Vec<AnswerRequest> {
    let mut open = Vec::new();
    loop {
        let asks: Vec<AnswerRequest> = suite.asks(item, &answers).into_iter().filter(|ask| !is_closed(ask)).collect();
        if asks.is_empty() {
            return open;
        }
        answers.extend(asks.iter().map(placeholder));
        open.extend(asks);
    }
}

impl AnswerIndex {
    /// Builds the index from answers, each with its item and the [`ask_sha256`] of its question.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = (String, String, Answer)>) -> Self {
        let mut given: HashMap<String, Vec<IndexedAnswer>> = HashMap::new();
        for (item, ask_sha256, Answer { turn, text }) in answers {
            given.entry(item).or_default().push(IndexedAnswer { turn, ask_sha256, text });
        }
        Self { given, ..Self::default() }
    }

    /// Adds the requests of the round that the provider permanently refused, by [`answer_request_sha256`].
    #[must_use]
    pub fn with_refused(self, round: String, refused: HashSet<String>) -> Self {
        Self { round, refused, ..self }
    }

    /// Clears the refused requests, so that they are asked again.
    #[must_use]
    pub fn without_refused(self) -> Self {
        Self { refused: HashSet::new(), ..self }
    }

    /// Whether the provider permanently refused this question.
    #[must_use]
    pub fn is_refused(&self, item: &Item, ask: &AnswerRequest) -> bool {
        !self.refused.is_empty() && self.refused.contains(&answer_request_sha256(&self.round, item, ask))
    }

    /// Returns the answers to the suite's questions about an item; those to other questions are ignored.
    #[must_use]
    pub fn to(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
        let mut answers = Vec::new();
        while self.given.contains_key(&item.id) {
            let known: Vec<Answer> =
                suite.asks(item, &answers).iter().filter_map(|ask| self.find(&item.id, ask)).collect();
            if known.is_empty() {
                break;
            }
            answers.extend(known);
        }
        answers
    }

    /// Returns the missing requests of an item. Placeholders replace answers that later questions depend on. Refused requests are left out,
    /// with those that depend on them.
    #[must_use]
    pub fn open(&self, suite: &dyn Suite, item: &Item) -> Vec<AnswerRequest> {
        open_after(suite, item, self.to(suite, item), |ask| self.is_refused(item, ask))
    }

    /// Returns the number of an item's requests that the provider permanently refused, including those that depend on them.
    #[must_use]
    pub fn refused_count(&self, suite: &dyn Suite, item: &Item) -> usize {
        if self.refused.is_empty() {
            return 0;
        }
        open_after(suite, item, self.to(suite, item), |_| false).len() - self.open(suite, item).len()
    }

    /// Returns the answers, with placeholders for the missing ones.
    #[must_use]
    pub fn with_placeholders(&self, suite: &dyn Suite, item: &Item) -> Vec<Answer> {
        let open = self.open(suite, item).into_iter().map(|ask| placeholder(&ask));
        self.to(suite, item).into_iter().chain(open).collect()
    }

    fn find(&self, item: &str, ask: &AnswerRequest) -> Option<Answer> {
        let wanted = ask_sha256(ask);
        let given = self.given.get(item)?.iter().find(|given| given.turn == ask.turn && given.ask_sha256 == wanted)?;
        Some(Answer { turn: given.turn, text: given.text.clone() })
    }
}
