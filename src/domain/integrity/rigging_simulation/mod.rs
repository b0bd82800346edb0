//! What rigging costs: rigged votes added to honest ones, through the arena's own pairing policy, tally and fit.
//!
//! [`simulate_rigging`] simulates an arena of honest votes (`arena`), then an attacker (`attack`) who wants one model to rise, and
//! counts the places it gains under each [`Control`] (`controls`). It answers two questions: by how many places a number of
//! rigged votes lifts a model, and how many votes and battles one, three and five places cost. An attacker may disguise itself: then
//! a share of its votes says what the crowd would ([`RiggingOptions::honest_shares`]), and all of its votes count as rigged ones.

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
use self::controls::{Controlled, PlaceAfter};
use crate::battle::pairing::PairingRules;
use crate::rating::FitError;
use crate::rating::simulate::{SimulationError, SimulationOptions};
use crate::rating::vote_log::SelfPlay;
use crate::stats::{real, real_len};

/// Numbers of rigged votes whose effect is reported.
pub const RIGGED_VOTES: [usize; 6] = [10, 25, 50, 100, 250, 500];
/// More votes would not fit into memory.
const MOST_HONEST: usize = 10_000_000;
const MOST_RIGGED: usize = 1_000_000;
/// Places gained whose cost is reported.
pub const PLACES: [u64; 3] = [1, 3, 5];

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct RiggingOptions {
    /// The honest arena: models, voters, ties, tastes, seed.
    pub simulation: SimulationOptions,
    /// Number of honest votes.
    pub honest_votes: usize,
    /// The arena's pairing.
    pub pairing: PairingRules,
    /// Probability that the attacker recognizes a model.
    pub detector_accuracy: f64,
    /// Number of targets, over which results are averaged; the leader is none.
    pub targets: usize,
    /// Most rigged votes in the search for a cost.
    pub most_rigged: usize,
    /// Rigged votes cast under one account.
    pub votes_per_account: usize,
    /// Shares of the attacker's votes that say what the crowd would; each is simulated by itself.
    pub honest_shares: Vec<f64>,
    /// Limits of the controls.
    pub limits: ControlLimits,
}

/// Why a simulation is impossible.
#[derive(Debug, thiserror::Error)]
pub enum RiggingError {
    /// Invalid options of the honest votes.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The pairing policy cannot be used.
    #[error(transparent)]
    Pairing(#[from] crate::battle::pairing::PairingError),
    /// The votes cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A vote of a model against itself; no pairing draws one.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The honest votes put no model below another.
    #[error("after the honest votes no model is below another, so none can rise: give more honest votes")]
    NoTargets,
    /// Some number is out of its range.
    #[error("{what} is {value}: give {range}")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
        /// Its range.
        range: &'static str,
    },
}

/// The result of one strategy under one control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiggingResult {
    /// What the attacker does.
    pub strategy: AttackStrategy,
    /// Share of its votes that are honest.
    pub honest_share: f64,
    /// The control that is on.
    pub control: Control,
    /// For each of [`RIGGED_VOTES`].
    pub effects: Vec<RiggingEffect>,
    /// For each of [`PLACES`].
    pub costs: Vec<RiggingCost>,
    /// Share of the honest votes that the control leaves out.
    pub honest_votes_lost: f64,
    /// Share of the honest voters of whom it leaves out a vote.
    pub honest_voters_hurt: f64,
}

/// What a number of rigged votes does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiggingEffect {
    /// Rigged votes.
    pub rigged_votes: usize,
    /// Battles that the attacker plays for them, on average.
    pub battles: f64,
    /// Rigged votes that are rated, on average.
    pub rated: f64,
    /// Share of the attacker's accounts of whom the control leaves out a vote, on average.
    pub accounts_hit: f64,
    /// Places that the target rises, on average; negative where it falls.
    pub places: f64,
}

/// What a number of places costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiggingCost {
    /// Places that the target rises.
    pub places: u64,
    /// Median number of rigged votes over the targets that can rise so far; `None` if most do not within the most votes tried.
    pub votes: Option<usize>,
    /// Median number of battles.
    pub battles: Option<usize>,
    /// Number of targets that can rise so far.
    pub targets: usize,
}

/// Simulates every strategy under every control. `progress` is called with the share of the work that is done.
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
    for way in ways {
        let mut attacks = Vec::new();
        for &target in &targets {
            attacks.push(Attack::new(options, &arena, way, target)?);
            done += 1.0;
            progress(done / steps);
        }
        for &control in controls {
            let controlled = Controlled::new(options, &arena, control)?;
            let mut outcomes = Vec::new();
            for attack in &attacks {
                outcomes.push(TargetOutcome::new(options, &controlled, attack)?);
                done += 1.0;
                progress(done / steps);
            }
            results.push(summary(way, &controlled, &outcomes));
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
        if !(1..=MOST_HONEST).contains(&self.honest_votes) {
            return refuse("the number of honest votes", real_len(self.honest_votes), "1 to 10000000");
        }
        if !(RIGGED_VOTES[RIGGED_VOTES.len() - 1]..=MOST_RIGGED).contains(&self.most_rigged) {
            return refuse("the most rigged votes", real_len(self.most_rigged), "500 to 1000000");
        }
        Ok(())
    }
}

/// Models that can rise, drawn without repetition.
fn targets(options: &RiggingOptions, arena: &SimulatedArena) -> Vec<usize> {
    let places = arena.places();
    let below: Vec<usize> = (0..places.len()).filter(|&model| places[model] > 1).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(options.simulation.seed);
    let drawn = sample(&mut rng, below.len(), options.targets.min(below.len()));
    drawn.iter().map(|index| below[index]).collect()
}

/// What one target gains.
struct TargetOutcome {
    /// For each of [`RIGGED_VOTES`]: battles, and what comes of them.
    effects: Vec<(usize, PlaceAfter, i64)>,
    /// For each of [`PLACES`]: `None` if the target stands too high to rise so far, `Some(None)` if it does not within the
    /// most votes.
    costs: Vec<Option<Option<(usize, usize)>>>,
}

impl TargetOutcome {
    fn new(options: &RiggingOptions, controlled: &Controlled<'_>, attack: &Attack) -> Result<Self, RiggingError> {
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
            effects.push((attack.battles(rigged), found, signed(before) - signed(found.place)));
        }
        let mut costs = Vec::new();
        for places in PLACES {
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

fn signed(place: u64) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// The fewest votes that suffice, by doubling and bisection: exact if more votes never do worse.
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

fn summary(
    (strategy, honest_share): (AttackStrategy, f64),
    controlled: &Controlled<'_>,
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
        costs: PLACES.into_iter().enumerate().map(cost).collect(),
        honest_votes_lost: controlled.honest_votes_lost(),
        honest_voters_hurt: controlled.honest_voters_hurt(),
    }
}

/// The middle one of costs in votes and battles, the dearer one of two; targets that do not rise so far come last.
fn median_cost(mut found: Vec<Option<(usize, usize)>>) -> Option<(usize, usize)> {
    found.sort_by_key(|cost| cost.map_or(usize::MAX, |(votes, _)| votes));
    found.get(found.len() / 2).copied().flatten()
}

#[cfg(test)]
mod tests;
