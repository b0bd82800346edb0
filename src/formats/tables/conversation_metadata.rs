//! What the replies of a battle look like, under the names of LMArena's logs (`conv_metadata`).

use serde::Serialize;

use crate::domain::battle::text_counts::TextCounts;

/// Text counts under LMArena's names.
#[derive(Serialize)]
pub struct ConversationMetadata {
    sum_assistant_a_tokens: u64,
    sum_assistant_b_tokens: u64,
    header_count_a: HeaderCount,
    header_count_b: HeaderCount,
    list_count_a: ListCount,
    list_count_b: ListCount,
    bold_count_a: BoldCount,
    bold_count_b: BoldCount,
}

#[derive(Serialize)]
struct HeaderCount {
    h1: u64,
    h2: u64,
    h3: u64,
    h4: u64,
    h5: u64,
    h6: u64,
}

#[derive(Serialize)]
struct ListCount {
    ordered: u64,
    unordered: u64,
}

#[derive(Serialize)]
struct BoldCount {
    #[serde(rename = "**")]
    stars: u64,
    #[serde(rename = "__")]
    underscores: u64,
}

impl ConversationMetadata {
    /// From the counts of both sides.
    #[must_use]
    pub fn new([a, b]: &[TextCounts; 2]) -> Self {
        Self {
            sum_assistant_a_tokens: a.tokens,
            sum_assistant_b_tokens: b.tokens,
            header_count_a: a.into(),
            header_count_b: b.into(),
            list_count_a: ListCount { ordered: a.ordered, unordered: a.unordered },
            list_count_b: ListCount { ordered: b.ordered, unordered: b.unordered },
            bold_count_a: BoldCount { stars: a.bold_stars, underscores: a.bold_underscores },
            bold_count_b: BoldCount { stars: b.bold_stars, underscores: b.bold_underscores },
        }
    }
}

impl From<&TextCounts> for HeaderCount {
    fn from(counts: &TextCounts) -> Self {
        let [h1, h2, h3, h4, h5, h6] = counts.headings;
        Self { h1, h2, h3, h4, h5, h6 }
    }
}
