//! What a voter gets after the vote.

use serde::{Deserialize, Serialize};

use super::model_card::ModelCard;
use super::record::ReplyRow;
use super::{Outcome, Side};

/// What the voter gets: the same on every retry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The vote's id.
    pub vote: String,
    /// The vote that counts: the first one.
    pub outcome: Outcome,
    /// Agreement of earlier votes on this pair; `None` where there are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowd: Option<CrowdAgreement>,
    /// The model on side A.
    pub a: Revealed,
    /// The model on side B; `None` where one answered alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<Revealed>,
    /// Why the vote is not rated; `None` for a rated vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<ExclusionNotice>,
    /// A rule that applies to a vote which is rated all the same, because the operator set the rule to mark only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<ExclusionNotice>,
    /// When the vote is in the public log at the latest, in milliseconds since 1970; `None` where nothing was promised, as while
    /// the log was behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_by: Option<i64>,
    /// The signed promise of that. It follows from the vote, and is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
}

/// How many earlier votes on a pair say what one more vote says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrowdAgreement {
    /// Earlier votes with the same outcome.
    pub same: u64,
    /// All earlier rated votes on the pair.
    pub votes: u64,
}

/// What the voter reads about a rule that applies to the vote. It stays as it was said, also where the exclusion is
/// withdrawn later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExclusionNotice {
    /// Name of the rule.
    pub rule: String,
    /// Why the rule applies to this vote.
    pub reason: String,
}

/// A model after the vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revealed {
    /// Its names.
    #[serde(flatten)]
    pub card: ModelCard,
    /// Its Elo rating before the vote.
    pub rating: f64,
    /// How the vote moves that rating.
    pub rating_change: f64,
    /// From the request to its first token.
    pub first_token_ms: Option<u64>,
    /// From the request to its end.
    pub duration_ms: u64,
    /// Speed after the first token; `None` where it is too short to tell.
    pub chars_per_second: Option<f64>,
    /// Its price, where the settings have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<RevealedPrice>,
    /// Its reasoning by turn, where it has any. Kept with the replies, not with the vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<String>,
}

/// Price of a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevealedPrice {
    /// Currency of both.
    pub currency: String,
    /// Of what the model reads.
    pub input: f64,
    /// Of what it writes.
    pub output: f64,
}

impl Receipt {
    /// With the reasoning, which is kept with the replies and not with the vote.
    #[must_use]
    pub fn with_reasoning(mut self, replies: &[ReplyRow]) -> Self {
        self.a.reasoning = reasoning(replies, Side::A);
        if let Some(b) = &mut self.b {
            b.reasoning = reasoning(replies, Side::B);
        }
        self
    }
}

fn reasoning(replies: &[ReplyRow], side: Side) -> Vec<String> {
    let texts = replies.iter().filter(|row| row.reply.side == side).map(|row| row.reply.reasoning.clone());
    let texts: Vec<String> = texts.collect();
    if texts.iter().all(String::is_empty) { Vec::new() } else { texts }
}
