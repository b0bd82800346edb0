//! The rules of pairing and rating that the settings come to.

use super::{PairingPolicySetting, PairingSettings, RatingSettings};
use crate::domain::battle::pairing::{PairingRules, Policy};
use crate::domain::rating::FitError;
use crate::domain::rating::neighbours::SequentialOptions;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::stats::confidence::ConfidenceLevel;

impl PairingSettings {
    /// The pairing rules.
    #[must_use]
    pub fn rules(&self) -> PairingRules {
        PairingRules {
            policy: match self.policy {
                PairingPolicySetting::Uniform => Policy::Uniform,
                PairingPolicySetting::Weighted => Policy::Weighted,
                PairingPolicySetting::Elo => Policy::Elo,
                PairingPolicySetting::Active => Policy::Active,
            },
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
            sequential: Some(SequentialOptions { equal_within: self.equal_within, tuned_battles: self.tuned_battles }),
            ..LeaderboardOptions::default()
        })
    }
}
