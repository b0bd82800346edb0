//! Riggers planted into a log of votes, to measure how many of them the tests find and how many honest voters they flag.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::crowd::Crowd;
use crate::rating::vote_log::VoteLog;

/// What a rigger does in a battle without the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiggerStrategy {
    /// Votes at random.
    Naive,
    /// Votes as the crowd would.
    Smart,
    /// Leaves the battle without a vote.
    TargetOnly,
}

impl RiggerStrategy {
    /// All strategies.
    pub const ALL: [Self; 3] = [Self::Naive, Self::Smart, Self::TargetOnly];

    /// Name of the strategy.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Smart => "smart",
            Self::TargetOnly => "target-only",
        }
    }
}

/// Riggers to plant. Each votes for its own target in every battle that shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planting {
    /// Number of riggers.
    pub riggers: u32,
    /// Votes of each rigger.
    pub votes: u32,
    /// What they do elsewhere.
    pub strategy: RiggerStrategy,
    /// Share of the votes that show the target, for those who also vote elsewhere. A rigger who leaves some of the battles
    /// without the target raises it above the arena's own share.
    pub target_share: f64,
    /// Seed of targets, pairs and votes.
    pub seed: u64,
}

/// Begins the names of planted voters.
const PREFIX: &str = "rigger-";

/// Whether a voter was planted.
#[must_use]
pub fn is_planted(voter: &str) -> bool {
    voter.starts_with(PREFIX)
}

/// The log with the riggers' votes at its end. Pairs are drawn from those of the log, as often as there; targets are any of its
/// models, and sides come from a fair coin.
///
/// # Errors
/// [`FitError::Solver`] as for the fit, [`FitError::NoVoters`] without voters or comparable votes.
pub fn plant(log: &VoteLog, planting: Planting) -> Result<VoteLog, FitError> {
    let crowd = Crowd::new(log)?.ok_or(FitError::NoVoters)?;
    let mut planted = log.clone();
    let names = crowd.names(log);
    let pairs: Vec<[usize; 2]> = crowd.votes(log).iter().map(|vote| [vote.a, vote.b]).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(planting.seed);
    for rigger in 1..=planting.riggers {
        let target = rng.random_range(0..names.len());
        for _ in 0..planting.votes {
            let [a, b] = draw_pair(&pairs, target, planting, &mut rng);
            let outcome = vote(&crowd, [a, b], target, planting.strategy, &mut rng);
            planted.push(names[a], names[b], outcome).map_err(|error| FitError::Solver(error.into()))?;
            let voters = planted.voters.as_mut().ok_or(FitError::NoVoters)?;
            voters.push(Some(&format!("{PREFIX}{rigger:03}")));
        }
    }
    Ok(planted)
}

fn draw_pair(pairs: &[[usize; 2]], target: usize, planting: Planting, rng: &mut impl Rng) -> [usize; 2] {
    let shown = planting.strategy == RiggerStrategy::TargetOnly || rng.random::<f64>() < planting.target_share;
    loop {
        let [a, b] = pairs[rng.random_range(0..pairs.len())];
        if [a, b].contains(&target) == shown {
            return if rng.random() { [a, b] } else { [b, a] };
        }
    }
}

fn vote(crowd: &Crowd, [a, b]: [usize; 2], target: usize, strategy: RiggerStrategy, rng: &mut impl Rng) -> Outcome {
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
