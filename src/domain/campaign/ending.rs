//! Conditions that end a campaign before every unit has all of its judgements.

use serde::{Deserialize, Serialize};

/// Additional condition for the end of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndCondition {
    /// Neighbouring models on the leaderboard are separated, or known to be equal.
    Separated,
}

/// Reason for ending a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// [`EndCondition::Separated`].
    Separated,
    /// The number of judgements reached the plan's maximum.
    MaxJudgements,
}

impl EndReason {
    /// All reasons.
    pub const ALL: [Self; 2] = [Self::Separated, Self::MaxJudgements];

    /// Returns the name in the database and in API responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Separated => "separated",
            Self::MaxJudgements => "max_judgements",
        }
    }
}

/// End of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CampaignEnding {
    /// Reason of the end.
    pub because: EndReason,
    /// Time of the end, in milliseconds since 1970.
    pub at: i64,
}
