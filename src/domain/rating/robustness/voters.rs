//! Places of the models with any one voter left out.
//!
//! Each voter's votes are subtracted from the counts and the rest is refitted exactly: by Newton's method with the
//! Hessian of all votes, which a few votes hardly change, or by a full fit if the voter's votes connect the graph or
//! are too many.

use std::sync::atomic::{AtomicUsize, Ordering};

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use super::super::bradley_terry::fit;
use super::super::loss::logistic;
use super::super::scoring::Scoring;
use super::super::tally::{PairTally, Tally};
use super::super::vote_log::{Labels, VoteLog};
use super::{FitError, PlaceRange, places_of};
use crate::battle::Outcome;
use crate::rating::fit::{Fit, ModelStrength};
use crate::stats::real_len;

/// Maximum number of voters that are left out one at a time, those with most votes first; it bounds the running time.
const MOST_VOTERS: usize = 20_000;
const MAX_STEPS: usize = 40;
/// A step this short leaves an error below the rounding of strengths.
const LAST_STEP: f64 = 1e-11;

/// Place ranges over all left-out voters.
#[derive(Debug)]
pub(super) struct Ranges {
    /// By model.
    pub(super) ranges: Vec<PlaceRange>,
    /// Number of voters left out one at a time.
    pub(super) left_out: u64,
    voters: usize,
}

impl Ranges {
    /// A note if some voters were not left out.
    pub(super) fn note(&self) -> Option<String> {
        (u64::try_from(self.voters).is_ok_and(|voters| voters > self.left_out)).then(|| {
            format!("of {} voters, the {} most active were left out one at a time", self.voters, self.left_out)
        })
    }
}

/// Counts finished work items and reports the share.
pub(super) struct Counter<F> {
    done: AtomicUsize,
    all: usize,
    progress: F,
}

impl<F: Fn(f64) + Sync> Counter<F> {
    pub(super) fn new(all: usize, progress: F) -> Self {
        Self { done: AtomicUsize::new(0), all, progress }
    }

    pub(super) fn advance(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        (self.progress)(real_len(done) / real_len(self.all));
    }
}

/// Leaves out one voter after another. `None` if the log has no voters. Votes without a voter always stay.
pub(super) fn leave_each_out(
    log: &VoteLog,
    scoring: Scoring,
    tally: &Tally,
    fitted: &Fit,
    progress: impl Fn(f64) + Sync,
) -> Result<Option<Ranges>, FitError> {
    let Some(labels) = &log.voters else { return Ok(None) };
    let votes_by_voter = votes_by_voter(log, labels, scoring, tally);
    let voters = votes_by_voter.len();
    let looked_at = &votes_by_voter[..voters.min(MOST_VOTERS)];
    let refit = Refit::new(tally, fitted)?;
    let done = Counter::new(looked_at.len(), progress);
    let places: Vec<Vec<Option<u64>>> = looked_at
        .par_iter()
        .map(|votes| {
            let places = refit.places_without(votes);
            done.advance();
            places
        })
        .collect::<Result<_, _>>()?;
    let mut ranges: Vec<PlaceRange> = places_of(fitted).into_iter().map(PlaceRange::at).collect();
    for places in places {
        for (range, place) in ranges.iter_mut().zip(places) {
            place.into_iter().for_each(|place| range.widen(place));
        }
    }
    let left_out = u64::try_from(looked_at.len()).unwrap_or(u64::MAX);
    Ok(Some(Ranges { ranges, left_out, voters }))
}

/// The votes of one voter, as positions in [`Tally::pairs`] and outcomes, with whether the pair's first model is on
/// side A.
type VoterVotes = Vec<(u32, Outcome, bool)>;

/// The rated votes of each voter, the most active first.
fn votes_by_voter(log: &VoteLog, labels: &Labels, scoring: Scoring, tally: &Tally) -> Vec<VoterVotes> {
    let mut places = vec![0; log.models.as_slice().len()];
    tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = place);
    let mut votes_by_voter: Vec<VoterVotes> = vec![Vec::new(); labels.names.as_slice().len()];
    for row in 0..log.len() {
        let (voter, outcome) = (labels.rows[row], log.outcomes[row]);
        if voter == Labels::NONE || !scoring.counts(outcome) {
            continue;
        }
        let (a, b) = (places[log.a[row] as usize], places[log.b[row] as usize]);
        let pair = tally.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |pair| (pair.first, pair.second));
        let pair = pair.ok().and_then(|pair| u32::try_from(pair).ok());
        votes_by_voter[voter as usize].extend(pair.map(|pair| (pair, outcome, a < b)));
    }
    votes_by_voter.retain(|votes| !votes.is_empty());
    votes_by_voter.sort_by_key(|votes| std::cmp::Reverse(votes.len()));
    votes_by_voter
}

