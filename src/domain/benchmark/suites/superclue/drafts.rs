//! File of drafts: a line of JSON per open question, with the question that a model made of it, or the unreadable reply with the reason.
//!
//! `{"id": "1", "capability": "计算", "original": "…", "model": "m", "question": "…", "options": {"A": "…", "B": "…", "C": "…", "D": "…"},
//! "answer": "B"}`, or in place of the last three `"raw": "…", "reason": "…"`, with `"attempt": 1` if the model is to be asked again. If an
//! id occurs on several lines, the last one counts.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::construction::Draft;
use crate::benchmark::item::{Choices, Item};
use crate::benchmark::judging_forms::multiple_choice::{OptionTexts, choices};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_lines};
use crate::judging::verdict::OptionLetter;

/// Prefix of each line.
pub const LINE_PREFIX: &[u8] = b"{\"id\":";

/// Result of rewriting an open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftLine {
    /// Id of the open item and of the new one.
    pub id: String,
    /// Capability of the item.
    pub capability: String,
    /// Text of the open question.
    pub original: String,
    /// Id of the model that rewrote the question.
    pub model: String,
    /// Draft, or the reply that is not one.
    pub draft: Result<Draft, InvalidDraft>,
}

/// Reply that is not a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDraft {
    /// Text of the reply.
    pub raw: String,
    /// Reason why the reply is not a draft.
    pub reason: String,
    /// Number of the attempt, from 1, if another one is due; `None` after the last.
    pub attempt: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct DraftRecord {
    id: String,
    capability: String,
    original: String,
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<OptionTexts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
}

/// Item in the format of the data file of [`super::close`].
#[derive(Serialize)]
struct CloseLine<'l> {
    id: &'l str,
    capability: &'l str,
    question: &'l str,
    options: OptionTexts,
    answer: &'static str,
}

/// Parses the lines of a file of drafts.
///
/// # Errors
/// [`DataError`] for the first invalid line.
pub fn read(bytes: &[u8]) -> Result<Vec<DraftLine>, DataError> {
    let lines = json_lines::<DraftRecord>(bytes)?.into_iter();
    lines.map(|(number, line)| line.draft().map_err(|problem| problem.on(number))).collect()
}

impl DraftLine {
    /// Creates the line of a model's reply about an open item.
    #[must_use]
    pub fn new(item: &Item, model: &str, reply: &str) -> Self {
        let draft = Draft::parse(reply).map_err(|error| (reply, error.to_string()));
        Self::of(item, model, draft)
    }

    /// Creates the line of a request that the provider permanently refuses.
    #[must_use]
    pub fn refused(item: &Item, model: &str, reason: String) -> Self {
        Self::of(item, model, Err(("", reason)))
    }

    fn of(item: &Item, model: &str, draft: Result<Draft, (&str, String)>) -> Self {
        Self {
            id: item.id.clone(),
            capability: item.category.clone(),
            original: original(item).to_owned(),
            model: model.to_owned(),
            draft: draft.map_err(|(raw, reason)| InvalidDraft { raw: raw.to_owned(), reason, attempt: None }),
        }
    }

    /// Returns the number of the attempt, if the reply is not a draft and another attempt is due.
    #[must_use]
    pub fn attempt(&self) -> Option<u32> {
        self.draft.as_ref().err()?.attempt
    }

    /// Whether the line belongs to the current version of an item.
    #[must_use]
    pub fn is_of(&self, item: &Item) -> bool {
        self.id == item.id && self.original == original(item)
    }

    /// Formats the line, including its line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (draft, unread) = (self.draft.as_ref().ok(), self.draft.as_ref().err());
        let line = DraftRecord {
            id: self.id.clone(),
            capability: self.capability.clone(),
            original: self.original.clone(),
            model: self.model.clone(),
            question: draft.map(|draft| draft.question.clone()),
            options: draft.map(|draft| by_letter(&draft.choices)),
            answer: draft.map(|draft| draft.choices.correct.as_str().to_owned()),
            raw: unread.map(|unread| unread.raw.clone()),
            reason: unread.map(|unread| unread.reason.clone()),
            attempt: unread.and_then(|unread| unread.attempt),
        };
        json_line(&line)
    }
}

/// Formats the line of an item in the data file of [`super::close`], including its line feed.
#[must_use]
pub fn close_line(id: &str, capability: &str, draft: &Draft) -> String {
    let Draft { question, choices } = draft;
    let (options, answer) = (by_letter(choices), choices.correct.as_str());
    json_line(&CloseLine { id, capability, question, options, answer })
}

