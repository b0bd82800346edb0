//! Converts the settings to pairing and rating rules.

use super::{PairingPolicySetting, PairingSettings, RatingSettings};
use crate::domain::battle::pairing::{PairingRules, Policy};
use crate::domain::rating::FitError;
use crate::domain::rating::intervals::sequential_testing::SequentialOptions;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::stats::confidence::ConfidenceLevel;

impl PairingPolicySetting {
    /// All policies.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Weighted, Self::Elo, Self::Active];

    /// Returns the domain's policy.
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

/// Text that is not a policy.
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
    /// Returns the pairing rules.
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
    /// Returns the options of the published leaderboard.
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
