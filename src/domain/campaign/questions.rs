//! Questions in addition to the task: choices, scales and free text, about a whole item or each of its answers.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::is_id;
use super::invalid_judgement::{ANSWER_LETTERS, InvalidJudgement};
use crate::language::Language;

/// Maximum number of questions per campaign.
const MAX_QUESTIONS: usize = 20;
/// Maximum number of options of a choice.
const MAX_OPTIONS: usize = 20;
/// Maximum number of points of a scale.
pub(super) const MAX_SCALE_POINTS: u8 = 11;
/// Maximum length of a question or option, in characters.
const MAX_LABEL_CHARS: usize = 500;
/// Maximum length of a free text, in characters.
pub const MAX_FREE_TEXT_CHARS: usize = 2_000;

/// Question in a campaign file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CampaignQuestion")]
#[serde(deny_unknown_fields)]
pub struct CampaignQuestion {
    /// Id: lower-case letters, digits, `-` and `_`; names the series `campaign:CAMPAIGN:ID`.
    pub id: String,
    /// Text of the question.
    pub text: String,
    /// Text of the question in Chinese.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_zh: Option<String>,
    /// Explanation below the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// Explanation in Chinese.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning_zh: Option<String>,
    /// Kind of the answer.
    pub kind: QuestionKind,
    /// Subject of the question.
    #[serde(default)]
    pub about: Subject,
    /// Categories of the items that the question applies to; all items by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Options of a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Lowest and highest value of a scale.
    #[serde(default = "one_to_five")]
    #[schemars(with = "[i64; 2]")]
    pub scale: [u8; 2],
    /// Whether an answer is required; by default for all kinds but free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

/// Kind of answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// One of several options.
    Choice,
    /// A whole number on a scale.
    Scale,
    /// Free text.
    Text,
}

/// Subject of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "QuestionSubject")]
pub enum Subject {
    /// The item as a whole; for the task `score`, its one answer.
    #[default]
    Item,
    /// Each answer separately.
    Answer,
}

/// Value of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A point of a scale.
    #[schemars(with = "i64")]
    Point(u8),
    /// An option, or free text.
    Text(String),
}

/// Answer to a question: one value, or one by the letter of each shown answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QuestionAnswer {
    /// Value about the item.
    One(Value),
    /// Values about each answer, by its letter.
    Each(BTreeMap<String, Value>),
}

/// Answers of one judgement by question id.
pub type QuestionAnswers = BTreeMap<String, QuestionAnswer>;

fn one_to_five() -> [u8; 2] {
    [1, 5]
}

