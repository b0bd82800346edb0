//! The rules of pairing and rating that the settings come to.

use super::{PairingPolicySetting, PairingSettings, RatingSettings};
use crate::domain::battle::pairing::{PairingRules, Policy};
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::sequential_testing::SequentialOptions;
use crate::domain::stats::confidence::ConfidenceLevel;

impl PairingPolicySetting {
    /// All policies.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Weighted, Self::Elo, Self::Active];

    /// The policy itself.
    #[must_use]
    pub fn policy(self) -> Policy {
        match self {
            Self::Uniform => Policy::Uniform,
            Self::Weighted => Policy::Weighted,
            Self::Elo => Policy::Elo,
            Self::Active => Policy::Active,
        }
    }
}

/// A text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected uniform, weighted, elo or active")]
pub struct UnknownPolicy;

impl std::str::FromStr for PairingPolicySetting {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        Self::ALL.into_iter().find(|setting| setting.policy().as_str() == text).ok_or(UnknownPolicy)
    }
}

impl PairingSettings {
    /// The pairing rules.
    #[must_use]
    pub fn rules(&self) -> PairingRules {
        PairingRules {
            policy: self.policy.policy(),
            uniform_share: self.uniform_share,
            elo_width: self.elo_width,
            new_model_votes: self.new_model_votes,
            new_model_boost: self.new_model_boost,
        }
    }
}

impl RatingSettings {
    /// The options of the published leaderboard.
    ///
    /// # Errors
    /// [`FitError`] for an invalid confidence level.
    pub fn leaderboard_options(&self) -> Result<LeaderboardOptions, FitError> {
        Ok(LeaderboardOptions {
            confidence: ConfidenceLevel::new(self.confidence)?,
            interval: self.interval,
            min_votes: self.min_votes,
            sequential: Some(SequentialOptions {
                equal_within: self.equal_within,
                optimal_at_battles: self.optimal_at_battles,
            }),
            ..LeaderboardOptions::default()
        })
    }
}
