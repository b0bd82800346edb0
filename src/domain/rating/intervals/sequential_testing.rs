//! Sequential testing of neighbours on a leaderboard: separated, equal, or still open, under repeated looks.
//!
//! Stopping as soon as two models of a watched leaderboard seem to differ is wrong more often than ordinary intervals
//! state, because these hold for a single look. The interval of a difference here is one of a confidence sequence
//! ([`crate::stats::confidence_sequence`]), which holds at all looks together. Its standard error is that of the
//! difference, from the joint covariance of the strengths (clustered by voter where voters are known), times t/z at the
//! degrees of freedom of the model with fewer voters where intervals use Student's t. It is narrowest at the
//! information n/8 that n battles of each of two models with equal opponents have on their difference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::POINTS_PER_STRENGTH;
use super::sandwich::Intervals;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::confidence_sequence::ConfidenceSequence;
use crate::stats::real;

/// Largest [`SequentialOptions::optimal_at_battles`].
pub const MAX_OPTIMAL_AT: u64 = 1_000_000;

/// Battles of each model, with opponents of equal strength, for one unit of information on the difference of two.
const BATTLES_PER_INFORMATION: f64 = 8.0;

/// Options of the comparison of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SequentialOptions {
    /// Number of battles of each model at which the intervals are narrowest; at least 1.
    pub optimal_at_battles: u64,
    /// Equivalence margin in points: models are equal if the interval of their difference lies within it.
    pub equal_within: f64,
}

impl Default for SequentialOptions {
    fn default() -> Self {
        Self { optimal_at_battles: 1_000, equal_within: 20.0 }
    }
}

/// State of the comparison of two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeighbourState {
    /// The interval of the difference excludes 0.
    Separated,
    /// The votes decide neither yet.
    Open,
    /// The interval holds only differences smaller than [`SequentialOptions::equal_within`].
    Equal,
}

/// A model and the next one of its component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourPair {
    /// The model that comes first on the leaderboard.
    pub upper: String,
    /// Next model on the leaderboard.
    pub lower: String,
    /// Difference of the ratings; `None` where one of them has none.
    pub difference: Option<f64>,
    /// Lower bound of the difference at any time; `None` where its standard error is unknown.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// State of the comparison.
    pub state: NeighbourState,
}

/// A model in the order of the leaderboard.
pub(in crate::rating) struct OrderedModel<'a> {
    pub(in crate::rating) name: &'a str,
    /// Its position in the tally.
    pub(in crate::rating) position: usize,
    pub(in crate::rating) component: usize,
    /// Rating, with whether its standard error is known; `None` for an unbounded model.
    pub(in crate::rating) rating: Option<f64>,
    pub(in crate::rating) has_error: bool,
}

/// Compares each model with the next.
pub(in crate::rating) fn neighbours(
    models: &[OrderedModel<'_>],
    intervals: &Intervals,
    level: ConfidenceLevel,
    options: SequentialOptions,
) -> Vec<NeighbourPair> {
    let information = real(options.optimal_at_battles.max(1)) / BATTLES_PER_INFORMATION;
    let sequence = ConfidenceSequence::narrowest_at(information, level);
    let half_width = |upper: &OrderedModel<'_>, lower: &OrderedModel<'_>| {
        let single_look = intervals.half_width_of_difference(upper.position, lower.position, level)?;
        let half = POINTS_PER_STRENGTH * sequence.half_width(single_look / level.z());
        (upper.has_error && lower.has_error && half.is_finite() && half > 0.0).then_some(half)
    };
    let pair = |pair: &[OrderedModel<'_>]| {
        let [upper, lower] = pair else { return None };
        let difference = upper.rating.zip(lower.rating).map(|(upper, lower)| upper - lower);
        let around = difference.zip(half_width(upper, lower));
        let ends = around.map(|(difference, half)| (difference - half, difference + half));
        let found = NeighbourPair {
            upper: upper.name.to_owned(),
            lower: lower.name.to_owned(),
            difference,
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
            state: state(ends, options.equal_within),
        };
        (upper.component == lower.component).then_some(found)
    };
    models.windows(2).filter_map(pair).collect()
}

fn state(ends: Option<(f64, f64)>, equal_within: f64) -> NeighbourState {
    match ends {
        Some((low, high)) if low > 0.0 || high < 0.0 => NeighbourState::Separated,
        Some((low, high)) if -equal_within < low && high < equal_within => NeighbourState::Equal,
        _ => NeighbourState::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_decides_the_state() {
        assert_eq!(state(Some((0.5, 60.0)), 20.0), NeighbourState::Separated);
        assert_eq!(state(Some((-30.0, -2.0)), 20.0), NeighbourState::Separated);
        assert_eq!(state(Some((-19.0, 12.0)), 20.0), NeighbourState::Equal);
        assert_eq!(state(Some((-19.0, 21.0)), 20.0), NeighbourState::Open);
        assert_eq!(state(None, 20.0), NeighbourState::Open);
    }
}
