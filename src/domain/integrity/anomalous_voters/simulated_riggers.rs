//! Simulated riggers added to a log of votes, to measure the detection rate of the tests and their false flags of honest voters.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::strengths::crowd_expectation::CrowdExpectation;
use crate::rating::votes::vote_log::VoteLog;

/// Behaviour of a rigger in a battle without the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiggerStrategy {
    /// Votes at random.
    Naive,
    /// Votes with the crowd's probabilities.
    Smart,
    /// Leaves the battle without a vote.
    TargetOnly,
}

impl RiggerStrategy {
    /// All strategies.
    pub const ALL: [Self; 3] = [Self::Naive, Self::Smart, Self::TargetOnly];

    /// Returns the name of the strategy.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Smart => "smart",
            Self::TargetOnly => "target-only",
        }
    }
}

/// Simulation of riggers. Each votes for its own target in every battle that shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiggerSimulation {
    /// Number of riggers.
    pub riggers: u32,
    /// Number of votes per rigger.
    pub votes: u32,
    /// Behaviour in battles without the target.
    pub strategy: RiggerStrategy,
    /// Share of the votes that show the target, for strategies that also vote in other battles. A rigger who leaves some of the battles
    /// without the target raises it above the arena's own share.
    pub target_share: f64,
    /// Seed of targets, pairs and votes.
    pub seed: u64,
}

/// Prefix of the names of simulated riggers.
const PREFIX: &str = "rigger-";

/// Returns whether a voter is a simulated rigger.
#[must_use]
pub fn is_simulated_rigger(voter: &str) -> bool {
    voter.starts_with(PREFIX)
}

/// Appends the riggers' votes to the log. Pairs are drawn with their frequencies in the log; targets are any of its models, and sides are
/// drawn by a fair coin.
///
/// # Errors
/// [`FitError::Solver`] as for the fit, [`FitError::NoVoters`] without voters or comparable votes.
pub fn add_riggers(log: &VoteLog, simulation: RiggerSimulation) -> Result<VoteLog, FitError> {
    let crowd = CrowdExpectation::new(log)?.ok_or(FitError::NoVoters)?;
    let mut rigged = log.clone();
    let names = crowd.names(log);
    let pairs: Vec<[usize; 2]> = crowd.votes(log).iter().map(|vote| [vote.a, vote.b]).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(simulation.seed);
    for rigger in 1..=simulation.riggers {
        let target = rng.random_range(0..names.len());
        for _ in 0..simulation.votes {
            let [a, b] = draw_pair(&pairs, target, simulation, &mut rng);
            let outcome = vote(&crowd, [a, b], target, simulation.strategy, &mut rng);
            rigged.push(names[a], names[b], outcome).map_err(|error| FitError::Solver(error.into()))?;
            let voters = rigged.voters.as_mut().ok_or(FitError::NoVoters)?;
            voters.push(Some(&format!("{PREFIX}{rigger:03}")));
        }
    }
    Ok(rigged)
}

fn draw_pair(pairs: &[[usize; 2]], target: usize, simulation: RiggerSimulation, rng: &mut impl Rng) -> [usize; 2] {
    let shown = simulation.strategy == RiggerStrategy::TargetOnly || rng.random::<f64>() < simulation.target_share;
    loop {
        let [a, b] = pairs[rng.random_range(0..pairs.len())];
        if [a, b].contains(&target) == shown {
            return if rng.random() { [a, b] } else { [b, a] };
        }
    }
}

fn vote(
    crowd: &CrowdExpectation,
    [a, b]: [usize; 2],
    target: usize,
    strategy: RiggerStrategy,
    rng: &mut impl Rng,
) -> Outcome {
    if a == target {
        return Outcome::AWins;
    }
    if b == target {
        return Outcome::BWins;
    }
    let [share_a, share_b, _] = match strategy {
        RiggerStrategy::Naive => [1.0 / 3.0; 3],
        RiggerStrategy::Smart | RiggerStrategy::TargetOnly => crowd.outcome_shares(crowd.difference(a, b)),
    };
    match rng.random::<f64>() {
        place if place < share_a => Outcome::AWins,
        place if place < share_a + share_b => Outcome::BWins,
        _ => Outcome::Tie,
    }
}
