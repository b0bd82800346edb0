//! Receipt of a vote.

use serde::{Deserialize, Serialize};

use super::model_card::ModelCard;
use super::record::ReplyRow;
use super::{Outcome, Side};

/// Receipt of a vote; the same on every retry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The vote's id.
    pub vote: String,
    /// Outcome of the vote that counts, the first one.
    pub outcome: Outcome,
    /// Agreement of earlier votes on this pair; `None` where there are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowd: Option<CrowdAgreement>,
    /// The model on side A.
    pub a: Revealed,
    /// The model on side B; `None` where one answered alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<Revealed>,
    /// Rule that excludes the vote from the ratings; `None` for a rated vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<ExclusionNotice>,
    /// Rule that applies to a vote which is still rated, because the operator set the rule to mark only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<ExclusionNotice>,
    /// Deadline for inclusion in the public log, in milliseconds since 1970; `None` without a promise, as while the log was behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_by: Option<i64>,
    /// Signed promise of inclusion. Derived from the vote, and not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
}

/// Share of earlier votes on a pair with the outcome of the new vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrowdAgreement {
    /// Earlier votes with the same outcome.
    pub same: u64,
    /// All earlier rated votes on the pair.
    pub votes: u64,
}

/// Notice to the voter about a rule that applies to the vote. Stored unchanged, even if the exclusion is withdrawn later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExclusionNotice {
    /// Name of the rule.
    pub rule: String,
    /// Reason why the rule applies to this vote.
    pub reason: String,
}

/// Model of a battle as revealed after the vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revealed {
    /// Its id, name, organization and licence.
    #[serde(flatten)]
    pub card: ModelCard,
    /// Its Elo rating before the vote.
    pub rating: f64,
    /// Change of that rating by the vote.
    pub rating_change: f64,
    /// Time from the request to its first token.
    pub first_token_ms: Option<u64>,
    /// Time from the request to its end.
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
    /// Currency of both prices.
    pub currency: String,
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens.
    pub output: f64,
}

impl Receipt {
    /// Adds the reasoning, which is stored with the replies and not with the vote.
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