/// The fit of all votes as the starting point of refits.
struct Refit<'a> {
    tally: &'a Tally,
    fitted: &'a Fit,
    /// Rated models in components of at least two.
    members: Vec<usize>,
    strengths: DVector<f64>,
    factor: Option<Cholesky<f64, Dyn>>,
}

impl<'a> Refit<'a> {
    fn new(tally: &'a Tally, fitted: &'a Fit) -> Result<Self, FitError> {
        let components: Vec<Vec<usize>> = fitted.members().into_iter().filter(|members| members.len() > 1).collect();
        let mut members: Vec<usize> = components.iter().flatten().copied().collect();
        members.sort_unstable();
        let all: Vec<Option<f64>> = fitted.strengths().collect();
        let strengths = DVector::from_iterator(members.len(), members.iter().map(|&model| all[model].unwrap_or(0.0)));
        let mut refit = Self { tally, fitted, members, strengths, factor: None };
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
        for component in &components {
            for one in component.iter().filter_map(|&model| refit.place(model)) {
                for other in component.iter().filter_map(|&model| refit.place(model)) {
                    hessian[(one, other)] += stiffness;
                }
            }
        }
        refit.factor = hessian.cholesky();
        Ok(refit)
    }

    fn place(&self, model: usize) -> Option<usize> {
        self.members.binary_search(&model).ok()
    }

    /// The pairs within components, with the positions of their models.
    fn rated<'p>(&self, pairs: &'p [PairTally]) -> impl Iterator<Item = (&'p PairTally, usize, usize)> {
        pairs.iter().filter_map(|pair| {
            let (one, other) = (&self.fitted.model_strengths[pair.first], &self.fitted.model_strengths[pair.second]);
            let comparable = one.component() == other.component();
            Some((pair, self.place(pair.first)?, self.place(pair.second)?)).filter(|_| comparable)
        })
    }

    /// Places by model without a voter; `None` for a model that is then in another component or has no votes.
    fn places_without(&self, votes: &VoterVotes) -> Result<Vec<Option<u64>>, FitError> {
        let mut pairs = self.tally.pairs.clone();
        for &(pair, outcome, first_is_a) in votes {
            subtract_vote(&mut pairs[pair as usize], outcome, first_is_a);
        }
        let same_graph = votes.iter().all(|&(pair, ..)| {
            let (before, after) = (&self.tally.pairs[pair as usize], &pairs[pair as usize]);
            (before.points_first() > 0.0) == (after.points_first() > 0.0)
                && (before.points_second() > 0.0) == (after.points_second() > 0.0)
        });
        let nearby = same_graph.then(|| self.nearby(&pairs)).flatten();
        let refitted = match nearby {
            Some(refitted) => refitted,
            None => fit(&Tally { pairs: pairs.clone(), ..self.tally.clone() })?,
        };
        Ok(self.compared(&refitted, &pairs))
    }

    /// The fit of slightly different votes; `None` if Newton's method with the old Hessian converges too slowly.
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
            if step.amax() <= LAST_STEP {
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

    fn compared(&self, refitted: &Fit, pairs: &[PairTally]) -> Vec<Option<u64>> {
        let mut met = vec![false; self.fitted.model_strengths.len()];
        for pair in pairs.iter().filter(|pair| pair.points_first() + pair.points_second() > 0.0) {
            (met[pair.first], met[pair.second]) = (true, true);
        }
        // Places are comparable only if the components are the same.
        let whole = refitted.components == self.fitted.components || met.iter().any(|met| !met);
        let places = places_of(refitted);
        (0..places.len()).map(|model| (whole && met[model]).then_some(places[model])).collect()
    }
}

fn subtract_vote(pair: &mut PairTally, outcome: Outcome, first_is_a: bool) {
    match outcome {
        Outcome::AWins if first_is_a => pair.first_wins -= 1.0,
        Outcome::BWins if !first_is_a => pair.first_wins -= 1.0,
        Outcome::AWins | Outcome::BWins => pair.second_wins -= 1.0,
        Outcome::Tie | Outcome::BothBad => pair.halves -= 1.0,
    }
}
