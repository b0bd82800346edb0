//! Votes from known strengths, so that anyone can see what a number of votes can tell and whether intervals hold.
//!
//! The share of wins of A is exactly p = σ(θ_a − θ_b + x·β) whatever else is asked for, so that the strengths and effects
//! put in are what a fit of the votes should find:
//!
//! - Ties and both-bad votes take κ·p(1−p) of the votes, half of it from each side.
//! - A voter's own taste is not noise added to strengths, which would pull every fitted strength towards the mean. The
//!   luck of a vote is a normal number z, of which a share ρ of the variance is the voter's lasting taste for the two
//!   models, (t_a − t_b)/√2, and the rest is new each time; A wins where Φ(z) < p (a Gaussian copula). The votes of one
//!   voter on one pair then have the correlation ρ, and each vote for itself is as likely as without it.
//!
//! [`Simulation`] draws one vote at a time and holds the models only, however many votes there are. `options` says what
//! can be asked for, `pairs` draws who meets whom.

mod options;
mod pairs;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

use options::FEATURE_COUNT;
pub use options::{PairingPolicy, SimulationError, SimulationOptions, UnknownPairing};
use pairs::Pairs;

use super::loss::logistic;
use super::{CENTRE, POINTS_PER_STRENGTH, real_len};
use crate::domain::battle::Outcome;

/// Votes drawn beforehand where style has effects, to learn how spread the features are (to about a percent) and how
/// many ties a κ makes.
const PILOT: usize = 1 << 13;
/// The largest κ: above it more than the weaker side's votes would be ties.
const MOST_TIES: f64 = 2.0;

/// A model with the strength that its votes are drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedModel {
    /// Its name.
    pub name: String,
    /// θ, with mean 0 over the models.
    pub strength: f64,
    /// Log of how much longer and more formatted its replies are than the usual.
    verbosity: f64,
}

impl SimulatedModel {
    /// The strength on the public scale.
    #[must_use]
    pub fn rating(&self) -> f64 {
        CENTRE + POINTS_PER_STRENGTH * self.strength
    }
}

/// One vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedVote {
    /// The model on side A, by position.
    pub a: usize,
    /// The model on side B.
    pub b: usize,
    /// What the voter said.
    pub outcome: Outcome,
    /// Who voted, from 0.
    pub voter: u32,
    /// Counts of each feature on sides A and B.
    pub counts: [[u32; 2]; FEATURE_COUNT],
    /// How likely the pair was.
    pub pair_probability: f64,
}

/// Draws votes without end.
#[derive(Debug)]
pub struct Simulation {
    options: SimulationOptions,
    models: Vec<SimulatedModel>,
    pairs: Pairs,
    /// Standard deviation of each feature.
    deviations: [f64; FEATURE_COUNT],
    /// κ, and the share of it that is ties and not both bad.
    kappa: f64,
    tie_share: f64,
    rng: ChaCha8Rng,
}

/// What is drawn before the outcome.
struct Meeting {
    a: usize,
    b: usize,
    pair_probability: f64,
    counts: [[u32; 2]; FEATURE_COUNT],
}

impl Simulation {
    /// Draws the models and gets ready to draw votes.
    ///
    /// # Errors
    /// [`SimulationError`] for options that cannot be.
    pub fn new(options: SimulationOptions) -> Result<Self, SimulationError> {
        options.check()?;
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let models = draw_models(&options, &mut rng);
        let pairs = Pairs::new(&models, options.pairing);
        let mut simulation =
            Self { options, models, pairs, deviations: [1.0; FEATURE_COUNT], kappa: 0.0, tie_share: 1.0, rng };
        simulation.learn_scales()?;
        Ok(simulation)
    }

    /// The models, by position.
    #[must_use]
    pub fn models(&self) -> &[SimulatedModel] {
        &self.models
    }

    /// Draws the next vote.
    pub fn vote(&mut self) -> SimulatedVote {
        let Meeting { a, b, pair_probability, counts } = self.meeting();
        let voter = self.rng.random_range(0..self.options.voters);
        let p = self.share_of_a(a, b, &counts);
        let luck = self.luck(voter, a, b);
        let undecided = 0.5 * self.kappa * p * (1.0 - p);
        let outcome = if luck < p - undecided {
            Outcome::AWins
        } else if luck >= p + undecided {
            Outcome::BWins
        } else if self.rng.random::<f64>() < self.tie_share {
            Outcome::Tie
        } else {
            Outcome::BothBad
        };
        SimulatedVote { a, b, outcome, voter, counts, pair_probability }
    }

