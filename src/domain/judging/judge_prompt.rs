//! Fills judge prompt templates in one pass: inserted texts are never expanded, so `{answer}` in a question stays text.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::prompt_file::PromptText;
use crate::battle::message::{Message, MessageRole};
use crate::hex::hex;

/// Template fields that a suite fills.
#[derive(Debug, Clone, Copy)]
pub struct JudgePromptFields {
    /// Required fields, which show the judge what to judge.
    pub required: &'static [&'static str],
    /// Optional fields.
    pub optional: &'static [&'static str],
}

/// Error of an unusable judge prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgePromptError {
    /// The prompt has no user message.
    #[error("the prompt file has no user text for {0:?}: add user = \"…\" at its head or under [variants.{0}]")]
    NoUser(String),
    /// A field is missing.
    #[error("the prompt for {variant:?} has no {{{field}}}: put it where that text belongs")]
    MissingField {
        /// Variant of the prompt.
        variant: String,
        /// Name of the missing field.
        field: String,
    },
}

/// Judge prompt template.
#[derive(Debug, Clone)]
pub struct JudgePrompt {
    system: Option<FieldTemplate>,
    user: FieldTemplate,
}

impl JudgePrompt {
    /// Parses a prompt into a template.
    ///
    /// # Errors
    /// [`JudgePromptError`] if the user message or a required field is missing.
    pub fn new(variant: &str, text: &PromptText, fields: JudgePromptFields) -> Result<Self, JudgePromptError> {
        let user = text.user.as_deref().ok_or_else(|| JudgePromptError::NoUser(variant.to_owned()))?;
        let template = |part: &str| FieldTemplate::parse(part, fields, text);
        let judge_prompt = Self { system: text.system.as_deref().map(template), user: template(user) };
        let known = judge_prompt.fields();
        match fields.required.iter().find(|field| !known.contains(*field)) {
            None => Ok(judge_prompt),
            Some(field) => {
                Err(JudgePromptError::MissingField { variant: variant.to_owned(), field: (*field).to_owned() })
            }
        }
    }

    /// Returns the filled messages to the judge. Fields without a value are left empty.
    #[must_use]
    pub fn messages(&self, values: &[(&str, &str)]) -> Vec<Message> {
        let system = self.system.as_ref().map(|text| Message::system(text.fill(values)));
        system.into_iter().chain([Message::user(self.user.fill(values))]).collect()
    }

    fn fields(&self) -> BTreeSet<&str> {
        self.system.iter().chain([&self.user]).flat_map(FieldTemplate::fields).collect()
    }
}

/// Text with fields.
#[derive(Debug, Clone)]
struct FieldTemplate(Vec<RubricPart>);

#[derive(Debug, Clone)]
enum RubricPart {
    Text(String),
    Field(&'static str),
}

impl FieldTemplate {
    fn parse(text: &str, fields: JudgePromptFields, named: &PromptText) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_braces(rest) {
            let field = fields.required.iter().chain(fields.optional).find(|field| **field == name);
            let part = match (field, named.texts.get(name)) {
                (Some(field), _) => RubricPart::Field(field),
                (None, Some(text)) => RubricPart::Text(text.clone()),
                (None, None) => {
                    // A literal brace, such as that of an example: continue right after it.
                    let brace = before.len() + 1;
                    parts.push(RubricPart::Text(rest[..brace].to_owned()));
                    rest = &rest[brace..];
                    continue;
                }
            };
            parts.extend([RubricPart::Text(before.to_owned()), part]);
            rest = after;
        }
        parts.push(RubricPart::Text(rest.to_owned()));
        Self(parts)
    }

    fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            RubricPart::Field(name) => Some(*name),
            RubricPart::Text(_) => None,
        })
    }

    fn fill(&self, values: &[(&str, &str)]) -> String {
        let value = |name| values.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| *value);
        let parts = self.0.iter().map(|part| match part {
            RubricPart::Text(text) => text.as_str(),
            RubricPart::Field(name) => value(*name),
        });
        parts.collect()
    }
}

/// Returns the text before, inside and after the next pair of braces.
fn next_braces(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// Computes the SHA-256 of a prompt's messages in hexadecimal: roles and texts, each preceded by its length.
#[must_use]
pub fn prompt_sha256(messages: &[Message]) -> String {
    let mut digest = Sha256::new();
    for message in messages {
        let role = match message.role {
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        };
        digest.update(format!("{role} {}\n", message.content.len()));
        digest.update(&message.content);
    }
    hex(&digest.finalize())
}

/// Appends a reminder of the reply format to the last message: a judge at temperature 0 would otherwise repeat its reply.
#[must_use]
pub fn with_reminder(messages: &[Message], reminder: &str) -> Vec<Message> {
    let mut messages = messages.to_vec();
    if let Some(last) = messages.last_mut() {
        last.content.push_str("\n\n");
        last.content.push_str(reminder);
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::prompt_file::PromptFile;

    const FIELDS: JudgePromptFields = JudgePromptFields { required: &["question", "answer"], optional: &["reference"] };

    fn judge_prompt(text: &str) -> Result<JudgePrompt, JudgePromptError> {
        JudgePrompt::new("all", &PromptFile::parse(text).variant("all"), FIELDS)
    }

    #[track_caller]
    fn check(template: &str, values: &[(&str, &str)], expected: &str) {
        assert_eq!(judge_prompt(template).unwrap().messages(values)[0].content, expected);
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        check(
            "{question}/{answer}",
            &[("question", "{answer} {"), ("answer", "}{question}")],
            "{answer} {/}{question}",
        );
    }

    #[test]
    fn braces_that_name_no_field_stand_for_themselves() {
        let values = [("question", "q"), ("answer", "a")];
        check("{{question}} {'综合得分': {answer}} {} {", &values, "{q} {'综合得分': a} {} {");
    }

    #[test]
    fn a_field_without_a_value_is_left_empty() {
        check("{question}{answer}[{reference}]", &[("question", "q"), ("answer", "a")], "qa[]");
    }

    #[test]
    fn a_prompt_without_a_field_is_refused_with_its_name() {
        let error = judge_prompt("{question}").unwrap_err();
        assert_eq!(error.to_string(), "the prompt for \"all\" has no {answer}: put it where that text belongs");
    }

    #[test]
    fn texts_of_a_variant_are_brought_in_by_name() {
        let text = "system = '{rubric}!'\nuser = '{question}{answer}'\n[variants.all]\nrubric = 'be {kind}'";
        assert_eq!(judge_prompt(text).unwrap().messages(&[])[0], Message::system("be {kind}!"));
    }

    #[test]
    fn the_hash_tells_where_one_message_ends() {
        let one = [Message::user("ab"), Message::user("c")];
        let other = [Message::user("a"), Message::user("bc")];
        assert_ne!(prompt_sha256(&one), prompt_sha256(&other));
        assert_ne!(prompt_sha256(&[Message::user("a"), Message::user("b")]), prompt_sha256(&[Message::user("auserb")]));
        assert_eq!(prompt_sha256(&one), prompt_sha256(&one.clone()));
    }

    #[test]
    fn a_reminder_stands_behind_the_last_message() {
        let messages = with_reminder(&[Message::system("s"), Message::user("u")], "as [[n]]");
        assert_eq!(messages, [Message::system("s"), Message::user("u\n\nas [[n]]")]);
    }
}
