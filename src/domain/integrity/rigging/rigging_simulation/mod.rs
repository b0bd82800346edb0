//! Cost of rigging: rigged votes added to honest ones, through the arena's own pairing policy, tally and fit.
//!
//! [`simulate_rigging`] simulates an arena of honest votes (`arena`), then an attacker (`attack`) who promotes one model, and counts the
//! places it gains under each [`Control`] (`controls`). It answers two questions: by how many places a number of rigged votes lifts a
//! model, and how many votes and battles one, three and five places cost. An attacker may disguise itself: then a share of its votes
//! follows the crowd ([`RiggingOptions::honest_shares`]), and all of its votes count as rigged ones.

mod arena;
mod attack;
mod controls;

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

pub use attack::AttackStrategy;
pub use controls::{Control, ControlLimits};

use self::arena::SimulatedArena;
use self::attack::Attack;
use self::controls::{ArenaUnderControl, PlaceAfter};
use crate::battle::pairing::PairingRules;
use crate::rating::FitError;
use crate::rating::simulate::{SimulationError, SimulationOptions};
use crate::rating::votes::vote_log::SelfPlay;
use crate::stats::{real, real_len};

/// Numbers of rigged votes whose effect is reported.
pub const RIGGED_VOTES: [usize; 6] = [10, 25, 50, 100, 250, 500];
/// Maximum numbers of honest and rigged votes, bounded by memory.
const MAX_HONEST: usize = 10_000_000;
const MAX_RIGGED: usize = 1_000_000;
/// Gains in places whose cost is reported.
pub const PLACE_GAINS: [u64; 3] = [1, 3, 5];

/// Options of a rigging simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct RiggingOptions {
    /// Options of the honest arena: models, voters, ties, tastes, seed.
    pub simulation: SimulationOptions,
    /// Number of honest votes.
    pub honest_votes: usize,
    /// Pairing rules of the arena.
    pub pairing: PairingRules,
    /// Probability that the attacker recognizes a model.
    pub detector_accuracy: f64,
    /// Number of targets, over which results are averaged; the leader is not a target.
    pub targets: usize,
    /// Maximum number of rigged votes in the search for a cost.
    pub most_rigged: usize,
    /// Number of rigged votes cast per account.
    pub votes_per_account: usize,
    /// Shares of the attacker's votes that follow the crowd; each is simulated separately.
    pub honest_shares: Vec<f64>,
    /// Limits of the controls.
    pub limits: ControlLimits,
}

/// Error of a rigging simulation.
#[derive(Debug, thiserror::Error)]
pub enum RiggingError {
    /// Invalid options of the honest votes.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The pairing rules are invalid.
    #[error(transparent)]
    Pairing(#[from] crate::battle::pairing::PairingError),
    /// The votes cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A vote of a model against itself; no pairing draws one.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The honest votes rank no model below another.
    #[error("after the honest votes no model is below another, so none can rise: give more honest votes")]
    NoTargets,
    /// A number is out of its range.
    #[error("{what} is {value}: give {range}")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// Given value.
        value: f64,
        /// Valid range.
        range: &'static str,
    },
}

/// Result of one strategy under one control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiggingResult {
    /// Strategy of the attacker.
    pub strategy: AttackStrategy,
    /// Share of its votes that are honest.
    pub honest_share: f64,
    /// Applied control.
    pub control: Control,
    /// Effects of each of [`RIGGED_VOTES`].
    pub effects: Vec<RiggingEffect>,
    /// Costs of each of [`PLACE_GAINS`].
    pub costs: Vec<RiggingCost>,
    /// Share of the honest votes that the control excludes.
    pub honest_votes_lost: f64,
    /// Share of the honest voters that lose at least one vote.
    pub honest_voters_hurt: f64,
}

/// Effect of a number of rigged votes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiggingEffect {
    /// Number of rigged votes.
    pub rigged_votes: usize,
    /// Mean number of battles that the attacker plays for them.
    pub battles: f64,
    /// Mean number of rigged votes that are rated.
    pub rated: f64,
    /// Mean share of the attacker's accounts that lose at least one vote.
    pub accounts_hit: f64,
    /// Mean number of places that the target gains; negative where it falls.
    pub places: f64,
}

