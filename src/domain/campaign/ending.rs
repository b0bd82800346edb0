//! What ends a campaign before every unit has all of its judgements.

use serde::{Deserialize, Serialize};

/// What a campaign waits for besides the judgements of each unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndCondition {
    /// Each model and the next are told apart, or known to be equal.
    Separated,
}

/// Why nobody is asked any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// [`EndCondition::Separated`].
    Separated,
    /// There are as many judgements as the file allows.
    MaxJudgements,
}

impl EndReason {
    /// All reasons.
    pub const ALL: [Self; 2] = [Self::Separated, Self::MaxJudgements];

    /// The word of the database and of answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Separated => "separated",
            Self::MaxJudgements => "max_judgements",
        }
    }
}

/// That nobody is asked any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CampaignEnding {
    /// Why.
    pub because: EndReason,
    /// Since when, in milliseconds since 1970.
    pub at: i64,
}
