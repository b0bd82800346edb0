//! Differences of ratings with their intervals, for any two models of a leaderboard.
//!
//! The variance of a difference is V(a) + V(b) − 2·V(a, b), from the joint covariance of the strengths: the intervals of
//! the two ratings do not determine it. Non-overlap of these is too conservative a test of a difference (Schenker and
//! Gentleman, *On judging the significance of differences by examining the overlap between confidence intervals*, The
//! American Statistician 55(3), 2001). An interval holds for one look at two models chosen beforehand;
//! [`super::super::intervals::sequential_testing`] has intervals that hold under repeated looks.

use serde::Serialize;

use super::super::POINTS_PER_STRENGTH;
use super::super::counts::tally::Tally;
use super::super::intervals::sandwich::Intervals;
use super::leaderboard::RankedModel;
use crate::stats::confidence::ConfidenceLevel;

/// Difference of two ratings in points, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatingDifference {
    /// First rating minus the second.
    pub difference: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl RatingDifference {
    /// Whether the interval excludes 0: the two models differ significantly.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.lower > 0.0 || self.upper < 0.0
    }
}

/// Joint intervals of a leaderboard, from which the difference of any two of its models is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// The models of the tally, in ascending order.
    models: Vec<String>,
    intervals: Intervals,
    level: ConfidenceLevel,
}

impl Differences {
    pub(in crate::rating) fn new(tally: &Tally, intervals: Intervals, level: ConfidenceLevel) -> Self {
        Self { models: tally.models.iter().map(|model| model.name.clone()).collect(), intervals, level }
    }

    /// Computes the difference of two models of the leaderboard; `None` where the votes determine no interval of it.
    #[must_use]
    pub fn between(&self, one: &RankedModel, other: &RankedModel) -> Option<RatingDifference> {
        let difference = one.rating? - other.rating?;
        one.standard_error.and(other.standard_error)?;
        let position = |model: &RankedModel| self.models.binary_search(&model.model).ok();
        let half = self.intervals.half_width_of_difference(position(one)?, position(other)?, self.level)?;
        let half = POINTS_PER_STRENGTH * half;
        (half.is_finite() && half > 0.0).then_some(RatingDifference {
            difference,
            lower: difference - half,
            upper: difference + half,
        })
    }
}
