//! Models on the public scale, before they are ranked.

use super::bradley_terry::{Direction, Fit, ModelStrength};
use super::interval::{ConfidenceLevel, Ends, Intervals};
use super::leaderboard::Anchor;
use super::tally::Tally;
use super::unbounded::limit;
use super::{CENTRE, FitError, POINTS_PER_STRENGTH};

/// Ratings that differ by less, in points, differ only by rounding.
const ROUNDING: f64 = 1e-9;

/// Where a model stands on the public scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) rating: f64,
    /// The interval, infinite where it is open; none where there is no interval at all.
    pub(super) ends: Option<Ends>,
    pub(super) unbounded: Option<Direction>,
    pub(super) component: usize,
}

impl Placed {
    pub(super) fn lower(&self) -> Option<f64> {
        self.ends.map(|ends| ends.lower).filter(|lower| lower.is_finite())
    }

    pub(super) fn upper(&self) -> Option<f64> {
        self.ends.map(|ends| ends.upper).filter(|upper| upper.is_finite())
    }

    /// Whether all of this model's interval lies above all of the other's; without intervals, whether its rating does.
    pub(super) fn significantly_above(&self, other: &Placed) -> bool {
        let lower = self.ends.map_or(self.rating, |ends| ends.lower);
        lower > other.ends.map_or(other.rating, |ends| ends.upper) + ROUNDING
    }

    /// Predicted share of points against the other; none between two that are unbounded to the same side, nor between
    /// components.
    pub(super) fn win_rate(&self, other: &Placed, fit: &Fit) -> Option<f64> {
        let side = |placed: &Placed| placed.unbounded.map_or(0.0, Direction::sign);
        match (self.unbounded, other.unbounded) {
            _ if self.component != other.component => None,
            (None, None) => {
                let d = (self.rating - other.rating) / POINTS_PER_STRENGTH;
                Some(fit.likelihood().chances(d, fit.log_nu.unwrap_or(0.0)).points_first())
            }
            (one, another) if one == another => None,
            _ => Some(f64::midpoint(1.0, (side(self) - side(other)).clamp(-1.0, 1.0))),
        }
    }

    fn shift(&mut self, points: f64) {
        self.rating += points;
        self.ends = self.ends.map(|ends| Ends { lower: ends.lower + points, upper: ends.upper + points, ..ends });
    }
}

/// Places every model of a tally.
pub(super) fn place(
    tally: &Tally,
    fit: &Fit,
    intervals: &Intervals,
    level: ConfidenceLevel,
) -> Result<Vec<Placed>, FitError> {
    let place = |(model, standing): (usize, &ModelStrength)| {
        let rating = on_scale(limit(tally, fit, model, level)?);
        let measured = intervals.strengths[model].map(|ends| Ends {
            lower: on_scale(ends.lower),
            upper: on_scale(ends.upper),
            error: ends.error.map(|error| error * POINTS_PER_STRENGTH),
        });
        let (unbounded, ends) = match standing {
            ModelStrength::Rated { .. } => (None, measured),
            ModelStrength::Unbounded { direction, .. } => (Some(*direction), Some(half_open(rating, *direction))),
        };
        Ok(Placed { rating, ends, unbounded, component: standing.component() })
    };
    fit.model_strengths.iter().enumerate().map(place).collect()
}

fn on_scale(strength: f64) -> f64 {
    CENTRE + POINTS_PER_STRENGTH * strength
}

/// All ratings from a limit to infinity.
fn half_open(limit: f64, direction: Direction) -> Ends {
    match direction {
        Direction::Above => Ends { lower: limit, upper: f64::INFINITY, error: None },
        Direction::Below => Ends { lower: f64::NEG_INFINITY, upper: limit, error: None },
    }
}

/// Moves the anchor's component so that the anchor stands at its rating.
pub(super) fn move_to_anchor(placed: &mut [Placed], tally: &Tally, anchor: &Anchor) -> Result<(), FitError> {
    if !anchor.rating.is_finite() {
        return Err(FitError::AnchorRating(anchor.rating));
    }
    if placed.is_empty() {
        return Ok(());
    }
    let position = tally
        .models
        .binary_search_by(|model| model.name.as_str().cmp(&anchor.model))
        .map_err(|_| FitError::UnknownAnchor(anchor.model.clone()))?;
    if placed[position].unbounded.is_some() {
        return Err(FitError::UnboundedAnchor(anchor.model.clone()));
    }
    let (component, points) = (placed[position].component, anchor.rating - placed[position].rating);
    placed.iter_mut().filter(|model| model.component == component).for_each(|model| model.shift(points));
    Ok(())
}
