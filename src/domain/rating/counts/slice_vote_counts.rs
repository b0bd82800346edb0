//! Numbers of rated votes by language, category and intent: the values offered by the filters of a leaderboard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