impl CampaignQuestion {
    /// Whether an answer is required.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(self.kind != QuestionKind::Text)
    }

    /// Returns the text in a language.
    #[must_use]
    pub fn text_in(&self, language: Language) -> &str {
        self.text_zh.as_deref().filter(|_| language == Language::Chinese).unwrap_or(&self.text)
    }

    /// Returns the explanation in a language.
    #[must_use]
    pub fn meaning_in(&self, language: Language) -> Option<&str> {
        self.meaning_zh.as_deref().filter(|_| language == Language::Chinese).or(self.meaning.as_deref())
    }

    /// Whether the question applies to items of this category.
    #[must_use]
    pub fn is_about(&self, category: &str) -> bool {
        let is_named = |name: &String| name.trim().eq_ignore_ascii_case(category.trim());
        self.categories.is_empty() || self.categories.iter().any(is_named)
    }

    /// Returns the points of the scale.
    #[must_use]
    pub fn points(&self) -> std::ops::RangeInclusive<u8> {
        self.scale[0]..=self.scale[1]
    }

    fn check(&self) -> Result<(), String> {
        let fail = |what: &str| Err(format!("question {:?}: {what}", self.id));
        let is_label =
            |text: &String| !text.trim().is_empty() && text.chars().count() <= MAX_LABEL_CHARS && !text.contains('\0');
        let [lowest, highest] = self.scale;
        if !is_id(&self.id) {
            return fail("its id is 1 to 64 lower-case letters, digits, - and _, beginning with a letter or digit");
        }
        let others = [&self.text_zh, &self.meaning, &self.meaning_zh];
        if !is_label(&self.text) || !others.into_iter().flatten().chain(&self.categories).all(is_label) {
            return fail(
                "its text is 1 to 500 characters, and so are its meaning, its categories and their Chinese texts",
            );
        }
        if (self.kind == QuestionKind::Choice) == self.options.is_empty() {
            return fail("a choice has options, and no other kind of question may have them");
        }
        let distinct: BTreeSet<&String> = self.options.iter().collect();
        if self.options.len() == 1 || self.options.len() > MAX_OPTIONS || distinct.len() < self.options.len() {
            return fail("give 2 to 20 options that differ");
        }
        if !self.options.iter().all(is_label) {
            return fail("an option is 1 to 500 characters");
        }
        if lowest >= highest || highest - lowest >= MAX_SCALE_POINTS {
            return fail("its scale is the lowest and then a higher value, such as [1, 5], with 11 points at most");
        }
        Ok(())
    }

    /// Validates an answer for this many shown answers.
    fn read(&self, sent: &QuestionAnswer, answers: usize) -> Result<QuestionAnswer, InvalidJudgement> {
        match (self.about, sent) {
            (Subject::Item, QuestionAnswer::One(value)) => Ok(QuestionAnswer::One(self.value(value)?)),
            (Subject::Answer, QuestionAnswer::Each(values)) => {
                let letters: BTreeSet<&str> = ANSWER_LETTERS[..answers].iter().copied().collect();
                let given: BTreeSet<&str> = values.keys().map(String::as_str).collect();
                let wanted = if self.is_required() { given == letters } else { given.is_subset(&letters) };
                if !wanted {
                    return Err(
                        self.invalid(&format!("has one value for each of {}", ANSWER_LETTERS[..answers].join(", ")))
                    );
                }
                let read = values.iter().map(|(letter, value)| Ok((letter.clone(), self.value(value)?)));
                Ok(QuestionAnswer::Each(read.collect::<Result<_, InvalidJudgement>>()?))
            }
            (Subject::Item, _) => Err(self.invalid("has one value")),
            (Subject::Answer, _) => Err(self.invalid("has a value by the letter of each answer")),
        }
    }

    fn value(&self, value: &Value) -> Result<Value, InvalidJudgement> {
        match (self.kind, value) {
            (QuestionKind::Choice, Value::Text(text)) if self.options.contains(text) => Ok(value.clone()),
            (QuestionKind::Scale, Value::Point(point)) if self.points().contains(point) => Ok(value.clone()),
            (QuestionKind::Text, Value::Text(text))
                if text.chars().count() <= MAX_FREE_TEXT_CHARS && !text.contains('\0') =>
            {
                Ok(Value::Text(text.trim().to_owned()))
            }
            (QuestionKind::Choice, _) => Err(self.invalid(&format!("is one of {:?}", self.options))),
            (QuestionKind::Scale, _) => {
                Err(self.invalid(&format!("is a whole number from {} to {}", self.scale[0], self.scale[1])))
            }
            (QuestionKind::Text, _) => Err(self.invalid("is a text of 2000 characters at most")),
        }
    }

    fn invalid(&self, what: &str) -> InvalidJudgement {
        InvalidJudgement(format!("the answer to {:?} {what}", self.id))
    }
}

/// Checks the questions of a file.
///
/// # Errors
/// Description of the first invalid question.
pub fn check(questions: &[CampaignQuestion]) -> Result<(), String> {
    let distinct: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    if questions.len() > MAX_QUESTIONS || distinct.len() < questions.len() {
        return Err("give at most 20 questions, each with an id of its own".into());
    }
    questions.iter().try_for_each(CampaignQuestion::check)
}

/// Item and answers that questions are asked about.
#[derive(Debug, Clone, Copy)]
pub struct QuestionContext<'a> {
    /// Category of the item; may be empty.
    pub category: &'a str,
    /// Number of shown answers.
    pub answers: usize,
}

