//! Prompts that a campaign asks models, as a suite without judge models, since people judge.

use std::collections::BTreeSet;

use super::items::{AnswerRow, ItemError, MAX_TEXT_CHARS};
use crate::battle::message::{Message, MessageRole};
use crate::benchmark::item::{Answer, AnswerRequest, Item, ItemSampling, Question};
use crate::benchmark::scores::judgement::JudgeTask;
use crate::benchmark::scores::score::{Scores, Verdicts};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::benchmark::suite_id::SuiteId;
use crate::benchmark::{JudgeMode, Suite, SuiteData};
use crate::judging::verdict::{Verdict, VerdictError};
use crate::language::Language;
use crate::sha256::sha256;

/// Prefix of the suite names of campaigns' prompts. File suites cannot have it, and lists hide suites with it.
pub const SUITE_PREFIX: &str = "campaign:";

/// Prompt of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignPrompt {
    /// Location of the row for error messages, such as `line 3`.
    pub place: String,
    /// Id of the item.
    pub item: String,
    /// Prompt shown to annotators.
    pub prompt: String,
    /// Messages sent to models.
    pub messages: Vec<Message>,
    /// Known good answer; empty without one.
    pub reference: String,
    /// Category of the item; may be empty.
    pub category: String,
    /// Language of the item; may be empty.
    pub language: String,
}

impl CampaignPrompt {
    /// Builds the row of an answer to the prompt.
    #[must_use]
    pub fn answered(&self, model: &str, answer: &str) -> AnswerRow {
        AnswerRow {
            place: self.place.clone(),
            item: self.item.clone(),
            prompt: self.prompt.clone(),
            model: model.to_owned(),
            answer: answer.to_owned(),
            reference: self.reference.clone(),
            category: self.category.clone(),
            language: self.language.clone(),
        }
    }

    /// Builds the suite item of the prompt. Its id is derived from the messages: a changed prompt is a new item, and answers to unchanged
    /// ones stay.
    #[must_use]
    pub fn suite_item(&self) -> Item {
        let asked = serde_json::to_string(&self.messages).expect("texts are JSON");
        Item {
            id: sha256(asked.as_bytes()),
            category: String::new(),
            subcategory: None,
            language: Language::default(),
            turns: vec![Question { question: asked, reference: None }],
            choices: None,
        }
    }
}

/// Whether an answer can be shown to annotators: it is not empty, and not too long.
#[must_use]
pub fn is_shown(answer: &str) -> bool {
    !answer.trim().is_empty() && !answer.contains('\0') && answer.chars().count() <= MAX_TEXT_CHARS
}

/// Checks that items are unique, and that each ends with a question.
///
/// # Errors
/// [`ItemError`] for the first violation.
pub fn check_prompts(rows: &[CampaignPrompt]) -> Result<(), ItemError> {
    let mut seen = BTreeSet::new();
    for row in rows {
        let fail = |reason: String| Err(ItemError { place: row.place.clone(), reason });
        if !seen.insert(row.item.as_str()) {
            return fail(format!("item {:?} stands in an earlier row: give each prompt its own item", row.item));
        }
        if row
            .messages
            .last()
            .is_none_or(|message| message.role != MessageRole::User || message.content.trim().is_empty())
        {
            return fail("nothing is asked at its end: a conversation must end with a turn of the user".into());
        }
    }
    match rows {
        [] => Err(ItemError { place: "the file".into(), reason: "it has no rows: write one row a prompt".into() }),
        _ => Ok(()),
    }
}

/// Suite of a campaign's prompts.
pub struct PromptSuite {
    name: String,
}

impl PromptSuite {
    /// Creates the suite of the campaign with this id.
    #[must_use]
    pub fn new(campaign: &str) -> Self {
        Self { name: format!("{SUITE_PREFIX}{campaign}") }
    }

    /// Returns the id of the suite.
    #[must_use]
    pub fn id(&self) -> SuiteId {
        SuiteId::new(&self.name)
    }

    /// Returns the suite's items. The version does not depend on them, so that adding or removing a prompt does not make other prompts be
    /// asked again.
    #[must_use]
    pub fn data(&self, rows: &[CampaignPrompt]) -> SuiteData {
        let mut seen = BTreeSet::new();
        let items = rows.iter().map(CampaignPrompt::suite_item).filter(|item| seen.insert(item.id.clone())).collect();
        SuiteData { sha256: sha256(self.name.as_bytes()), items }
    }
}

