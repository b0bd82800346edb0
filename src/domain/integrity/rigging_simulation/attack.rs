//! An attacker who wants one model to rise.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::arena::SimulatedArena;
use super::{RiggingError, RiggingOptions};
use crate::battle::Outcome;
use crate::rating::crowd_expectation::CrowdExpectation;
use crate::rating::logistic;
use crate::rating::vote_log::VoteLog;

/// Rigged votes after which the attacker who votes everywhere looks at the leaderboard again.
const LOOK_AFTER: usize = 25;

/// In which battles the attacker votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackStrategy {
    /// Only where the target is recognized, always for it.
    TargetOnly,
    /// Everywhere, with the vote that most narrows the target's gap to the next model above it (omnipresent rigging: Min et al.
    /// 2025, arXiv 2501.17858; influence as for the fewest votes that hold an order).
    VoteEverywhere,
}

impl AttackStrategy {
    /// All strategies.
    pub const ALL: [Self; 2] = [Self::TargetOnly, Self::VoteEverywhere];

    /// Name of the strategy.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TargetOnly => "target-only",
            Self::VoteEverywhere => "vote-everywhere",
        }
    }
}

/// A rigged vote.
#[derive(Debug, Clone, Copy)]
pub(super) struct RiggedVote {
    /// Models on sides A and B, by position.
    pub(super) models: [usize; 2],
    pub(super) outcome: Outcome,
    /// Battles that the attacker has played, this one included.
    battles: usize,
}

/// The votes of one attacker, in their order.
#[derive(Debug)]
pub(super) struct Attack {
    target: usize,
    votes: Vec<RiggedVote>,
}

impl Attack {
    /// `honest_share` of its votes say what the crowd would; the others help the target.
    pub(super) fn new(
        options: &RiggingOptions,
        arena: &SimulatedArena,
        (strategy, honest_share): (AttackStrategy, f64),
        target: usize,
    ) -> Result<Self, RiggingError> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.simulation.seed);
        rng.set_stream(1 + u64::try_from(target).unwrap_or(u64::MAX - 1));
        let mut attack = Self { target, votes: Vec::with_capacity(options.most_rigged) };
        let mut log = arena.log.clone();
        let mut aim = None;
        let mut battles = 0;
        let disguise = Disguise::new(&log, honest_share)?;
        let mut is_honest = disguise.is_due(&mut rng);
        while attack.votes.len() < options.most_rigged {
            let (models, _) = arena.pairs.draw(&mut rng);
            battles += 1;
            if is_honest {
                attack.votes.push(RiggedVote { models, outcome: disguise.vote(models, &mut rng), battles });
                is_honest = disguise.is_due(&mut rng);
                continue;
            }
            let seen = models.map(|model| recognize(model, arena.names.len(), options.detector_accuracy, &mut rng));
            let outcome = match strategy {
                AttackStrategy::TargetOnly => match seen.map(|model| model == target) {
                    [true, false] => Outcome::AWins,
                    [false, true] => Outcome::BWins,
                    _ => continue,
                },
                AttackStrategy::VoteEverywhere => {
                    if attack.votes.len().is_multiple_of(LOOK_AFTER) || aim.is_none() {
                        aim = Some(Aim::new(&log, target)?);
                    }
                    aim.as_ref().map_or(Outcome::Tie, |aim| aim.best_vote(seen))
                }
            };
            attack.votes.push(RiggedVote { models, outcome, battles });
            is_honest = disguise.is_due(&mut rng);
            if strategy == AttackStrategy::VoteEverywhere {
                log.push(&arena.names[models[0]], &arena.names[models[1]], outcome)?;
            }
        }
        Ok(attack)
    }

    pub(super) fn target(&self) -> usize {
        self.target
    }

    /// The first votes.
    pub(super) fn votes(&self, rigged: usize) -> &[RiggedVote] {
        &self.votes[..rigged]
    }

    /// Battles played for the first votes.
    pub(super) fn battles(&self, rigged: usize) -> usize {
        self.votes(rigged).last().map_or(0, |vote| vote.battles)
    }
}

/// The honest votes of an attacker who votes honestly in part, so that its accounts look like others.
struct Disguise {
    /// Share of all votes.
    share: f64,
    crowd: CrowdExpectation,
}

impl Disguise {
    fn new(log: &VoteLog, share: f64) -> Result<Self, RiggingError> {
        Ok(Self { share, crowd: CrowdExpectation::new(log)?.ok_or(crate::rating::FitError::NoVoters)? })
    }

    /// Whether the next vote is honest. An attacker without a disguise draws nothing for it.
    fn is_due(&self, rng: &mut impl Rng) -> bool {
        self.share > 0.0 && rng.random::<f64>() < self.share
    }

    /// What one of the crowd might say.
    fn vote(&self, models: [usize; 2], rng: &mut impl Rng) -> Outcome {
        let [Some(a), Some(b)] = models.map(|model| self.crowd.parameter(model)) else { return Outcome::Tie };
        let [share_a, share_b, _] = self.crowd.outcome_shares(self.crowd.difference(a, b));
        match rng.random::<f64>() {
            place if place < share_a => Outcome::AWins,
            place if place < share_a + share_b => Outcome::BWins,
            _ => Outcome::Tie,
        }
    }
}

/// The model that the attacker takes a model for.
fn recognize(model: usize, models: usize, accuracy: f64, rng: &mut impl Rng) -> usize {
    if rng.random::<f64>() < accuracy { model } else { rng.random_range(0..models) }
}

/// How votes move the gap between the target and the next model above it.
struct Aim {
    crowd: CrowdExpectation,
    /// By parameter.
    pull: Vec<f64>,
}

impl Aim {
    fn new(log: &VoteLog, target: usize) -> Result<Self, RiggingError> {
        let crowd = CrowdExpectation::new(log)?.ok_or(crate::rating::FitError::NoVoters)?;
        let target = crowd.parameter(target).ok_or(crate::rating::FitError::NoVoters)?;
        let above = (0..crowd.models()).filter(|&model| crowd.difference(model, target) > 0.0);
        // A leader keeps its distance from the second.
        let next = above.min_by(|&one, &other| crowd.difference(one, other).total_cmp(&0.0));
        let below = || (0..crowd.models()).filter(|&model| model != target);
        let rival = next.or_else(|| below().max_by(|&one, &other| crowd.difference(one, other).total_cmp(&0.0)));
        let pull = crowd.pull(target, rival.unwrap_or(target)).iter().copied().collect();
        Ok(Self { crowd, pull })
    }

    /// The vote on two models that moves the gap most.
    fn best_vote(&self, models: [usize; 2]) -> Outcome {
        let [Some(a), Some(b)] = models.map(|model| self.crowd.parameter(model)) else { return Outcome::Tie };
        let p = logistic(self.crowd.difference(a, b));
        let moves = |outcome: &Outcome| (outcome.points_a() - p) * (self.pull[a] - self.pull[b]);
        let votes = [Outcome::AWins, Outcome::BWins, Outcome::Tie];
        votes.into_iter().max_by(|one, other| moves(one).total_cmp(&moves(other))).unwrap_or(Outcome::Tie)
    }
}
