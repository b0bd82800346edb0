//! Simulates votes from known strengths, to measure the precision of a number of votes and the coverage of intervals.
//!
//! The win share of A is exactly p = σ(θ_a − θ_b + x·β) under all options, so a fit of the votes should recover the
//! strengths and effects of the simulation:
//!
//! - Ties and both-bad votes take κ·p(1−p) of the votes, half of it from each side.
//! - A voter's taste is not noise added to the strengths, which would shrink every fitted strength. Instead, each vote
//!   has a standard normal z, in which the voter's lasting taste for the two models, (t_a − t_b)/√2, has a share ρ of the
//!   variance and independent noise the rest; A wins if Φ(z) < p (a Gaussian copula). The votes of one voter on one pair
//!   then have correlation ρ in z, and the probability of each single vote is unchanged.
//!
//! [`Simulation`] draws one vote at a time and keeps only the models in memory.

mod options;
mod pairs;
mod voters;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

use options::FEATURE_COUNT;
pub use options::{PairingPolicy, SimulationError, SimulationOptions, UnknownActivity, UnknownPairing, VoterActivity};
use pairs::PairSampler;
use voters::VoterSampler;

use super::strengths::negative_log_likelihood::logistic;
use super::votes::vote_log::{ColumnSet, VoteLog};
use super::{MEAN_RATING, POINTS_PER_STRENGTH};
use crate::battle::Outcome;
use crate::stats::real_len;

/// Votes drawn in advance if style has effects, to estimate the standard deviations of the features (to about one
/// percent) and the number of ties for a κ.
const PILOT_VOTES: usize = 1 << 13;
/// Largest κ: above it, the tie probability would exceed the weaker side's share.
const MAX_KAPPA: f64 = 2.0;

/// A model with its true strength.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedModel {
    /// Its name.
    pub name: String,
    /// θ, with mean 0 over the models.
    pub strength: f64,
    /// Log factor of the length and formatting of its replies.
    verbosity: f64,
}

impl SimulatedModel {
    /// Returns the strength on the public scale.
    #[must_use]
    pub fn rating(&self) -> f64 {
        MEAN_RATING + POINTS_PER_STRENGTH * self.strength
    }
}

/// Simulated vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedVote {
    /// The model on side A, by position.
    pub a: usize,
    /// The model on side B.
    pub b: usize,
    /// The vote.
    pub outcome: Outcome,
    /// The voter, from 0.
    pub voter: u32,
    /// Style counts of sides A and B, by feature.
    pub counts: [[u32; 2]; FEATURE_COUNT],
    /// Probability of the pair.
    pub pair_probability: f64,
}

/// Endless generator of simulated votes.
#[derive(Debug)]
pub struct Simulation {
    options: SimulationOptions,
    models: Vec<SimulatedModel>,
    pairs: PairSampler,
    voters: VoterSampler,
    /// Standard deviation of each feature.
    deviations: [f64; FEATURE_COUNT],
    /// κ, and the share of ties in it; the rest are both-bad votes.
    kappa: f64,
    tie_share: f64,
    rng: ChaCha8Rng,
}

/// A battle before its outcome.
struct SimulatedBattle {
    a: usize,
    b: usize,
    pair_probability: f64,
    counts: [[u32; 2]; FEATURE_COUNT],
}

impl Simulation {
    /// Draws the models.
    ///
    /// # Errors
    /// [`SimulationError`] for invalid options.
    pub fn new(options: SimulationOptions) -> Result<Self, SimulationError> {
        options.check()?;
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let models = draw_models(&options, &mut rng);
        let pairs = PairSampler::new(&models, options.pairing);
        let voters = VoterSampler::new(options.voters, options.activity);
        let mut simulation =
            Self { options, models, pairs, voters, deviations: [1.0; FEATURE_COUNT], kappa: 0.0, tie_share: 1.0, rng };
        simulation.estimate_scales()?;
        Ok(simulation)
    }

    /// Returns the models, by position.
    #[must_use]
    pub fn models(&self) -> &[SimulatedModel] {
        &self.models
    }

    /// Draws the next vote.
    pub fn vote(&mut self) -> SimulatedVote {
        let meeting = self.simulate_battle();
        self.decide(meeting)
    }

    /// Draws votes into a log that names each voter by number.
    pub fn log(&mut self, votes: usize) -> VoteLog {
        let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
        for _ in 0..votes {
            let vote = self.vote();
            let [a, b] = [vote.a, vote.b].map(|model| self.models[model].name.as_str());
            log.push(a, b, vote.outcome).expect("a pair is two models");
            if let Some(voters) = &mut log.voters {
                voters.push(Some(&vote.voter.to_string()));
            }
        }
        log
    }

    /// Draws a vote on the models at these positions, paired by the caller.
    pub(crate) fn vote_on(&mut self, a: usize, b: usize, pair_probability: f64) -> SimulatedVote {
        let meeting = SimulatedBattle { a, b, pair_probability, counts: self.style_counts(a, b) };
        self.decide(meeting)
    }

    fn decide(&mut self, SimulatedBattle { a, b, pair_probability, counts }: SimulatedBattle) -> SimulatedVote {
        let voter = self.voters.draw(&mut self.rng);
        let p = self.share_of_a(a, b, &counts);
        let noise = self.noise(voter, a, b);
        let undecided = 0.5 * self.kappa * p * (1.0 - p);
        let outcome = if noise < p - undecided {
            Outcome::AWins
        } else if noise >= p + undecided {
            Outcome::BWins
        } else if self.rng.random::<f64>() < self.tie_share {
            Outcome::Tie
        } else {
            Outcome::BothBad
        };
        SimulatedVote { a, b, outcome, voter, counts, pair_probability }
    }