/// Cost of a number of places.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiggingCost {
    /// Number of places gained by the target.
    pub places: u64,
    /// Median number of rigged votes over the targets that can rise that far; `None` if most do not within the maximum number of votes.
    pub votes: Option<usize>,
    /// Median number of battles.
    pub battles: Option<usize>,
    /// Number of targets that can rise that far.
    pub targets: usize,
}

/// Simulates every strategy under every control. `progress` receives the finished share of the work.
///
/// # Errors
/// [`RiggingError`] for invalid options.
pub fn simulate_rigging(
    options: &RiggingOptions,
    controls: &[Control],
    mut progress: impl FnMut(f64),
) -> Result<Vec<RiggingResult>, RiggingError> {
    options.check()?;
    let arena = SimulatedArena::new(options)?;
    let targets = targets(options, &arena);
    if targets.is_empty() {
        return Err(RiggingError::NoTargets);
    }
    let mut results = Vec::new();
    let ways: Vec<(AttackStrategy, f64)> = AttackStrategy::ALL
        .into_iter()
        .flat_map(|strategy| options.honest_shares.iter().map(move |&share| (strategy, share)))
        .collect();
    let steps = real_len(ways.len() * (controls.len() * targets.len() + targets.len()));
    let mut done = 0.0;
    for (strategy, honest_share) in ways {
        let mut attacks = Vec::new();
        for &target in &targets {
            attacks.push(Attack::new(options, &arena, strategy, honest_share, target)?);
            done += 1.0;
            progress(done / steps);
        }
        for &control in controls {
            let controlled = ArenaUnderControl::new(options, &arena, control)?;
            let mut outcomes = Vec::new();
            for attack in &attacks {
                outcomes.push(TargetOutcome::new(options, &controlled, attack)?);
                done += 1.0;
                progress(done / steps);
            }
            results.push(summarize_targets(strategy, honest_share, &controlled, &outcomes));
        }
    }
    Ok(results)
}

impl RiggingOptions {
    fn check(&self) -> Result<(), RiggingError> {
        let refuse = |what, value, range| Err(RiggingError::Range { what, value, range });
        if !(0.0..=1.0).contains(&self.detector_accuracy) {
            return refuse("the detector's accuracy", self.detector_accuracy, "a share from 0 to 1");
        }
        if let Some(&share) = self.honest_shares.iter().find(|share| !(0.0..1.0).contains(*share)) {
            return refuse("the honest share of the attacker's votes", share, "a share from 0 to below 1");
        }
        for (what, number) in
            [("the number of targets", self.targets), ("the number of votes of an account", self.votes_per_account)]
        {
            if number == 0 {
                return refuse(what, 0.0, "at least 1");
            }
        }
        if !(1..=MAX_HONEST).contains(&self.honest_votes) {
            return refuse("the number of honest votes", real_len(self.honest_votes), "1 to 10000000");
        }
        if !(RIGGED_VOTES[RIGGED_VOTES.len() - 1]..=MAX_RIGGED).contains(&self.most_rigged) {
            return refuse("the most rigged votes", real_len(self.most_rigged), "500 to 1000000");
        }
        Ok(())
    }
}

/// Draws the targets from the models that can rise, without repetition.
fn targets(options: &RiggingOptions, arena: &SimulatedArena) -> Vec<usize> {
    let places = arena.places();
    let below: Vec<usize> = (0..places.len()).filter(|&model| places[model] > 1).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(options.simulation.seed);
    let drawn = sample(&mut rng, below.len(), options.targets.min(below.len()));
    drawn.iter().map(|index| below[index]).collect()
}

/// Outcome for one target.
struct TargetOutcome {
    /// For each of [`RIGGED_VOTES`]: battles, place after the votes, and places gained.
    effects: Vec<(usize, PlaceAfter, i64)>,
    /// Votes and battles for each of [`PLACE_GAINS`]: `None` if the target is too high to rise that far, `Some(None)` if it does not
    /// within the maximum number of votes.
    costs: Vec<Option<Option<(usize, usize)>>>,
}

