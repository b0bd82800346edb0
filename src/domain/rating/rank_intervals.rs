//! Rank intervals: ranges of ranks that hold simultaneously for all models at the confidence level.
//!
//! Two models differ if |θ_i − θ_j| > c·s_ij, with s_ij from the joint covariance of the strengths and c the quantile of the
//! largest standardised difference over all pairs ([`crate::stats::max_t`]). With m models, of which B differ upwards and
//! W downwards, the rank is between 1 + B and m − W (Mogstad, Romano, Shaikh and Wilhelm 2024). Where intervals come from
//! Student's t, c is the t quantile with the same tail probability, at the degrees of freedom of the model with fewer
//! voters.
//!
//! A model that only won or only lost is compared by its limit. A model without a standard error differs from no other.
//!
//! The rank by the models' own intervals may be better than the joint comparison allows, or worse, where there are few votes. The
//! rank interval then extends to it: it stays valid, since it only grows, and always contains the published rank.

use super::POINTS_PER_STRENGTH;
use super::intervals::covariance::Covariances;
use super::intervals::sandwich::Intervals;
use super::public_scale::ScaledModel;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::max_t::level_of_each_pair;

/// Best and worst rank that a model may hold in its component, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankInterval {
    pub(super) best: u64,
    pub(super) worst: u64,
}

/// Computes the rank intervals by position in the tally; `None` in components whose joint covariance is unknown.
pub(super) fn rank_intervals(
    scaled: &[ScaledModel],
    intervals: &Intervals,
    level: ConfidenceLevel,
) -> Vec<Option<RankInterval>> {
    let components = scaled.iter().map(|model| model.component + 1).max().unwrap_or(0);
    let mut members = vec![Vec::new(); components];
    scaled.iter().enumerate().for_each(|(model, at)| members[at.component].push(model));
    let mut found = vec![None; scaled.len()];
    for members in members {
        if let Some(differences) = StandardisedDifferences::new(scaled, intervals, &members, level) {
            members.iter().for_each(|&model| found[model] = Some(differences.rank_interval(model, &members)));
        }
    }
    found
}

/// Simultaneous comparison of the models of a component by their standardised differences.
struct StandardisedDifferences<'a> {
    scaled: &'a [ScaledModel],
    covariances: &'a Covariances,
    /// Critical value of comparisons with each model; `None` without a standard error.
    critical: Vec<Option<f64>>,
}

impl<'a> StandardisedDifferences<'a> {
    fn new(
        scaled: &'a [ScaledModel],
        intervals: &'a Intervals,
        members: &[usize],
        level: ConfidenceLevel,
    ) -> Option<Self> {
        let covariances = &intervals.covariances;
        let is_measured = |&model: &usize| intervals.strengths[model].is_some() && covariances.has(model);
        let measured: Vec<usize> = members.iter().copied().filter(is_measured).collect();
        let each = level_of_each_pair(&covariances.of(&measured)?, level)?;
        let mut critical = vec![None; scaled.len()];
        measured.iter().for_each(|&model| critical[model] = Some(each.quantile(intervals.voters_of(model))));
        Some(Self { scaled, covariances, critical })
    }

    fn is_above(&self, one: usize, other: usize) -> bool {
        let (higher, lower) = (&self.scaled[one], &self.scaled[other]);
        if higher.unbounded.is_some() || lower.unbounded.is_some() {
            return higher.ends.is_some() && lower.ends.is_some() && higher.significantly_above(lower);
        }
        let error = self.covariances.error_of_difference(one, other);
        match (self.critical[one], self.critical[other], error) {
            (Some(critical), Some(another), Some(error)) => {
                higher.rating - lower.rating > critical.max(another) * error * POINTS_PER_STRENGTH
            }
            _ => false,
        }
    }

    fn rank_interval(&self, model: usize, members: &[usize]) -> RankInterval {
        let others = || members.iter().filter(|&&other| other != model);
        let above = others().filter(|&&other| self.is_above(other, model)).count();
        let below = others().filter(|&&other| self.is_above(model, other)).count();
        let here = &self.scaled[model];
        let has_interval_above = |other: &ScaledModel| other.ends.is_some() && other.significantly_above(here);
        let by_own_intervals = others().filter(|&&other| has_interval_above(&self.scaled[other])).count();
        RankInterval {
            best: 1 + above.min(by_own_intervals) as u64,
            worst: (members.len() - below).max(1 + by_own_intervals) as u64,
        }
    }
}
