//! File format of judge prompts, built-in ones and custom ones of `--prompt FILE`.
//!
//! ```toml
//! system = "You are a strict judge. {rubric}"   # optional
//! user = "{question} … {answer}"
//!
//! [variants.CM]                                 # overrides for one task, language or kind of question
//! rubric = "Does the answer use what was said before?"
//! ```
//!
//! `{name}` is a field that the suite fills, or a text of the variant. Other braces are literal. A file that is not TOML of this form is
//! one user message in full; JSON lines in the format of FastChat's judge prompts (`name`, `system_prompt`, `prompt_template`) are variants
//! by name.

use std::collections::BTreeMap;

use serde::Deserialize;

/// System message, user message, and texts that they reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PromptText {
    /// System message, if any.
    pub system: Option<String>,
    /// User message to the judge.
    pub user: Option<String>,
    /// Further texts by the name that `{name}` references.
    #[serde(flatten)]
    pub texts: BTreeMap<String, String>,
}

/// File of judge prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PromptFile {
    #[serde(flatten)]
    base: PromptText,
    #[serde(default)]
    variants: BTreeMap<String, PromptText>,
}

/// Line of a FastChat file.
#[derive(Deserialize)]
struct FastChatLine {
    name: String,
    system_prompt: String,
    prompt_template: String,
}

impl PromptFile {
    /// Parses a file in one of the three formats; any text is at least a user message.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self::from_toml(text).or_else(|| Self::from_fastchat(text)).unwrap_or_else(|| Self::plain(text))
    }

    /// Returns the texts of a variant, with those at the beginning of the file as fallback.
    #[must_use]
    pub fn variant(&self, name: &str) -> PromptText {
        merged(self.variants.get(name).cloned().unwrap_or_default(), &self.base)
    }

    /// Merges in the texts that this file lacks from another one. A user message without fields replaces those of all variants.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        if self.base.user.is_some() {
            return self;
        }
        for (name, text) in &other.variants {
            self.variants.entry(name.clone()).or_insert_with(|| text.clone());
        }
        Self { base: merged(self.base, &other.base), ..self }
    }

    fn from_toml(text: &str) -> Option<Self> {
        let file: Self = toml::from_str(text).ok()?;
        let has_user = |text: &PromptText| text.user.is_some();
        (has_user(&file.base) || file.variants.values().any(has_user)).then_some(file)
    }

    fn from_fastchat(text: &str) -> Option<Self> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<FastChatLine> = lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<_>>()?;
        let variants = lines.into_iter().map(|line| {
            let system = (!line.system_prompt.is_empty()).then_some(line.system_prompt);
            (line.name, PromptText { system, user: Some(line.prompt_template), texts: BTreeMap::new() })
        });
        let variants: BTreeMap<_, _> = variants.collect();
        (!variants.is_empty()).then_some(Self { base: PromptText::default(), variants })
    }

    fn plain(text: &str) -> Self {
        Self { base: PromptText { user: Some(text.to_owned()), ..PromptText::default() }, ..Self::default() }
    }
}

/// Merges in the parts that a text lacks from another one.
fn merged(mut text: PromptText, other: &PromptText) -> PromptText {
    text.system = text.system.or_else(|| other.system.clone());
    text.user = text.user.or_else(|| other.user.clone());
    for (name, words) in &other.texts {
        text.texts.entry(name.clone()).or_insert_with(|| words.clone());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_takes_from_the_head_what_it_does_not_say() {
        let file = PromptFile::parse(
            "system = 's {rubric}'\nuser = 'u'\n[variants.CM]\nrubric = 'r'\n[variants.MR]\nuser = 'm'",
        );
        assert_eq!(file.variant("CM").user.as_deref(), Some("u"));
        assert_eq!(file.variant("CM").texts["rubric"], "r");
        assert_eq!(file.variant("MR").user.as_deref(), Some("m"));
        assert_eq!(file.variant("other").system.as_deref(), Some("s {rubric}"));
    }

    #[test]
    fn fastchats_lines_are_variants_by_name() {
        let file = PromptFile::parse(
            "{\"name\": \"pair-v2\", \"type\": \"pairwise\", \"system_prompt\": \"be fair\", \
             \"prompt_template\": \"{question} {answer_a} {answer_b}\"}\n",
        );
        assert_eq!(file.variant("pair-v2").system.as_deref(), Some("be fair"));
        assert_eq!(file.variant("pair-v2").user.as_deref(), Some("{question} {answer_a} {answer_b}"));
        assert_eq!(file.variant("single-v1").user, None);
    }

    #[test]
    fn any_other_text_is_a_user_message_as_it_stands() {
        let file = PromptFile::parse("\u{feff}请评分：{question}\n{'综合得分': 7}");
        assert_eq!(file.variant("x").user.as_deref(), Some("请评分：{question}\n{'综合得分': 7}"));
    }
}
