//! Possible places of each model: its [rank interval](super::super::rank_intervals), so that the report does not contradict
//! the ranks of the leaderboard.
//!
//! If the joint covariance of a component is not kept, as that of more than 500 models, there are no rank intervals. A
//! model's true place is then at least 1 + the number of models that are significantly better and at most the size of the
//! component minus the number that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for
//! ranks", section 3). All intervals of one model hold simultaneously at the requested confidence: by
//! Bonferroni's inequality each has level 1 − (1 − confidence)/(n − 1), which needs no simulation and errs towards
//! wider ranges.

use super::super::counts::tally::Tally;
use super::super::intervals::sandwich::Intervals;
use super::super::public_scale::scale_models;
use super::super::rank_intervals::{RankInterval, rank_intervals};
use super::super::strengths::unbounded_strengths::limit;
use super::information::Information;
use super::{FitError, PlaceRange};
use crate::rating::strengths::fit::Direction;
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::real_len;

pub(super) fn possible(
    tally: &Tally,
    fit: &Fit,
    parts: &[Information],
    intervals: &Intervals,
    level: ConfidenceLevel,
) -> Result<Vec<PlaceRange>, FitError> {
    let ranks = rank_intervals(&scale_models(tally, fit, intervals, level)?, intervals, level);
    let of_rank = |rank: RankInterval| PlaceRange { best: rank.best, worst: rank.worst };
    let mut ranges: Vec<Option<PlaceRange>> = ranks.into_iter().map(|rank| rank.map(of_rank)).collect();
    // A component has rank intervals of all of its models, or of none.
    let mut components: Vec<Vec<usize>> = vec![Vec::new(); fit.components];
    for (model, model_strength) in fit.model_strengths.iter().enumerate() {
        if ranges[model].is_none() {
            components[model_strength.component()].push(model);
        }
    }
    for component in components {
        let of_component = Component::new(tally, fit, parts, &component, level)?;
        for &model in &component {
            ranges[model] = Some(of_component.range(model, &component));
        }
    }
    Ok(ranges.into_iter().map(|range| range.unwrap_or_else(|| PlaceRange::at(1))).collect())
}

struct Component<'a> {
    fit: &'a Fit,
    part: Option<&'a Information>,
    /// Level of each comparison.
    each: ConfidenceLevel,
    /// Likelihood-ratio limits of the unbounded models.
    limits: Vec<(usize, f64)>,
}

impl<'a> Component<'a> {
    fn new(
        tally: &Tally,
        fit: &'a Fit,
        parts: &'a [Information],
        models: &[usize],
        level: ConfidenceLevel,
    ) -> Result<Self, FitError> {
        let comparisons = real_len(models.len().saturating_sub(1)).max(1.0);
        let each = level.of_each(comparisons);
        let unbounded =
            models.iter().filter(|&&model| matches!(fit.model_strengths[model], ModelStrength::Unbounded { .. }));
        let limits =
            unbounded.map(|&model| Ok((model, limit(tally, fit, model, each)?))).collect::<Result<_, FitError>>()?;
        let part = parts.iter().find(|part| models.binary_search(&part.members[0]).is_ok());
        Ok(Self { fit, part, each, limits })
    }

    fn range(&self, model: usize, component: &[usize]) -> PlaceRange {
        let count = |significantly_above: &dyn Fn(usize) -> bool| {
            component.iter().map(|&other| u64::from(other != model && significantly_above(other))).sum::<u64>()
        };
        let better = count(&|other| self.significantly_above(other, model));
        let worse = count(&|other| self.significantly_above(model, other));
        let all = u64::try_from(component.len()).unwrap_or(u64::MAX);
        PlaceRange { best: 1 + better, worst: all - worse }
    }

    /// Whether one model is significantly better. A likelihood-ratio limit is compared with the far end of the other's
    /// interval, since a difference from infinity has no variance.
    fn significantly_above(&self, one: usize, other: usize) -> bool {
        match (self.fit.model_strengths[one], self.fit.model_strengths[other]) {
            (ModelStrength::Rated { .. }, ModelStrength::Rated { .. }) => {
                let Some((part, (one, other))) = self.part.and_then(|part| Some((part, places(part, one, other)?)))
                else {
                    return false;
                };
                let (gap, variance) = part.gap(one, other);
                gap > part.quantile(one, other, self.each) * variance.sqrt() + super::ROUNDING
            }
            (ModelStrength::Unbounded { direction: Direction::Above, .. }, ModelStrength::Rated { strength, .. }) => {
                self.limit(one) > strength + self.margin(other)
            }
            (ModelStrength::Rated { strength, .. }, ModelStrength::Unbounded { direction: Direction::Below, .. }) => {
                self.limit(other) < strength - self.margin(one)
            }
            (
                ModelStrength::Unbounded { direction: Direction::Above, .. },
                ModelStrength::Unbounded { direction: Direction::Below, .. },
            ) => self.limit(one) > self.limit(other),
            _ => false,
        }
    }

    fn limit(&self, model: usize) -> f64 {
        self.limits.iter().find(|(unbounded, _)| *unbounded == model).map_or(0.0, |&(_, limit)| limit)
    }

    fn margin(&self, model: usize) -> f64 {
        let margin = self.part.and_then(|part| Some(part.margin(part.members.binary_search(&model).ok()?, self.each)));
        margin.unwrap_or(0.0)
    }
}

fn places(part: &Information, one: usize, other: usize) -> Option<(usize, usize)> {
    Some((part.members.binary_search(&one).ok()?, part.members.binary_search(&other).ok()?))
}