    /// Draws a value uniform between 0 and 1; small values favour A.
    fn noise(&mut self, voter: u32, a: usize, b: usize) -> f64 {
        let shared = self.options.voter_spread;
        if shared <= 0.0 {
            return self.rng.random();
        }
        let taste = (self.taste(voter, b) - self.taste(voter, a)) * std::f64::consts::FRAC_1_SQRT_2;
        let own: f64 = StandardNormal.sample(&mut self.rng);
        Normal::standard().cdf(shared.sqrt() * taste + (1.0 - shared).sqrt() * own)
    }

    /// Draws a voter's lasting taste for a model, standard normal. It is derived from its own seed each time, so no table of
    /// voters by models is needed.
    fn taste(&self, voter: u32, model: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed ^ 0x7461_7374_6500_0000);
        rng.set_stream(u64::from(voter) << 32 | u64::try_from(model).unwrap_or(u64::MAX));
        StandardNormal.sample(&mut rng)
    }

    /// Computes p = σ(θ_a − θ_b + x·β).
    fn share_of_a(&self, a: usize, b: usize, counts: &[[u32; 2]; FEATURE_COUNT]) -> f64 {
        let mut d = self.models[a].strength - self.models[b].strength;
        for ((counts, std_dev), effect) in counts.iter().zip(self.deviations).zip(self.options.style) {
            d += effect * normalized_difference(*counts) / std_dev;
        }
        logistic(d)
    }

    fn simulate_battle(&mut self) -> SimulatedBattle {
        let ([mut a, mut b], pair_probability) = self.pairs.draw(&mut self.rng);
        if self.rng.random() {
            std::mem::swap(&mut a, &mut b);
        }
        SimulatedBattle { a, b, pair_probability, counts: self.style_counts(a, b) }
    }

    fn style_counts(&mut self, a: usize, b: usize) -> [[u32; 2]; FEATURE_COUNT] {
        let (of_a, of_b) = (self.reply_counts(a), self.reply_counts(b));
        std::array::from_fn(|feature| [of_a[feature], of_b[feature]])
    }

    /// Draws style counts: tokens are log-normal; headings, list items and bold spans are often zero and sometimes many.
    fn reply_counts(&mut self, model: usize) -> [u32; FEATURE_COUNT] {
        let verbosity = self.models[model].verbosity.exp();
        let normal: f64 = StandardNormal.sample(&mut self.rng);
        let tokens = 1.0 + 300.0 * verbosity * (0.7 * normal).exp();
        let mut marks = |share: f64, mean: f64| {
            let some = self.rng.random::<f64>() < share;
            let many = -(1.0 - self.rng.random::<f64>()).ln();
            if some { 1.0 + mean * verbosity * many } else { 0.0 }
        };
        [tokens, marks(0.4, 2.0), marks(0.6, 6.0), marks(0.6, 4.0)].map(whole)
    }

    /// Estimates the standard deviations of the features and the scale of κ from pilot votes of the same generator.
    fn estimate_scales(&mut self) -> Result<(), SimulationError> {
        let with_style = self.options.style.iter().any(|&effect| effect.abs() > 0.0);
        let variance = if with_style { self.variance_of_pilot() } else { self.pairs.variance(&self.models) };
        let requested = self.options.ties + self.options.both_bad;
        if requested > 0.0 {
            self.kappa = requested / variance;
            self.tie_share = self.options.ties / requested;
        }
        if self.kappa > MAX_KAPPA {
            return Err(SimulationError::TooManyTies { requested, most: MAX_KAPPA * variance });
        }
        Ok(())
    }

    /// Estimates the mean of p(1−p) over pilot votes, and from the same votes the standard deviations of the features.
    fn variance_of_pilot(&mut self) -> f64 {
        let pilot: Vec<SimulatedBattle> = (0..PILOT_VOTES).map(|_| self.simulate_battle()).collect();
        for (feature, std_dev) in self.deviations.iter_mut().enumerate() {
            // Sides are assigned by a fair coin, so the mean is 0.
            let squares =
                pilot.iter().map(|meeting| normalized_difference(meeting.counts[feature]).powi(2)).sum::<f64>();
            *std_dev = (squares / real_len(PILOT_VOTES)).sqrt();
        }
        let variance = |meeting: &SimulatedBattle| {
            let p = self.share_of_a(meeting.a, meeting.b, &meeting.counts);
            p * (1.0 - p)
        };
        pilot.iter().map(variance).sum::<f64>() / real_len(PILOT_VOTES)
    }
}

fn draw_models(options: &SimulationOptions, rng: &mut impl Rng) -> Vec<SimulatedModel> {
    let digits = options.models.to_string().len();
    let mut models: Vec<SimulatedModel> = (1..=options.models)
        .map(|number| {
            let [strength, verbosity]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut *rng));
            let name = format!("model-{number:0digits$}");
            SimulatedModel { name, strength: options.spread * strength, verbosity: 0.3 * verbosity }
        })
        .collect();
    let mean = models.iter().map(|model| model.strength).sum::<f64>() / real_len(models.len());
    models.iter_mut().for_each(|model| model.strength -= mean);
    models
}

/// Computes (a − b)/(a + b), 0 where both are 0.
fn normalized_difference([a, b]: [u32; 2]) -> f64 {
    let (a, b) = (f64::from(a), f64::from(b));
    if a + b > 0.0 { (a - b) / (a + b) } else { 0.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of one reply, cut to whole ones")]
fn whole(count: f64) -> u32 {
    count as u32
}
