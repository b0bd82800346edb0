//! Options of a leaderboard: rating method, intervals and adjustments.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::weighting::Reweight;
use super::intervals::sequential_testing::SequentialOptions;
use super::votes::makers::Makers;
use super::votes::scoring::Scoring;
use super::votes::slice::SliceColumn;
use super::votes::vote_log::VotersKnown;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::BootstrapOptions;

/// Rating method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Bradley–Terry by maximum likelihood.
    #[default]
    Bt,
    /// Elo in log order.
    Elo,
}

/// Interval method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntervalMethod {
    /// [`Jackknife`](Self::Jackknife) where several voters are known, else [`Sandwich`](Self::Sandwich).
    #[default]
    Auto,
    /// Jackknife that leaves out one voter at a time, with Student's t.
    Jackknife,
    /// Sandwich formula, with independent votes.
    Sandwich,
    /// Sandwich formula, clustered by voter.
    Cluster,
    /// Bootstrap of the voters where several are known, else of the votes.
    Bootstrap,
    /// No intervals.
    None,
}

/// An unknown name of an option's value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct UnknownChoice(&'static str);

impl IntervalMethod {
    /// Resolves [`Auto`](Self::Auto) by the voters known; returns any other method as it is.
    #[must_use]
    pub fn resolve(self, voters: VotersKnown) -> Self {
        match (self, voters) {
            (Self::Auto, VotersKnown::Several) => Self::Jackknife,
            (Self::Auto, VotersKnown::One | VotersKnown::None) => Self::Sandwich,
            (chosen, _) => chosen,
        }
    }

    /// Whether the method gives standard errors, and so intervals of the differences of two models.
    #[must_use]
    pub fn has_errors(self) -> bool {
        !matches!(self, Self::Bootstrap | Self::None)
    }

    /// Whether the method uses the voters of the votes.
    #[must_use]
    pub fn reads_voters(self) -> bool {
        matches!(self, Self::Auto | Self::Jackknife | Self::Cluster | Self::Bootstrap)
    }
}

impl std::str::FromStr for Method {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "bt" => Ok(Self::Bt),
            "elo" => Ok(Self::Elo),
            _ => Err(UnknownChoice("bt or elo")),
        }
    }
}

impl std::str::FromStr for IntervalMethod {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "auto" => Ok(Self::Auto),
            "jackknife" => Ok(Self::Jackknife),
            "sandwich" => Ok(Self::Sandwich),
            "cluster" => Ok(Self::Cluster),
            "bootstrap" => Ok(Self::Bootstrap),
            "none" => Ok(Self::None),
            _ => Err(UnknownChoice("auto, jackknife, sandwich, cluster, bootstrap or none")),
        }
    }
}

/// Model fixed at a given rating, which shifts its whole component.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// Name of the model.
    pub model: String,
    /// Rating of the model.
    pub rating: f64,
}

/// Options of a leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderboardOptions {
    /// Method of the ratings and ranks.
    pub method: Method,
    /// Interval method; Elo has no intervals.
    pub interval: IntervalMethod,
    /// Confidence level of the intervals.
    pub confidence: ConfidenceLevel,
    /// Options of the bootstrap, if it gives the intervals.
    pub bootstrap: BootstrapOptions,
    /// Weights of the votes.
    pub reweight: Reweight,
    /// Treatment of ties and both-bad votes.
    pub scoring: Scoring,
    /// Models with fewer rated votes are provisional.
    pub min_votes: u64,
    /// Anchor model; without one, the mean of each component is 1000.
    pub anchor: Option<Anchor>,
    /// Votes excluded beforehand, by rule; they count as read and excluded.
    pub excluded: BTreeMap<String, u64>,
    /// Whether the leaderboard includes [`Matrices`](super::leaderboards::pair_matrices::Matrices).
    pub matrices: bool,
    /// Whether to rate with style control.
    pub style: bool,
    /// Whether to adjust for the side on which a model was shown.
    pub side: bool,
    /// Whether to adjust for the side, and for its change in battles of several turns.
    pub turn: bool,
    /// Makers of the models, to adjust for a judge's preference for models of its own maker.
    pub makers: Option<Makers>,
    /// Whether to estimate the share of prompts for which each model is [good enough](super::ties::good_enough).
    pub good_enough: bool,
    /// Whether to [compare tie models](super::ties::comparison).
    pub compare_ties: bool,
    /// Column in whose slices to rate the models by [partial pooling](super::pooling).
    pub pool_by: Option<SliceColumn>,
    /// Options of the comparison of [neighbours](super::intervals::sequential_testing), where intervals have a joint covariance.
    pub sequential: Option<SequentialOptions>,
}

impl LeaderboardOptions {
    /// Whether ratings are adjusted for covariates.
    #[must_use]
    pub fn has_covariates(&self) -> bool {
        self.style || self.side || self.turn || self.makers.is_some()
    }
}

impl Default for LeaderboardOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            interval: IntervalMethod::default(),
            confidence: ConfidenceLevel::default(),
            bootstrap: BootstrapOptions::default(),
            reweight: Reweight::default(),
            scoring: Scoring::default(),
            min_votes: 30,
            anchor: None,
            excluded: BTreeMap::new(),
            matrices: false,
            style: false,
            side: false,
            turn: false,
            makers: None,
            good_enough: false,
            compare_ties: false,
            pool_by: None,
            sequential: None,
        }
    }
}
