//! Languages of prompts, pages, charts and reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Language of langya's texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    /// English, the default.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// Every language, in the order in which pages offer them.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the language tag: `en` or `zh`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Parses a language tag such as `zh-CN`; `None` for any other language.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.code() == primary)
    }

    /// Returns the language's name in the language itself.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }
}
