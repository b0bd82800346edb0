//! Settings of ratings, benchmarks and judges.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ModelSettings;
use crate::config::ConfigError;
use crate::config::value_checks::{require, require_as};
use crate::domain::rating::intervals::sequential_testing::SequentialOptions;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::value::prices::Currency;
use crate::domain::settings_rule::{MAX_EXPECTED_BATTLES, NumberRule, RefusedValue, TextRule};
use crate::domain::stats::confidence::{self, ConfidenceLevel};

/// `[rating]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingSettings {
    /// Minimum time between two fits, in milliseconds.
    pub debounce_ms: u64,
    /// Number of new rated votes that triggers a leaderboard update.
    pub group_votes: u32,
    /// Interval in seconds after which fewer votes, and unrated ones, trigger an update; aligned to multiples of it.
    pub group_seconds: u32,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Method of the intervals: `"auto"` (leave-one-voter-out jackknife where voters are known), `"jackknife"`, `"cluster"`, `"sandwich"`,
    /// `"bootstrap"` or `"none"`.
    pub interval: IntervalMethod,
    /// Number of rated votes below which a model is provisional.
    pub min_votes: u64,
    /// Rating difference below which neighbours on the leaderboard count as equal.
    pub equal_within: f64,
    /// Battles per model at which the anytime-valid intervals between neighbours are narrowest.
    pub optimal_at_battles: u64,
}

impl RatingSettings {
    /// Returns the publication interval of leaderboards while few votes arrive.
    #[must_use]
    pub fn leaderboards_every(&self) -> Duration {
        Duration::from_secs(self.group_seconds.into())
    }
}

impl Default for RatingSettings {
    fn default() -> Self {
        let SequentialOptions { equal_within, optimal_at_battles } = SequentialOptions::default();
        Self {
            debounce_ms: 250,
            group_votes: 5,
            group_seconds: 10,
            confidence: 0.95,
            interval: IntervalMethod::Auto,
            min_votes: 30,
            equal_within,
            optimal_at_battles,
        }
    }
}

/// `[bench]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BenchSettings {
    /// Attempts of one request before it counts as failed.
    pub attempts: u32,
    /// Maximum wait before the second attempt, in milliseconds; doubled for each one after it.
    pub backoff_ms: u64,
    /// Consecutive failed requests, retries included, after which a run stops asking a model.
    pub give_up_after: u32,
}

impl Default for BenchSettings {
    fn default() -> Self {
        Self { attempts: 4, backoff_ms: 1_000, give_up_after: 16 }
    }
}

/// `[judge]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeSettings {
    /// Ids of the models that judge battles after the vote; if empty, no battle is judged.
    pub models: Vec<String>,
    /// Share of rated battles that is judged, 0 to 1.
    pub share: f64,
    /// Seed of the sample of battles.
    pub seed: u64,
    /// Maximum requests to judges per day (UTC); 0 means no limit.
    pub max_calls_per_day: u64,
    /// Maximum cost of judging per day, in the currency of the models' prices; 0 means no limit.
    pub budget_per_day: f64,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self { models: Vec::new(), share: 0.1, seed: 0, max_calls_per_day: 1_000, budget_per_day: 0.0 }
    }
}

/// `[prices]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PriceSettings {
    /// Currency of all prices.
    pub currency: Currency,
}

impl Default for PriceSettings {
    fn default() -> Self {
        Self { currency: "USD".parse().expect("a currency") }
    }
}

impl RatingSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require(
            ConfidenceLevel::new(self.confidence).is_ok(),
            "rating.confidence",
            confidence::short(self.confidence),
            NumberRule::Confidence,
        )?;
        let within = self.equal_within;
        let is_distance = within.is_finite() && within >= 0.0;
        require(is_distance, "rating.equal_within", within, NumberRule::RatingPoints)?;
        require(self.group_votes >= 1, "rating.group_votes", self.group_votes, NumberRule::AtLeast(1))?;
        let seconds = self.group_seconds;
        require((1..=3_600).contains(&seconds), "rating.group_seconds", seconds, NumberRule::Between(1, 3_600))?;
        let battles = self.optimal_at_battles;
        let is_expected = (1..=MAX_EXPECTED_BATTLES).contains(&battles);
        require(is_expected, "rating.optimal_at_battles", battles, NumberRule::ExpectedBattles)
    }
}

impl BenchSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require(self.attempts >= 3, "bench.attempts", self.attempts, NumberRule::AtLeast(3))?;
        require(self.give_up_after >= 1, "bench.give_up_after", self.give_up_after, NumberRule::AtLeast(1))
    }
}

impl JudgeSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self, models: &[ModelSettings]) -> Result<(), ConfigError> {
        require((0.0..=1.0).contains(&self.share), "judge.share", self.share, NumberRule::Between(0, 1))?;
        let budget = self.budget_per_day;
        let is_amount = budget.is_finite() && budget >= 0.0;
        require(is_amount, "judge.budget_per_day", budget, NumberRule::AtLeast(0))?;
        let twice = (1..self.models.len()).find(|at| self.models[..*at].contains(&self.models[*at]));
        let name = twice.map_or_else(String::new, |at| self.models[at].clone());
        require_as(twice.is_none(), "judge.models", RefusedValue::Twice(name), TextRule::UniqueJudges)?;
        let has_prices = |judge: &String| {
            models.iter().any(|model| model.id == *judge && model.input_price.is_some() && model.output_price.is_some())
        };
        let unpriced = self.models.iter().find(|judge| budget > 0.0 && !has_prices(judge));
        require(unpriced.is_none(), "judge.budget_per_day", budget, NumberRule::BudgetOfPricedJudges)
    }
}
