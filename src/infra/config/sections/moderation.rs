//! Refusal rules for prompts and the moderation endpoint.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::config::ConfigError;
use crate::config::value_checks::{is_variable_name, is_web_address, require, require_as};
use crate::domain::moderation::{ANY_CATEGORY, CategoryRules, is_category};
use crate::domain::settings_rule::{AddressRule, NumberRule, RefusedValue, TextRule, VariableRule};

/// Maximum size of a compiled expression in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// `[moderation]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModerationSettings {
    /// Patterns of refused prompts, checked before any model is asked.
    #[serde(deserialize_with = "patterns")]
    pub refuse: Vec<PromptPattern>,
    /// Base address of a moderation endpoint, such as `https://api.openai.com/v1`; empty for none.
    pub base_url: String,
    /// Model of the endpoint; empty if it has only one.
    pub model: String,
    /// Name of the environment variable that holds the key.
    pub api_key_env: String,
    /// Timeout of the endpoint in milliseconds.
    pub timeout_ms: u64,
    /// Categories that refuse a prompt; `*` stands for all.
    pub refuse_categories: Vec<String>,
    /// Categories that queue a prompt for review.
    pub flag_categories: Vec<String>,
    /// Decision on a prompt if the endpoint does not answer.
    pub on_failure: OnFailure,
    /// Whether the replies of a battle are moderated too, after its vote.
    pub replies: bool,
}

/// Decision on a prompt that the endpoint could not check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The battle starts.
    Allow,
    /// The battle is refused.
    Refuse,
}

impl Default for ModerationSettings {
    fn default() -> Self {
        Self {
            refuse: Vec::new(),
            base_url: String::new(),
            model: "omni-moderation-latest".to_owned(),
            api_key_env: String::new(),
            timeout_ms: 2_000,
            refuse_categories: Vec::new(),
            flag_categories: vec![ANY_CATEGORY.to_owned()],
            on_failure: OnFailure::Allow,
            replies: false,
        }
    }
}

impl ModerationSettings {
    /// Returns the categories that refuse and those that flag.
    #[must_use]
    pub fn categories(&self) -> CategoryRules<'_> {
        CategoryRules { refuse: &self.refuse_categories, flag: &self.flag_categories }
    }

    /// Returns the host of the endpoint; `None` if there is none.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        reqwest::Url::parse(&self.base_url).ok()?.host_str().map(str::to_owned)
    }

    /// Checks that the endpoint's address and key variable are usable.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require_as(
            self.base_url.is_empty() || is_web_address(&self.base_url),
            "moderation.base_url",
            RefusedValue::NotAnEndpoint,
            AddressRule::ModerationOrNone,
        )?;
        require_as(
            self.api_key_env.is_empty() || is_variable_name(&self.api_key_env),
            "moderation.api_key_env",
            RefusedValue::Unusable,
            VariableRule::KeyName,
        )?;
        let timeout = self.timeout_ms;
        let rule = NumberRule::Between(50, 10_000);
        require((50..=10_000).contains(&timeout), "moderation.timeout_ms", timeout, rule)?;
        for (key, list) in [
            ("moderation.refuse_categories", &self.refuse_categories),
            ("moderation.flag_categories", &self.flag_categories),
        ] {
            let unknown = list.iter().find(|name| *name != ANY_CATEGORY && !is_category(name));
            require(unknown.is_none(), key, format!("{:?}", unknown.map_or("", |name| name)), TextRule::Categories)?;
        }
        Ok(())
    }

    /// Returns the number of the first rule that a prompt matches, from 1.
    #[must_use]
    pub fn refuses(&self, prompt: &str) -> Option<usize> {
        self.refuse.iter().position(|pattern| pattern.0.is_match(prompt)).map(|at| at + 1)
    }
}

/// Regular expression; matching takes time linear in the text.
#[derive(Clone)]
pub struct PromptPattern(Regex);

impl PromptPattern {
    fn parse(text: &str) -> Result<Self, regex::Error> {
        RegexBuilder::new(text).size_limit(MAX_COMPILED_BYTES).build().map(Self)
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

/// Parses a list of expressions. An invalid one is named by its position: its text may be confidential.
fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PromptPattern>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let parse = |(place, text): (usize, &String)| {
        PromptPattern::parse(text).map_err(|error| {
            let (number, reason) = (place + 1, reason(&error));
            de::Error::custom(format!("moderation.refuse: expression {number} of the list cannot be used: {reason}"))
        })
    };
    texts.iter().enumerate().map(parse).collect()
}

/// Returns the error of an expression without its text.
fn reason(error: &regex::Error) -> &str {
    let known = match error {
        // The lines before the last one repeat the expression.
        regex::Error::Syntax(text) => text.lines().last().and_then(|line| line.strip_prefix("error: ")),
        regex::Error::CompiledTooBig(_) => Some("it is too large"),
        _ => None,
    };
    known.unwrap_or("it is no regular expression")
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
    fn what_is_no_expression_is_refused_without_its_text() {
        for rules in [r#"["(secret"]"#, r#"["(a{500}){500}"]"#] {
            let error = settings(rules).unwrap_err();
            assert!(error.contains("moderation.refuse") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_used_is_named_by_its_place_and_its_fault() {
        for (rules, said) in [
            (r#"["fine", "(secret"]"#, "expression 2 of the list cannot be used: unclosed group"),
            (r#"["(a{500}){500}", "fine"]"#, "expression 1 of the list cannot be used: it is too large"),
        ] {
            let error = settings(rules).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