/// Validates the answers sent with a judgement; an empty text is dropped.
///
/// # Errors
/// [`InvalidJudgement`] with the expected input.
pub fn read(
    questions: &[CampaignQuestion],
    sent: &QuestionAnswers,
    QuestionContext { category, answers }: QuestionContext<'_>,
) -> Result<QuestionAnswers, InvalidJudgement> {
    let asked: Vec<&CampaignQuestion> = questions.iter().filter(|question| question.is_about(category)).collect();
    if let Some(id) = sent.keys().find(|id| !asked.iter().any(|question| question.id == **id)) {
        return Err(InvalidJudgement(format!("no question {id:?} is asked about this item")));
    }
    let mut read = QuestionAnswers::new();
    for question in asked {
        let answer = sent.get(&question.id).map(|sent| question.read(sent, answers)).transpose()?;
        match answer.filter(|answer| *answer != QuestionAnswer::One(Value::Text(String::new()))) {
            Some(answer) => drop(read.insert(question.id.clone(), answer)),
            None if question.is_required() => return Err(question.invalid("is missing")),
            None => {}
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTIONS: &str = r#"[
        {"id": "clear", "text": "How clear?", "kind": "scale", "about": "answer"},
        {"id": "fair", "text": "Fair?", "kind": "choice", "options": ["yes", "no"]},
        {"id": "why", "text": "Why?", "kind": "text"}
    ]"#;

    fn questions() -> Vec<CampaignQuestion> {
        serde_json::from_str(QUESTIONS).unwrap()
    }

    fn read_answers(json: &str) -> Result<String, String> {
        let sent = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let about = QuestionContext { category: "", answers: 2 };
        let answers = read(&questions(), &sent, about).map_err(|error| error.to_string())?;
        Ok(serde_json::to_string(&answers).unwrap())
    }

    #[test]
    fn answers_are_read_and_an_empty_text_is_none() {
        let full = r#"{"clear":{"a":1,"b":5},"fair":"no","why":"Because."}"#;
        assert_eq!(read_answers(full), Ok(full.to_owned()));
        assert_eq!(
            read_answers(r#"{"clear":{"a":1,"b":5},"fair":"no","why":" "}"#),
            Ok(r#"{"clear":{"a":1,"b":5},"fair":"no"}"#.to_owned())
        );
    }

    #[test]
    fn what_is_no_answer_is_refused_with_what_to_send() {
        let long = format!(r#"{{"clear":{{"a":1,"b":5}},"fair":"no","why":"{}"}}"#, "x".repeat(2_001));
        for (json, words) in [
            (r#"{"fair":"no"}"#, "\"clear\" is missing"),
            (r#"{"clear":{"a":1},"fair":"no"}"#, "for each of a, b"),
            (r#"{"clear":{"a":1,"c":5},"fair":"no"}"#, "for each of a, b"),
            (r#"{"clear":3,"fair":"no"}"#, "by the letter"),
            (r#"{"clear":{"a":1,"b":6},"fair":"no"}"#, "from 1 to 5"),
            (r#"{"clear":{"a":1,"b":"x"},"fair":"no"}"#, "from 1 to 5"),
            (r#"{"clear":{"a":1,"b":5},"fair":"maybe"}"#, "one of [\"yes\", \"no\"]"),
            (r#"{"clear":{"a":1,"b":5},"fair":{"a":"yes"}}"#, "has one value"),
            (r#"{"clear":{"a":1,"b":5},"fair":"no","other":"x"}"#, "no question \"other\""),
            (long.as_str(), "2000 characters"),
        ] {
            let error = read_answers(json).unwrap_err();
            assert!(error.contains(words), "{json}: {error}");
        }
    }

    #[test]
    fn questions_that_cannot_be_asked_are_refused() {
        assert_eq!(check(&questions()), Ok(()));
        for (from, to, words) in [
            ("\"fair\"", "\"clear\"", "an id of its own"),
            ("\"fair\"", "\"Fair\"", "lower-case"),
            ("Fair?", "", "its text"),
            (r#"["yes", "no"]"#, r#"["yes"]"#, "2 to 20"),
            (r#"["yes", "no"]"#, r#"["yes", "yes"]"#, "2 to 20"),
            (r#"["yes", "no"]"#, "[]", "a choice has options"),
            (r#""scale", "about""#, r#""scale", "scale": [5, 1], "about""#, "a higher value"),
            (r#""scale", "about""#, r#""scale", "scale": [0, 100], "about""#, "11 points"),
        ] {
            let changed: Vec<CampaignQuestion> = serde_json::from_str(&QUESTIONS.replace(from, to)).unwrap();
            let error = check(&changed).unwrap_err();
            assert!(error.contains(words), "{to}: {error}");
        }
    }
}
