//! Text counts of a battle's replies under the names of LMArena's logs (`conv_metadata`).

use serde::Serialize;

use crate::domain::battle::text_counts::TextCounts;

/// Text counts under LMArena's names; `None` if the counts of a battle are unknown.
#[derive(Serialize)]
pub struct ConversationMetadata {
    sum_assistant_a_tokens: Option<u64>,
    sum_assistant_b_tokens: Option<u64>,
    header_count_a: HeaderCount,
    header_count_b: HeaderCount,
    list_count_a: ListCount,
    list_count_b: ListCount,
    bold_count_a: BoldCount,
    bold_count_b: BoldCount,
}

#[derive(Serialize)]
struct HeaderCount {
    h1: Option<u64>,
    h2: Option<u64>,
    h3: Option<u64>,
    h4: Option<u64>,
    h5: Option<u64>,
    h6: Option<u64>,
}

#[derive(Serialize)]
struct ListCount {
    ordered: Option<u64>,
    unordered: Option<u64>,
}

#[derive(Serialize)]
struct BoldCount {
    #[serde(rename = "**")]
    stars: Option<u64>,
    #[serde(rename = "__")]
    underscores: Option<u64>,
}

impl ConversationMetadata {
    /// Converts the counts of both sides. All counts at 0 mean unknown, since votes from a file without counts are stored so: two replies
    /// are never both empty.
    #[must_use]
    pub fn new(counts: &[TextCounts; 2]) -> Self {
        let is_known = *counts != [TextCounts::default(); 2];
        let known = |count: u64| is_known.then_some(count);
        let [a, b] = counts;
        let headers = |of: &TextCounts| {
            let [h1, h2, h3, h4, h5, h6] = of.headings.map(known);
            HeaderCount { h1, h2, h3, h4, h5, h6 }
        };
        let lists = |of: &TextCounts| ListCount { ordered: known(of.ordered), unordered: known(of.unordered) };
        let bold = |of: &TextCounts| BoldCount { stars: known(of.bold_stars), underscores: known(of.bold_underscores) };
        Self {
            sum_assistant_a_tokens: known(a.tokens),
            sum_assistant_b_tokens: known(b.tokens),
            header_count_a: headers(a),
            header_count_b: headers(b),
            list_count_a: lists(a),
            list_count_b: lists(b),
            bold_count_a: bold(a),
            bold_count_b: bold(b),
        }
    }
}
