//! Prompts that a campaign asks models: as a suite that is only asked, since people are the judges.

use std::collections::BTreeSet;

use super::items::{AnswerRow, ItemError, MAX_TEXT};
use crate::battle::message::{Message, MessageRole};
use crate::benchmark::item::{Answer, Ask, Item, ItemSampling, Question};
use crate::benchmark::judgement::JudgeTask;
use crate::benchmark::score::{Scores, Verdicts};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::benchmark::suite_id::SuiteId;
use crate::benchmark::{JudgeMode, Suite, SuiteData};
use crate::judging::verdict::{Verdict, VerdictError};
use crate::language::Language;
use crate::sha256::sha256;

/// What begins the name of the suite of a campaign's prompts. No suite of a file can have it, and no list shows what does.
pub const SUITE_PREFIX: &str = "campaign:";

/// What one item asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignPrompt {
    /// Where it stands, for messages, such as `line 3`.
    pub place: String,
    /// The item's id.
    pub item: String,
    /// What annotators read.
    pub prompt: String,
    /// What models are asked.
    pub messages: Vec<Message>,
    /// An answer that is known to be good; empty where there is none.
    pub reference: String,
    /// What the item is about; may be empty.
    pub category: String,
    /// Its language; may be empty.
    pub language: String,
}

impl CampaignPrompt {
    /// An answer to it.
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

    /// The item of the suite that asks it. Its id is made of what is asked: another prompt is another item, and what was answered to
    /// this one stays whatever else changes.
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

/// Whether an answer can be shown to annotators: it says something, and no more than anybody reads.
#[must_use]
pub fn is_shown(answer: &str) -> bool {
    !answer.trim().is_empty() && !answer.contains('\0') && answer.chars().count() <= MAX_TEXT
}

/// Checks that each item is asked once, with a question at its end.
///
/// # Errors
/// [`ItemError`] for the first that is not.
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

/// The suite of a campaign's prompts.
pub struct PromptSuite {
    name: String,
}

impl PromptSuite {
    /// That of the campaign with this id.
    #[must_use]
    pub fn new(campaign: &str) -> Self {
        Self { name: format!("{SUITE_PREFIX}{campaign}") }
    }

    /// Its key.
    #[must_use]
    pub fn id(&self) -> SuiteId {
        SuiteId::new(&self.name)
    }

    /// Its items. The version is the same whatever they are, so that a prompt that is added or taken out makes no answer to another one
    /// be asked for again.
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

    /// A line for each item, as the database has it.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, |item: Item| match messages(&item) {
            Some(_) => Ok(item),
            None => Err(DataProblem::Empty("the list of messages")),
        })
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<Ask> {
        let messages = messages(item).filter(|_| answers.is_empty());
        messages.map(|messages| Ask { turn: 1, messages, sampling: ItemSampling::default() }).into_iter().collect()
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
        // What is added or taken out changes neither the version nor the other items.
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
        assert!(!is_shown(" \n") && !is_shown("a\0b") && !is_shown(&"x".repeat(MAX_TEXT + 1)));
        assert_eq!(row("line 1", "p", Vec::new()).answered("m", "So.").category, "facts");
    }
}
