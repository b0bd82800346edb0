//! Refit without the votes of one voter.
//!
//! The voter's votes are subtracted from the counts and the rest is refitted exactly: by Newton's method with the Hessian of
//! all votes, which a few votes hardly change, or by a full fit if the components change without the voter or Newton's method is slow.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::super::counts::tally::{PairTally, Tally};
use super::super::strengths::bradley_terry::fit;
use super::super::strengths::graph::connected_both_ways;
use super::super::strengths::negative_log_likelihood::logistic;
use super::pair_votes_by_voter::CountedVote;
use super::{FitError, places_of};
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::real_len;

const MAX_STEPS: usize = 40;
/// Length of a step that leaves an error below the rounding of strengths.
const STEP_TOLERANCE: f64 = 1e-11;

/// Fit of all votes, the starting point of refits.
pub(super) struct Refit<'a> {
    tally: &'a Tally,
    fitted: &'a Fit,
    /// Rated models in components of at least two.
    members: Vec<usize>,
    /// Models of each component, by position in `members`.
    components: Vec<Vec<usize>>,
    strengths: DVector<f64>,
    factor: Option<Cholesky<f64, Dyn>>,
}

impl<'a> Refit<'a> {
    pub(super) fn new(tally: &'a Tally, fitted: &'a Fit) -> Self {
        let components: Vec<Vec<usize>> = fitted.members().into_iter().filter(|members| members.len() > 1).collect();
        let mut members: Vec<usize> = components.iter().flatten().copied().collect();
        members.sort_unstable();
        let all: Vec<Option<f64>> = fitted.strengths().collect();
        let strengths = DVector::from_iterator(members.len(), members.iter().map(|&model| all[model].unwrap_or(0.0)));
        let place = |model: &usize| members.binary_search(model).ok();
        let components: Vec<Vec<usize>> =
            components.iter().map(|component| component.iter().filter_map(place).collect()).collect();
        let mut refit = Self { tally, fitted, members, components, strengths, factor: None };
        let mut hessian = DMatrix::zeros(refit.members.len(), refit.members.len());
        for (pair, first, second) in refit.rated(&tally.pairs) {
            let d = refit.strengths[first] - refit.strengths[second];
            let weight = (pair.points_first() + pair.points_second()) * logistic(d) * logistic(-d);
            hessian[(first, first)] += weight;
            hessian[(second, second)] += weight;
            hessian[(first, second)] -= weight;
            hessian[(second, first)] -= weight;
        }
        // The Hessian is singular along shifts of a component, which the stiffness fixes.
        let stiffness = hessian.trace() / real_len(refit.members.len().max(1)).powi(2);
        for component in &refit.components {
            for &one in component {
                component.iter().for_each(|&other| hessian[(one, other)] += stiffness);
            }
        }
        refit.factor = hessian.cholesky();
        refit
    }

    fn place(&self, model: usize) -> Option<usize> {
        self.members.binary_search(&model).ok()
    }

    /// Selects the pairs within components, with the positions of their models.
    fn rated<'p>(&self, pairs: &'p [PairTally]) -> impl Iterator<Item = (&'p PairTally, usize, usize)> {
        pairs.iter().filter_map(|pair| {
            let (one, other) = (&self.fitted.model_strengths[pair.first], &self.fitted.model_strengths[pair.second]);
            let comparable = one.component() == other.component();
            Some((pair, self.place(pair.first)?, self.place(pair.second)?)).filter(|_| comparable)
        })
    }

    /// Refits without the votes of a voter.
    pub(super) fn without(&self, votes: &[CountedVote]) -> Result<WithoutVoter, FitError> {
        let mut pairs = self.tally.pairs.clone();
        votes.iter().for_each(|vote| *vote.kind.votes(&mut pairs[vote.pair]) -= 1.0);
        let nearby = self.has_same_components(votes, &pairs).then(|| self.nearby(&pairs)).flatten();
        let fit = match nearby {
            Some(refitted) => refitted,
            None => fit(&Tally { pairs: pairs.clone(), ..self.tally.clone() })?,
        };
        Ok(self.compared(fit, &pairs))
    }

    /// Whether the remaining votes have the same components as all votes. Only votes within a component may remove a connection, and the
    /// component must stay strongly connected.
    fn has_same_components(&self, votes: &[CountedVote], left: &[PairTally]) -> bool {
        let ends_connection = |vote: &&CountedVote| {
            let (before, after) = (&self.tally.pairs[vote.pair], &left[vote.pair]);
            (before.points_first() > 0.0) != (after.points_first() > 0.0)
                || (before.points_second() > 0.0) != (after.points_second() > 0.0)
        };
        let mut ended = votes.iter().filter(ends_connection).peekable();
        if ended.peek().is_none() {
            return true;
        }
        let is_rated = |vote: &CountedVote| self.rated(&left[vote.pair..=vote.pair]).next().is_some();
        let inside = |(pair, first, second): (&PairTally, usize, usize)| PairTally { first, second, ..*pair };
        ended.all(is_rated) && {
            let inside: Vec<PairTally> = self.rated(left).map(inside).collect();
            self.components.iter().all(|component| connected_both_ways(self.members.len(), &inside, component))
        }
    }

    /// Fits slightly different votes; `None` if Newton's method with the old Hessian converges too slowly.
    fn nearby(&self, pairs: &[PairTally]) -> Option<Fit> {
        let (factor, mut point) = (self.factor.as_ref()?, self.strengths.clone());
        let rated: Vec<(&PairTally, usize, usize)> = self.rated(pairs).collect();
        for _ in 0..MAX_STEPS {
            let mut step = DVector::zeros(point.len());
            for &(pair, first, second) in &rated {
                let d = point[first] - point[second];
                let slope = pair.points_second() * logistic(d) - pair.points_first() * logistic(-d);
                step[first] += slope;
                step[second] -= slope;
            }
            factor.solve_mut(&mut step);
            point -= &step;
            if step.amax() <= STEP_TOLERANCE {
                return Some(self.with(&point));
            }
        }
        None
    }

    fn with(&self, point: &DVector<f64>) -> Fit {
        let mut fit = self.fitted.clone();
        for (&model, &found) in self.members.iter().zip(point) {
            if let ModelStrength::Rated { strength, .. } = &mut fit.model_strengths[model] {
                *strength = found;
            }
        }
        fit
    }

    fn compared(&self, fit: Fit, pairs: &[PairTally]) -> WithoutVoter {
        let mut met = vec![false; self.fitted.model_strengths.len()];
        for pair in pairs.iter().filter(|pair| pair.points_first() + pair.points_second() > 0.0) {
            (met[pair.first], met[pair.second]) = (true, true);
        }
        // Places are comparable only if the components are the same.
        let whole = fit.components == self.fitted.components || met.iter().any(|met| !met);
        met.iter_mut().for_each(|met| *met &= whole);
        WithoutVoter { fit, comparable: met }
    }
}

/// Fit without a voter.
pub(super) struct WithoutVoter {
    pub(super) fit: Fit,
    /// Whether the place of each model is comparable: `false` in another component or without votes.
    pub(super) comparable: Vec<bool>,
}

impl WithoutVoter {
    /// Computes the place of each model; `None` for a model that is not comparable.
    pub(super) fn places(&self) -> Vec<Option<u64>> {
        let places = places_of(&self.fit).into_iter().zip(&self.comparable);
        places.map(|(place, comparable)| comparable.then_some(place)).collect()
    }
}
