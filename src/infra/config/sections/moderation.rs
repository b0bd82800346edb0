//! What may not be asked.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes of a compiled expression at the most.
const MOST_BYTES: usize = 1 << 20;

/// `[moderation]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModerationSettings {
    /// A prompt that one of these matches is refused before any model is asked.
    pub refuse: Vec<PromptPattern>,
}

impl ModerationSettings {
    /// The number of the first rule that a prompt matches, from 1.
    #[must_use]
    pub fn refuses(&self, prompt: &str) -> Option<usize> {
        self.refuse.iter().position(|pattern| pattern.0.is_match(prompt)).map(|at| at + 1)
    }
}

/// A regular expression, whose search takes time linear in the text.
#[derive(Clone)]
pub struct PromptPattern(Regex);

impl PromptPattern {
    fn parse(text: &str) -> Result<Self, regex::Error> {
        RegexBuilder::new(text).size_limit(MOST_BYTES).build().map(Self)
    }
}

impl PartialEq for PromptPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl fmt::Debug for PromptPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.as_str())
    }
}

impl Serialize for PromptPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for PromptPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|_| {
            de::Error::custom("moderation.refuse holds a text that is no regular expression, or one that is too large")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Settings};

    fn settings(rules: &str) -> Result<ModerationSettings, String> {
        let text = format!("[moderation]\nrefuse = {rules}\n");
        Settings::parse(&text, "test", &Environment::default())
            .map(|settings| settings.moderation)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_rule_that_matches_is_named() {
        let rules = settings(r#"['(?i)\bforbidden\b', "禁止"]"#).unwrap();
        for (prompt, expected) in
            [("Why is it FORBIDDEN?", Some(1)), ("这是禁止的吗？", Some(2)), ("unforbidden fruit", None), ("", None)]
        {
            assert_eq!(rules.refuses(prompt), expected, "{prompt}");
        }
        assert_eq!(ModerationSettings::default().refuses("anything"), None);
    }

    #[test]
    fn what_is_no_expression_is_told_without_its_text() {
        for rules in [r#"["(secret"]"#, r#"["(a{500}){500}"]"#] {
            let error = settings(rules).unwrap_err();
            assert!(error.contains("moderation.refuse") && !error.contains("secret"), "{error}");
        }
    }
}
