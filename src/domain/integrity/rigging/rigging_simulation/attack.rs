//! Attacker who promotes one model.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::arena::SimulatedArena;
use super::{RiggingError, RiggingOptions};
use crate::battle::Outcome;
use crate::rating::logistic;
use crate::rating::strengths::crowd_expectation::CrowdExpectation;
use crate::rating::votes::vote_log::VoteLog;

/// Number of rigged votes after which the attacker who votes everywhere reads the leaderboard again.
const VOTES_PER_LEADERBOARD_READ: usize = 25;

/// Strategy of the attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackStrategy {
    /// Votes only where the target is recognized, always for it.
    TargetOnly,
    /// Votes in every battle, for the outcome that most narrows the target's gap to the next model above it (omnipresent rigging: Min et
    /// al. 2025, arXiv 2501.17858; influence as for the smallest number of votes that determine an order).
    VoteEverywhere,
}

impl AttackStrategy {
    /// All strategies.
    pub const ALL: [Self; 2] = [Self::TargetOnly, Self::VoteEverywhere];

    /// Returns the name of the strategy.
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
    /// Number of battles that the attacker has played, including this one.
    battles: usize,
}

/// Votes of one attacker, in their order.
#[derive(Debug)]
pub(super) struct Attack {
    target: usize,
    votes: Vec<RiggedVote>,
}

impl Attack {
    /// Simulates an attack. A share `honest_share` of its votes follows the crowd; the others help the target.
    pub(super) fn new(
        options: &RiggingOptions,
        arena: &SimulatedArena,
        strategy: AttackStrategy,
        honest_share: f64,
        target: usize,
    ) -> Result<Self, RiggingError> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.simulation.seed);
        rng.set_stream(1 + u64::try_from(target).unwrap_or(u64::MAX - 1));
        let mut attack = Self { target, votes: Vec::with_capacity(options.most_rigged) };
        let mut log = arena.log.clone();
        let mut aim = None;
        let mut battles = 0;
        let disguise = HonestVotes::new(&log, honest_share)?;
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
                    if attack.votes.len().is_multiple_of(VOTES_PER_LEADERBOARD_READ) || aim.is_none() {
                        aim = Some(VoteInfluence::new(&log, target)?);
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

    /// Returns the first votes.
    pub(super) fn votes(&self, rigged: usize) -> &[RiggedVote] {
        &self.votes[..rigged]
    }

    /// Returns the number of battles played for the first votes.
    pub(super) fn battles(&self, rigged: usize) -> usize {
        self.votes(rigged).last().map_or(0, |vote| vote.battles)
    }
}

/// Honest part of the attacker's votes, so that its accounts look like others.
struct HonestVotes {
    /// Share of all votes.
    share: f64,
    crowd: CrowdExpectation,
}

impl HonestVotes {
    fn new(log: &VoteLog, share: f64) -> Result<Self, RiggingError> {
        Ok(Self { share, crowd: CrowdExpectation::new(log)?.ok_or(crate::rating::FitError::NoVoters)? })
    }

    /// Returns whether the next vote is honest. An attacker without a disguise uses no random number.
    fn is_due(&self, rng: &mut impl Rng) -> bool {
        self.share > 0.0 && rng.random::<f64>() < self.share
    }

    /// Draws a vote from the crowd's probabilities.
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

/// Returns the model that the attacker believes a model to be.
fn recognize(model: usize, models: usize, accuracy: f64, rng: &mut impl Rng) -> usize {
    if rng.random::<f64>() < accuracy { model } else { rng.random_range(0..models) }
}

/// Influence of votes on the gap between the target and the next model above it.
struct VoteInfluence {
    crowd: CrowdExpectation,
    /// Influence by parameter.
    pull: Vec<f64>,
}

impl VoteInfluence {
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

    /// Returns the vote on two models that narrows the gap most.
    fn best_vote(&self, models: [usize; 2]) -> Outcome {
        let [Some(a), Some(b)] = models.map(|model| self.crowd.parameter(model)) else { return Outcome::Tie };
        let p = logistic(self.crowd.difference(a, b));
        let moves = |outcome: &Outcome| (outcome.points_a() - p) * (self.pull[a] - self.pull[b]);
        let votes = [Outcome::AWins, Outcome::BWins, Outcome::Tie];
        votes.into_iter().max_by(|one, other| moves(one).total_cmp(&moves(other))).unwrap_or(Outcome::Tie)
    }
}