impl Suite for PromptSuite {
    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.name
    }

    fn mode(&self) -> JudgeMode {
        JudgeMode::PairwiseBaseline
    }

    fn variant(&self) -> &'static str {
        ""
    }

    /// Reads one item per line, as stored in the database.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, |item: Item| match messages(&item) {
            Some(_) => Ok(item),
            None => Err(DataProblem::Empty("the list of messages")),
        })
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        let messages = messages(item).filter(|_| answers.is_empty());
        messages
            .map(|messages| AnswerRequest { turn: 1, messages, sampling: ItemSampling::default() })
            .into_iter()
            .collect()
    }

    fn judgings(&self, _item: &Item, _answers: &[Answer], _baseline: &[Answer]) -> Vec<JudgeTask> {
        Vec::new()
    }

    fn parse(&self, _item: &Item, _reply: &str) -> Result<Verdict, VerdictError> {
        Err(VerdictError::Unreadable)
    }

    fn reminder(&self, _item: &Item) -> String {
        String::new()
    }

    fn item_score(&self, _item: &Item, _verdicts: &Verdicts<'_>) -> Option<f64> {
        None
    }

    fn score_verdicts(&self, _items: &[Item], _verdicts: &Verdicts<'_>) -> Scores {
        Scores(Vec::new())
    }
}

fn messages(item: &Item) -> Option<Vec<Message>> {
    serde_json::from_str(&item.turns.first()?.question).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: &str, item: &str, messages: Vec<Message>) -> CampaignPrompt {
        CampaignPrompt {
            place: place.into(),
            item: item.into(),
            prompt: "Why?".into(),
            messages,
            reference: String::new(),
            category: "facts".into(),
            language: String::new(),
        }
    }

    #[test]
    fn each_prompt_is_asked_as_it_stands_and_once() {
        let talk =
            vec![Message::system("Be brief."), Message::user("Hi"), Message::assistant("Yes?"), Message::user("Why?")];
        let rows = [
            row("line 1", "p", vec![Message::user("Why?")]),
            row("line 2", "q", talk.clone()),
            row("line 3", "r", vec![Message::user("Why?")]),
        ];
        assert_eq!(check_prompts(&rows), Ok(()));
        let suite = PromptSuite::new("pilot");
        let data = suite.data(&rows);
        assert_eq!((suite.name(), data.items.len()), ("campaign:pilot", 2), "the same prompt twice is asked once");
        let asks = suite.asks(&data.items[1], &[]);
        assert_eq!((asks.len(), &asks[0].messages), (1, &talk));
        let answered = [Answer { turn: 1, text: "So.".into() }];
        assert_eq!(suite.asks(&data.items[1], &answered), []);
        // Added or removed prompts change neither the version nor the other items.
        let fewer = suite.data(&rows[1..2]);
        assert_eq!((&fewer.sha256, &fewer.items[0]), (&data.sha256, &data.items[1]));
        let stored = serde_json::to_string(&data.items[1]).unwrap();
        assert_eq!(suite.read(stored.as_bytes()).unwrap(), fewer.items);
    }

    #[test]
    fn what_asks_nothing_or_twice_is_refused_with_its_place() {
        let user = || vec![Message::user("Why?")];
        let twice = [row("line 1", "p", user()), row("line 2", "p", user())];
        let open = [row("line 1", "p", vec![Message::user("Why?"), Message::assistant("So.")])];
        let blank = [row("line 4", "p", vec![Message::user(" ")])];
        for (rows, words) in [
            (&twice[..], "line 2: item \"p\" stands in an earlier row"),
            (&open[..], "line 1: nothing is asked at its end"),
            (&blank[..], "line 4: nothing is asked"),
            (&[][..], "it has no rows"),
        ] {
            let error = check_prompts(rows).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn annotators_are_shown_what_can_be_read() {
        assert!(is_shown("So."));
        assert!(!is_shown(" \n") && !is_shown("a\0b") && !is_shown(&"x".repeat(MAX_TEXT_CHARS + 1)));
        assert_eq!(row("line 1", "p", Vec::new()).answered("m", "So.").category, "facts");
    }
}
