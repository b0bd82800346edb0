//! Leaderboard as data: ranked models with ratings, intervals and counts, printed by `langya fit --format json`.
//!
//! No number in a [`Leaderboard`] is NaN or infinite: where the votes determine no number, the field is empty and a note
//! says why. [`super::ranking`] computes leaderboards.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::weighting::Reweight;
use super::super::intervals::bootstrap::BootstrapReport;
use super::super::intervals::sequential_testing::{NeighbourPair, SequentialOptions};
use super::super::notes::{RatingNote, deserialize_texts, serialize_texts};
use super::super::options::{IntervalMethod, LeaderboardOptions, Method};
use super::super::pooling::PooledSlices;
use super::super::robustness::Robustness;
use super::super::strengths::fit::{Direction, OneWayBridge};
use super::super::style::StyleEffect;
use super::super::ties::comparison::TieComparison;
use super::pair_matrices::Matrices;

/// Ranked models and the state of the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Leaderboard {
    /// Rating method.
    pub method: Method,
    /// Interval method.
    pub interval: IntervalMethod,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Whether the fit converged.
    pub converged: bool,
    /// Iterations of the fit.
    pub iterations: u64,
    /// Log likelihood of the rated votes; under Elo, each vote is predicted from the ratings before it.
    pub log_likelihood: f64,
    /// Votes read, rated and excluded.
    pub votes: VoteTotals,
    /// Voters of the rated votes, where the intervals come from the variation between voters; a vote without a voter counts as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voters: Option<u64>,
    /// Number of components, each rated separately.
    pub components: usize,
    /// Ordered by component, then rank, then rating; a model that only won (lost) comes first (last) in its component.
    pub models: Vec<RankedModel>,
    /// Effects of the style features, and of the side; empty without style control and `--side`.
    pub style: Vec<StyleEffect>,
    /// One-way votes between components.
    pub bridges: Vec<OneWayBridge>,
    /// Caveats for the reader of the numbers. In JSON, English texts.
    #[serde(serialize_with = "serialize_texts", deserialize_with = "deserialize_texts")]
    #[schemars(with = "Vec<String>")]
    pub notes: Vec<RatingNote>,
    /// Weights of the votes.
    #[serde(default)]
    pub reweight: Reweight,
    /// Davidson's tie parameter, if it is fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub davidson: Option<TieEffect>,
    /// Summary of the bootstrap, if it gave the intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapReport>,
    /// Options of [`neighbours`](Self::neighbours), if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<SequentialOptions>,
    /// Sequential comparison of each model with the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourPair>,
    /// Comparison of tie models, best first, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie_models: Vec<TieComparison>,
    /// Ratings in each slice of a column, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<PooledSlices>,
    /// Counts and predictions of every pair, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrices: Option<Matrices>,
    /// The robustness report, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robustness: Option<Robustness>,
}

impl Leaderboard {
    /// Whether the stored options of the leaderboard match these.
    #[must_use]
    pub fn follows(&self, options: &LeaderboardOptions) -> bool {
        let same_level = self.confidence.to_bits() == options.confidence.share().to_bits();
        let same_interval = options.interval == IntervalMethod::Auto || options.interval == self.interval;
        let same_sequential = self.sequential.is_none() || self.sequential == options.sequential;
        self.method == options.method
            && self.reweight == options.reweight
            && same_level
            && same_interval
            && same_sequential
    }

    /// Returns the rated models of the model's component; `None` where that is every rated model, or the model is not rated.
    pub fn group_of(&self, model: &RankedModel) -> Option<Vec<&RankedModel>> {
        model.rating?;
        let (group, others): (Vec<&RankedModel>, Vec<&RankedModel>) = self
            .models
            .iter()
            .filter(|other| other.rating.is_some())
            .partition(|other| other.component == model.component);
        (!others.is_empty()).then_some(group)
    }
}

/// Davidson's ν: models of equal strength tie with probability ν / (2 + ν).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TieEffect {
    /// Estimate of ν.
    pub nu: f64,
    /// Lower bound; `None` without intervals.
    pub lower: Option<f64>,
    /// Upper bound; `None` without intervals.
    pub upper: Option<f64>,
}

/// Votes read, rated and excluded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteTotals {
    /// All votes.
    pub read: u64,
    /// Votes in the fit.
    pub rated: u64,
    /// Excluded votes by reason.
    pub excluded: BTreeMap<String, u64>,
}

impl VoteTotals {
    /// Adds excluded votes by rule, also to the votes read.
    pub fn exclude(&mut self, excluded: &BTreeMap<String, u64>) {
        for (rule, &count) in excluded {
            *self.excluded.entry(rule.clone()).or_default() += count;
            self.read += count;
        }
    }
}

