//! Ratings and intervals on the public scale, before ranking.

use super::counts::tally::Tally;
use super::intervals::sandwich::{IntervalEnds, Intervals};
use super::strengths::fit::Direction;
use super::strengths::unbounded_strengths::limit;
use super::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use crate::rating::options::Anchor;
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::confidence::ConfidenceLevel;

/// Ratings that differ by less are equal up to rounding.
const ROUNDING: f64 = 1e-9;
/// Largest absolute anchor rating: beyond it, rounding errors would exceed [`ROUNDING`].
const MAX_ANCHOR: f64 = 1e6;

/// A model on the public scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaledModel {
    pub(super) rating: f64,
    /// Interval, infinite at an open end.
    pub(super) ends: Option<IntervalEnds>,
    pub(super) unbounded: Option<Direction>,
    pub(super) component: usize,
}

impl ScaledModel {
    pub(super) fn lower(&self) -> Option<f64> {
        self.ends.map(|ends| ends.lower).filter(|lower| lower.is_finite())
    }

    pub(super) fn upper(&self) -> Option<f64> {
        self.ends.map(|ends| ends.upper).filter(|upper| upper.is_finite())
    }

    /// Whether this model's interval lies above the other's; where neither has one, whether its rating does. `false` where only one has an
    /// interval.
    pub(super) fn significantly_above(&self, other: &ScaledModel) -> bool {
        match (self.ends, other.ends) {
            (Some(own), Some(others)) => own.lower > others.upper + ROUNDING,
            (None, None) => self.rating > other.rating + ROUNDING,
            _ => false,
        }
    }

    /// Predicts the share of points against the other; `None` between components, and between two models unbounded in the same direction.
    pub(super) fn win_rate(&self, other: &ScaledModel, fit: &Fit) -> Option<f64> {
        let side = |scaled: &ScaledModel| scaled.unbounded.map_or(0.0, Direction::sign);
        match (self.unbounded, other.unbounded) {
            _ if self.component != other.component => None,
            (None, None) => {
                let d = (self.rating - other.rating) / POINTS_PER_STRENGTH;
                Some(fit.likelihood().probabilities(d, fit.log_nu.unwrap_or(0.0)).points_first())
            }
            (one, another) if one == another => None,
            _ => Some(f64::midpoint(1.0, (side(self) - side(other)).clamp(-1.0, 1.0))),
        }
    }

    fn shift(&mut self, points: f64) {
        self.rating += points;
        self.ends =
            self.ends.map(|ends| IntervalEnds { lower: ends.lower + points, upper: ends.upper + points, ..ends });
    }
}

/// Puts every model of a tally on the public scale.
pub(super) fn scale_models(
    tally: &Tally,
    fit: &Fit,
    intervals: &Intervals,
    level: ConfidenceLevel,
) -> Result<Vec<ScaledModel>, FitError> {
    let place = |(model, model_strength): (usize, &ModelStrength)| {
        let rating = on_scale(limit(tally, fit, model, level)?);
        let measured = intervals.strengths[model].map(|ends| IntervalEnds {
            lower: on_scale(ends.lower),
            upper: on_scale(ends.upper),
            error: ends.error.map(|error| error * POINTS_PER_STRENGTH),
        });
        let (unbounded, ends) = match model_strength {
            ModelStrength::Rated { .. } => (None, measured),
            ModelStrength::Unbounded { direction, .. } => {
                (Some(*direction), Some(half_open_interval(rating, *direction)))
            }
        };
        Ok(ScaledModel { rating, ends, unbounded, component: model_strength.component() })
    };
    fit.model_strengths.iter().enumerate().map(place).collect()
}

fn on_scale(strength: f64) -> f64 {
    MEAN_RATING + POINTS_PER_STRENGTH * strength
}

/// Returns the interval from a limit to infinity.
fn half_open_interval(limit: f64, direction: Direction) -> IntervalEnds {
    match direction {
        Direction::Above => IntervalEnds { lower: limit, upper: f64::INFINITY, error: None },
        Direction::Below => IntervalEnds { lower: f64::NEG_INFINITY, upper: limit, error: None },
    }
}

/// Shifts the anchor's component so that the anchor has its given rating.
pub(super) fn move_to_anchor(scaled: &mut [ScaledModel], tally: &Tally, anchor: &Anchor) -> Result<(), FitError> {
    if !(-MAX_ANCHOR..=MAX_ANCHOR).contains(&anchor.rating) {
        return Err(FitError::AnchorRating(anchor.rating));
    }
    if scaled.is_empty() {
        return Ok(());
    }
    let position = tally
        .models
        .binary_search_by(|model| model.name.as_str().cmp(&anchor.model))
        .map_err(|_| FitError::UnknownAnchor(anchor.model.clone()))?;
    if scaled[position].unbounded.is_some() {
        return Err(FitError::UnboundedAnchor(anchor.model.clone()));
    }
    let (component, points) = (scaled[position].component, anchor.rating - scaled[position].rating);
    scaled.iter_mut().filter(|model| model.component == component).for_each(|model| model.shift(points));
    Ok(())
}