    /// Uniform between 0 and 1; low luck is luck for A.
    fn luck(&mut self, voter: u32, a: usize, b: usize) -> f64 {
        let shared = self.options.voter_spread;
        if shared <= 0.0 {
            return self.rng.random();
        }
        let taste = (self.taste(voter, b) - self.taste(voter, a)) * std::f64::consts::FRAC_1_SQRT_2;
        let own: f64 = StandardNormal.sample(&mut self.rng);
        Normal::standard().cdf(shared.sqrt() * taste + (1.0 - shared).sqrt() * own)
    }

    /// A voter's lasting taste for a model, standard normal. It is drawn anew from its own seed each time, so that no
    /// table of voters by models has to be kept.
    fn taste(&self, voter: u32, model: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed ^ 0x7461_7374_6500_0000);
        rng.set_stream(u64::from(voter) << 32 | u64::try_from(model).unwrap_or(u64::MAX));
        StandardNormal.sample(&mut rng)
    }

    /// p = σ(θ_a − θ_b + x·β).
    fn share_of_a(&self, a: usize, b: usize, counts: &[[u32; 2]; FEATURE_COUNT]) -> f64 {
        let mut d = self.models[a].strength - self.models[b].strength;
        for ((counts, std_dev), effect) in counts.iter().zip(self.deviations).zip(self.options.style) {
            d += effect * difference(*counts) / std_dev;
        }
        logistic(d)
    }

    fn meeting(&mut self) -> Meeting {
        let ([mut a, mut b], pair_probability) = self.pairs.draw(&mut self.rng);
        if self.rng.random() {
            std::mem::swap(&mut a, &mut b);
        }
        let (of_a, of_b) = (self.reply_counts(a), self.reply_counts(b));
        let mut counts = [[0; 2]; FEATURE_COUNT];
        for (feature, sides) in counts.iter_mut().enumerate() {
            *sides = [of_a[feature], of_b[feature]];
        }
        Meeting { a, b, pair_probability, counts }
    }

    /// Tokens are log-normal; headings, list items and bold spans are often none and now and then many.
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

    /// Finds what the features and κ are measured by. What has to be drawn for it comes from the generator of the votes,
    /// which go on from there.
    fn learn_scales(&mut self) -> Result<(), SimulationError> {
        let with_style = self.options.style.iter().any(|&effect| effect.abs() > 0.0);
        let variance = if with_style { self.variance_of_pilot() } else { self.pairs.variance(&self.models) };
        let asked = self.options.ties + self.options.both_bad;
        if asked > 0.0 {
            self.kappa = asked / variance;
            self.tie_share = self.options.ties / asked;
        }
        if self.kappa > MOST_TIES {
            return Err(SimulationError::TooManyTies { asked, most: MOST_TIES * variance });
        }
        Ok(())
    }

    /// The mean of p(1−p) over votes drawn for it, which also tell the deviations of the features.
    fn variance_of_pilot(&mut self) -> f64 {
        let pilot: Vec<Meeting> = (0..PILOT).map(|_| self.meeting()).collect();
        for (feature, std_dev) in self.deviations.iter_mut().enumerate() {
            // The side is drawn by a coin, so the mean is 0.
            let squares = pilot.iter().map(|meeting| difference(meeting.counts[feature]).powi(2)).sum::<f64>();
            *std_dev = (squares / real_len(PILOT)).sqrt();
        }
        let variance = |meeting: &Meeting| {
            let p = self.share_of_a(meeting.a, meeting.b, &meeting.counts);
            p * (1.0 - p)
        };
        pilot.iter().map(variance).sum::<f64>() / real_len(PILOT)
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

/// (a − b)/(a + b), 0 where both are 0.
fn difference([a, b]: [u32; 2]) -> f64 {
    let (a, b) = (f64::from(a), f64::from(b));
    if a + b > 0.0 { (a - b) / (a + b) } else { 0.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of one reply, cut to whole ones")]
fn whole(count: f64) -> u32 {
    count as u32
}