/// One row of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedModel {
    /// Name of the model.
    pub model: String,
    /// 1 is best; models with overlapping intervals can share a rank.
    pub rank: u64,
    /// Best rank in its component that the votes allow: see `rank_intervals.rs`; `None` where the intervals
    /// have no joint covariance.
    #[serde(default)]
    pub best_rank: Option<u64>,
    /// Worst rank that the votes allow.
    #[serde(default)]
    pub worst_rank: Option<u64>,
    /// Rating on the public scale; `None` for an unbounded model.
    pub rating: Option<f64>,
    /// Lower bound; `None` without intervals, at an open end, for a model that only lost, and for a model alone in its component.
    pub lower: Option<f64>,
    /// Upper bound; `None` without intervals, at an open end, for a model that only won, and for a model alone in its component.
    pub upper: Option<f64>,
    /// Elo rating, under every method.
    pub elo: f64,
    /// Rated votes.
    pub battles: u64,
    /// Votes for this model.
    pub wins: u64,
    /// Votes for the opponent.
    pub losses: u64,
    /// Ties.
    pub ties: u64,
    /// Votes for "both bad".
    pub both_bad: u64,
    /// (wins + ties) / battles, SuperCLUE's win-and-tie rate; a both-bad vote is a battle that neither won nor tied.
    pub win_tie_rate: f64,
    /// Mean predicted share of points against every other model of the component; `None` without other models.
    pub average_win_rate: Option<f64>,
    /// Component; ratings of different components cannot be compared.
    pub component: usize,
    /// Whether the model has fewer votes than the minimum.
    pub provisional: bool,
    /// Set if the model won or lost every vote against rated models, so that its rating has no finite estimate.
    pub unbounded: Option<Direction>,
    /// Likelihood-ratio limit of the rating of a model that won every vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Likelihood-ratio limit of the rating of a model that lost every vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Standard error of the rating.
    pub standard_error: Option<f64>,
    /// Mean over its opponents of its share of points against each; a tie or both-bad vote is half a point.
    #[serde(default)]
    pub empirical_win_rate: Option<f64>,
    /// Effective number of voters behind the interval, fewer than all if some vote much more than others; `None` unless
    /// the interval comes from the variation between voters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_voters: Option<f64>,
    /// Share of prompts for which the model, alone, is good enough, if requested and determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough: Option<f64>,
    /// Lower bound of [`good_enough`](Self::good_enough).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough_lower: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough_upper: Option<f64>,
    /// Share in the later half of the votes minus that in the earlier half, where both are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough_change: Option<f64>,
    /// Lower bound of [`good_enough_change`](Self::good_enough_change).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough_change_lower: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_enough_change_upper: Option<f64>,
}

/// Computes the rated votes with which `models` models have `min_votes` battles each on average; a vote is a battle of two models. With
/// fewer, a leaderboard is too early to be read as a ranking.
#[must_use]
pub fn votes_to_rank(models: u64, min_votes: u64) -> u64 {
    models.saturating_mul(min_votes).div_ceil(2)
}

/// Range of ranks that the votes allow a model. `Display` prints `2` or `1–3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRange {
    /// Best rank.
    pub best: u64,
    /// Worst rank.
    pub worst: u64,
}

impl fmt::Display for RankRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.best < self.worst { write!(f, "{}–{}", self.best, self.worst) } else { write!(f, "{}", self.best) }
    }
}

impl RankedModel {
    /// Returns the rank, where the votes determine one. A model without an interval cannot be compared with others, and an unbounded model
    /// without a bound has no rank.
    #[must_use]
    pub fn shown_rank(&self, interval: IntervalMethod) -> Option<u64> {
        let has_interval = self.lower.or(self.upper).is_some() || interval == IntervalMethod::None;
        (self.unbounded.is_none() && has_interval).then_some(self.rank)
    }

    /// Returns the range of ranks that the votes allow, where [`shown_rank`](Self::shown_rank) is determined. Without a joint covariance
    /// of the intervals, that is the rank alone.
    #[must_use]
    pub fn rank_range(&self, interval: IntervalMethod) -> Option<RankRange> {
        let rank = self.shown_rank(interval)?;
        Some(RankRange { best: self.best_rank.unwrap_or(rank), worst: self.worst_rank.unwrap_or(rank) })
    }

    /// Returns the rating, or the limit of an unbounded model: the sort key and axis value of the model.
    #[must_use]
    pub fn rating_or_limit(&self) -> f64 {
        self.rating.or(self.at_least).or(self.at_most).unwrap_or(super::super::MEAN_RATING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_ranks_is_shown_where_a_rank_is() {
        let text = r#"{"model":"m","rank":2,"rating":1000,"lower":990,"upper":1010,"elo":1000,"battles":9,"wins":4,"losses":5,"ties":0,
            "both_bad":0,"win_tie_rate":0.4,"average_win_rate":0.5,"component":0,"provisional":false,"unbounded":null,"standard_error":5}"#;
        let alone: RankedModel = serde_json::from_str(text).unwrap();
        let compared = RankedModel { best_rank: Some(1), worst_rank: Some(3), ..alone.clone() };
        let certain = RankedModel { best_rank: Some(2), worst_rank: Some(2), ..alone.clone() };
        let without_interval = RankedModel { lower: None, upper: None, ..compared.clone() };
        let unbounded = RankedModel { unbounded: Some(Direction::Above), upper: None, ..compared.clone() };
        for (model, method, shown) in [
            (&alone, IntervalMethod::Auto, Some("2")),
            (&compared, IntervalMethod::Auto, Some("1–3")),
            (&certain, IntervalMethod::Auto, Some("2")),
            (&without_interval, IntervalMethod::Auto, None),
            (&without_interval, IntervalMethod::None, Some("1–3")),
            (&unbounded, IntervalMethod::Auto, None),
        ] {
            let range = model.rank_range(method).map(|range| range.to_string());
            assert_eq!(range.as_deref(), shown, "{model:?}");
        }
    }
}