impl TargetOutcome {
    fn new(
        options: &RiggingOptions,
        controlled: &ArenaUnderControl<'_>,
        attack: &Attack,
    ) -> Result<Self, RiggingError> {
        let before = controlled.place_before(attack.target());
        let mut known = HashMap::new();
        let mut after = |rigged: usize| -> Result<PlaceAfter, RiggingError> {
            if let Some(after) = known.get(&rigged) {
                return Ok(*after);
            }
            let after = controlled.place(attack, rigged)?;
            known.insert(rigged, after);
            Ok(after)
        };
        let mut effects = Vec::new();
        for rigged in RIGGED_VOTES {
            let found = after(rigged)?;
            effects.push((attack.battles(rigged), found, place_as_i64(before) - place_as_i64(found.place)));
        }
        let mut costs = Vec::new();
        for places in PLACE_GAINS {
            if before <= places {
                costs.push(None);
                continue;
            }
            let votes = fewest(options.most_rigged, |rigged| Ok(after(rigged)?.place <= before - places))?;
            costs.push(Some(votes.map(|votes| (votes, attack.battles(votes)))));
        }
        Ok(Self { effects, costs })
    }
}

fn place_as_i64(place: u64) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// Finds the smallest sufficient number of votes by doubling and bisection: exact if more votes never do worse.
fn fewest(
    most: usize,
    mut suffices: impl FnMut(usize) -> Result<bool, RiggingError>,
) -> Result<Option<usize>, RiggingError> {
    let (mut too_few, mut enough) = (0, 1);
    while !suffices(enough)? {
        if enough == most {
            return Ok(None);
        }
        (too_few, enough) = (enough, (2 * enough).min(most));
    }
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        *(if suffices(middle)? { &mut enough } else { &mut too_few }) = middle;
    }
    Ok(Some(enough))
}

fn summarize_targets(
    strategy: AttackStrategy,
    honest_share: f64,
    controlled: &ArenaUnderControl<'_>,
    outcomes: &[TargetOutcome],
) -> RiggingResult {
    let targets = real_len(outcomes.len());
    let effect = |(index, rigged_votes): (usize, usize)| {
        let mut sums = [0.0; 4];
        for outcome in outcomes {
            let (battles, PlaceAfter { rated, accounts_hit, .. }, places) = outcome.effects[index];
            let gained = real(places.unsigned_abs()) * if places < 0 { -1.0 } else { 1.0 };
            let found = [real_len(battles), real_len(rated), accounts_hit, gained];
            sums.iter_mut().zip(found).for_each(|(sum, value)| *sum += value);
        }
        let [battles, rated, accounts_hit, places] = sums.map(|sum| sum / targets);
        RiggingEffect { rigged_votes, battles, rated, accounts_hit, places }
    };
    let cost = |(index, places): (usize, u64)| {
        let found: Vec<Option<(usize, usize)>> = outcomes.iter().filter_map(|outcome| outcome.costs[index]).collect();
        let targets = found.len();
        let (votes, battles) = median_cost(found).unzip();
        RiggingCost { places, votes, battles, targets }
    };
    RiggingResult {
        strategy,
        honest_share,
        control: controlled.control(),
        effects: RIGGED_VOTES.into_iter().enumerate().map(effect).collect(),
        costs: PLACE_GAINS.into_iter().enumerate().map(cost).collect(),
        honest_votes_lost: controlled.honest_votes_lost(),
        honest_voters_hurt: controlled.honest_voters_hurt(),
    }
}

/// Returns the median of costs in votes and battles, the upper one of two; targets that do not rise that far are last.
fn median_cost(mut found: Vec<Option<(usize, usize)>>) -> Option<(usize, usize)> {
    found.sort_by_key(|cost| cost.map_or(usize::MAX, |(votes, _)| votes));
    found.get(found.len() / 2).copied().flatten()
}

#[cfg(test)]
mod tests;