impl DraftRecord {
    fn draft(self) -> Result<DraftLine, DataProblem> {
        let Self { id, capability, original, model, question, options, answer, raw, reason, attempt } = self;
        let draft = match (question, options, answer, raw) {
            (Some(question), Some(options), Some(answer), None) => {
                Ok(Draft { question, choices: choices(options, &answer)? })
            }
            (None, None, None, Some(raw)) => Err(InvalidDraft { raw, reason: reason.unwrap_or_default(), attempt }),
            _ => {
                let needs =
                    "it has neither question, options and answer nor raw: remove the line and it is asked again";
                return Err(DataProblem::Record(needs.to_owned()));
            }
        };
        Ok(DraftLine { id, capability, original, model, draft })
    }
}

fn original(item: &Item) -> &str {
    item.turns.first().map_or("", |turn| turn.question.as_str())
}

pub(super) fn by_letter(choices: &Choices) -> OptionTexts {
    let pairs = OptionLetter::ALL.iter().zip(&choices.options);
    let texts: BTreeMap<_, _> = pairs.map(|(letter, text)| (letter.as_str().to_owned(), text.clone())).collect();
    OptionTexts::ByLetter(texts)
}

fn json_line(line: &impl Serialize) -> String {
    let mut text = serde_json::to_string(line).expect("a line is plain text");
    text.push('\n');
    text
}

/// Item without a draft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenItem<'i> {
    /// Open item.
    pub item: &'i Item,
    /// Number of earlier failed attempts with this model.
    pub attempts: u32,
}

/// Returns the items without a draft or a final failure of the model.
#[must_use]
pub fn open_items<'i>(items: &'i [Item], lines: &[DraftLine], model: &str, retry_failed: bool) -> Vec<OpenItem<'i>> {
    let latest: HashMap<&str, &DraftLine> = lines.iter().map(|line| (line.id.as_str(), line)).collect();
    let open = |item: &'i Item| {
        let line = latest.get(item.id.as_str()).filter(|line| line.is_of(item));
        match line.map(|line| (&line.draft, line.attempt())) {
            Some((Ok(_), _)) => None,
            Some((Err(_), None)) if !retry_failed => None,
            Some((Err(_), Some(attempts))) if line.is_some_and(|line| line.model == model) => {
                Some(OpenItem { item, attempts })
            }
            _ => Some(OpenItem { item, attempts: 0 }),
        }
    };
    items.iter().filter_map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{SuiteOptions, suite};

    fn open_item() -> Item {
        let open = suite("superclue-open", &SuiteOptions::default()).unwrap();
        let line = r#"{"id": 7, "capability": "计算", "turns": ["{x}是几？", "为什么？"]}"#;
        open.read(line.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn lines_are_read_as_they_were_written_and_become_items_of_close() {
        let item = open_item();
        let reply = r#"{"问题": "{x}是几？\n选一个", "选项": ["A. 1", "2", "3", "4"], "答案": "C"}"#;
        let (made, unread) = (DraftLine::new(&item, "m", reply), DraftLine::new(&item, "m", "不会\n"));
        assert_eq!(unread.draft.as_ref().unwrap_err().raw, "不会\n");
        let text = made.to_json() + &unread.to_json();
        assert!(text.lines().all(|line| line.as_bytes().starts_with(LINE_PREFIX)), "{text}");
        assert_eq!(read(text.as_bytes()).unwrap(), [made.clone(), unread]);
        assert!(made.is_of(&item) && !made.is_of(&Item { id: "8".into(), ..item.clone() }));
        let draft = made.draft.unwrap();
        let close = suite("superclue-close", &SuiteOptions::default()).unwrap();
        let items = close.read(close_line(&made.id, &made.capability, &draft).as_bytes()).unwrap();
        assert_eq!(items, [draft.item(&item)]);
    }

    #[test]
    fn a_question_is_open_until_it_has_a_draft_or_the_last_word_of_the_model() {
        let items = [open_item()];
        let attempts = |lines: &[DraftLine], retry_failed| -> Vec<u32> {
            open_items(&items, lines, "m", retry_failed).iter().map(|open| open.attempts).collect()
        };
        let reply = r#"{"问题": "{x}是几？\n选一个", "选项": ["A. 1", "2", "3", "4"], "答案": "C"}"#;
        let (made, last) = (DraftLine::new(&items[0], "m", reply), DraftLine::new(&items[0], "m", "不会"));
        let mut tried = last.clone();
        tried.draft.as_mut().unwrap_err().attempt = Some(2);
        let of_other = DraftLine { model: "other".to_owned(), ..tried.clone() };
        assert_eq!((attempts(&[], false), attempts(&[made], true)), (vec![0], Vec::new()));
        assert_eq!((attempts(std::slice::from_ref(&last), false), attempts(&[last], true)), (Vec::new(), vec![0]));
        assert_eq!((attempts(&[tried], false), attempts(&[of_other], false)), (vec![2], vec![0]));
    }

    #[test]
    fn a_line_that_is_no_draft_is_named() {
        let half = r#"{"id": "1", "capability": "计算", "original": "o", "model": "m", "question": "q"}"#;
        let error = read(half.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("neither question, options and answer nor raw"), "{error}");
        assert_eq!(read(b"").unwrap(), []);
    }
}
