//! Numbers of rated votes by language, category and intent: the values offered by the filters of a leaderboard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::language::is_same_language;

/// Number of rated votes for each language, category and intent. Votes without such a value are not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceVoteCounts {
    /// Votes by language.
    pub languages: BTreeMap<String, u64>,
    /// Votes by category.
    pub categories: BTreeMap<String, u64>,
    /// Votes by intent.
    pub intents: BTreeMap<String, u64>,
}

impl SliceVoteCounts {
    /// Returns the text under which a language is counted; the given text if no vote is in this language.
    #[must_use]
    pub fn language_key<'t>(&'t self, language: &'t str) -> &'t str {
        let counted = self.languages.keys().find(|key| is_same_language(key, language));
        counted.map_or(language, String::as_str)
    }
}
