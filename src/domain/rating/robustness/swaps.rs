//! The fewest votes that hold the order of two models.
//!
//! Leaving out a vote (a, b, y) moves the gap between i and j by about −(y − p)·(h_a − h_b), h = H⁺(e_i − e_j): its
//! influence (Broderick, Giordano and Meager 2020; Huang et al. 2025, "Dropping just a handful of preferences"). Votes of
//! one pair and outcome are alike, so there are few kinds. [`min_votes_to_flip`] takes off the most influential ones, first
//! half of what seems to be needed and in the end one at a time, with an exact refit after each step.
//!
//! What is guaranteed: the votes named do swap the two, as the last refit has shown, so the fewest are at most as many.
//! That no smaller set does is what influence suggests and is not proven, except for one vote.

use serde::{Deserialize, Serialize};

use super::super::bradley_terry::{Fit, fit};
use super::super::loss::logistic;
use super::super::real;
use super::super::tally::{PairTally, Tally};
use super::information::Information;
use super::{FitError, ROUNDING, height};

/// Refits before the search is given up. Each takes off half of what is needed, so this is far beyond any log.
const MAX_STEPS: usize = 200;
/// So few votes are taken off one at a time.
const FEW: u64 = 6;

/// Votes of one pair and outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedVotes {
    /// The model that was preferred; for a tie, one of the two.
    pub winner: String,
    /// The other one.
    pub loser: String,
    /// Whether neither was preferred.
    pub tie: bool,
    /// How many votes.
    pub votes: u64,
}

/// Votes without which two models change places.
#[derive(Debug)]
pub(super) struct Swap {
    pub(super) votes: u64,
    pub(super) removed: Vec<RemovedVotes>,
}

/// What a vote of a pair said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    First,
    Second,
    Neither,
}

impl Kind {
    const ALL: [Self; 3] = [Self::First, Self::Second, Self::Neither];

    fn points_first(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Second => 0.0,
            Self::Neither => 0.5,
        }
    }

    fn votes(self, pair: &mut PairTally) -> &mut f64 {
        match self {
            Self::First => &mut pair.first_wins,
            Self::Second => &mut pair.second_wins,
            Self::Neither => &mut pair.halves,
        }
    }
}

/// Votes of one kind that hold the order, and how much each.
struct Holding {
    pair: usize,
    kind: Kind,
    influence: f64,
    votes: u64,
}

/// Votes without which `upper` is no longer above `lower`. `None` where the order is lost in another way first: one of
/// the two no longer has a rating that could be compared.
pub(super) fn min_votes_to_flip(
    tally: &Tally,
    fitted: &Fit,
    upper: usize,
    lower: usize,
) -> Result<Option<Swap>, FitError> {
    let (mut left, mut now) = (tally.clone(), fitted.clone());
    for _ in 0..MAX_STEPS {
        let Some(gap) = gap(&now, upper, lower) else { return Ok(None) };
        if gap < -ROUNDING {
            return Ok(Some(swap(tally, &left)));
        }
        if !gap.is_finite() || !take_off(&mut left, &now, upper, lower, gap.max(0.0))? {
            return Ok(None);
        }
        now = fit(&left)?;
    }
    Ok(None)
}

/// How far one model stands above another of the same component.
fn gap(fit: &Fit, upper: usize, lower: usize) -> Option<f64> {
    let (upper, lower) = (&fit.model_strengths[upper], &fit.model_strengths[lower]);
    let gap = height(upper) - height(lower);
    (upper.component() == lower.component() && !gap.is_nan()).then_some(gap)
}

/// Takes off some of the votes that hold the gap most; says whether there were any.
fn take_off(left: &mut Tally, now: &Fit, upper: usize, lower: usize, gap: f64) -> Result<bool, FitError> {
    let component = now.model_strengths[upper].component();
    let members = now.members().swap_remove(component);
    let Some(holding) = holding(left, now, members, upper, lower)? else { return Ok(false) };
    let needed = needed(&holding, gap);
    let mut to_take = if needed <= FEW { 1 } else { needed / 2 };
    for kind in &holding {
        let votes = kind.votes.min(to_take);
        *kind.kind.votes(&mut left.pairs[kind.pair]) -= real(votes);
        to_take -= votes;
    }
    Ok(true)
}

/// The kinds of votes that hold the gap, most influential first; `None` if there are none.
fn holding(
    left: &Tally,
    now: &Fit,
    members: Vec<usize>,
    upper: usize,
    lower: usize,
) -> Result<Option<Vec<Holding>>, FitError> {
    let information = Information::of(left, now, members)?;
    let place = |model: usize| information.members.binary_search(&model).ok();
    let Some((upper, lower)) = place(upper).zip(place(lower)) else { return Ok(None) };
    let pull = information.inverse.column(upper) - information.inverse.column(lower);
    let mut holding = Vec::new();
    for (position, pair) in left.pairs.iter().enumerate() {
        let Some((first, second)) = place(pair.first).zip(place(pair.second)) else { continue };
        let p = logistic(information.strengths[first] - information.strengths[second]);
        for kind in Kind::ALL {
            let influence = (kind.points_first() - p) * (pull[first] - pull[second]);
            let votes = whole(*kind.votes(&mut pair.clone()));
            if influence > 0.0 && votes > 0 {
                holding.push(Holding { pair: position, kind, influence, votes });
            }
        }
    }
    holding.sort_by(|x, y| y.influence.total_cmp(&x.influence));
    Ok((!holding.is_empty()).then_some(holding))
}

/// How many votes it takes by their influence; all of them if that is not enough.
fn needed(holding: &[Holding], gap: f64) -> u64 {
    let (mut missing, mut votes) = (gap, 0);
    for kind in holding {
        let all = real(kind.votes) * kind.influence;
        if all >= missing {
            return votes + whole((missing / kind.influence).ceil());
        }
        missing -= all;
        votes += kind.votes;
    }
    votes
}

fn swap(before: &Tally, after: &Tally) -> Swap {
    let name = |model: usize| before.models[model].name.clone();
    let mut removed = Vec::new();
    for (mut was, mut is) in before.pairs.iter().copied().zip(after.pairs.iter().copied()) {
        for kind in Kind::ALL {
            let votes = whole(*kind.votes(&mut was) - *kind.votes(&mut is));
            let (winner, loser) = if kind == Kind::Second { (was.second, was.first) } else { (was.first, was.second) };
            if votes > 0 {
                removed.push(RemovedVotes {
                    winner: name(winner),
                    loser: name(loser),
                    tie: kind == Kind::Neither,
                    votes,
                });
            }
        }
    }
    removed.sort_by_key(|removed| std::cmp::Reverse(removed.votes));
    Swap { votes: removed.iter().map(|removed| removed.votes).sum(), removed }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of votes, whole and not negative")]
fn whole(votes: f64) -> u64 {
    votes.round() as u64
}
