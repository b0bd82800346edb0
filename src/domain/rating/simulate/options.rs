//! Options of a simulation, and their checks.

use std::str::FromStr;

use super::super::style::FEATURES;
use crate::plural::counted;

pub(super) const FEATURE_COUNT: usize = FEATURES.len();
/// Maximum number of models: all pairs of more would not fit into memory.
const MAX_MODELS: u32 = 5_000;
/// Maximum number of voters: the weights of more would not fit into memory.
const MAX_VOTERS: u32 = 10_000_000;
/// Largest spread and effect, in log odds: strengths 50 apart decide every vote, and all probabilities are still above 0.
const MAX_LOG_ODDS: f64 = 50.0;

/// Options of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationOptions {
    /// Number of models, at least 2.
    pub models: u32,
    /// Seed: the same options and seed give the same votes.
    pub seed: u64,
    /// Standard deviation of the strengths, in log odds: 0 to 50.
    pub spread: f64,
    /// Share of votes that are ties.
    pub ties: f64,
    /// Share of both-bad votes.
    pub both_bad: f64,
    /// Number of voters.
    pub voters: u32,
    /// Distribution of the votes over the voters.
    pub activity: VoterActivity,
    /// ρ, the share of a vote's random variation that is the voter's lasting taste: 0 for independent votes, below 1.
    pub voter_spread: f64,
    /// β: change of the log odds per standard deviation of each feature, in the order of [`FEATURES`]: −50 to 50.
    pub style: [f64; FEATURE_COUNT],
    /// Pairing policy.
    pub pairing: PairingPolicy,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            models: 20,
            seed: 0,
            spread: 1.0,
            ties: 0.0,
            both_bad: 0.0,
            voters: 1000,
            activity: VoterActivity::default(),
            voter_spread: 0.0,
            style: [0.0; FEATURE_COUNT],
            pairing: PairingPolicy::default(),
        }
    }
}

/// Distribution of the pairs of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairingPolicy {
    /// All pairs are equally likely.
    #[default]
    Uniform,
    /// The k-th model is chosen in proportion to 1/k: few models have most of the votes.
    Zipf,
    /// Models of similar strength meet more often: in proportion to p(1−p).
    Close,
}

/// Distribution of the votes over the voters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VoterActivity {
    /// All voters vote equally often.
    #[default]
    Equal,
    /// The k-th voter votes in proportion to 1/k: few voters cast most of the votes.
    Zipf,
}

/// An unknown name of a [`VoterActivity`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected equal or zipf")]
pub struct UnknownActivity;

impl FromStr for VoterActivity {
    type Err = UnknownActivity;

    fn from_str(text: &str) -> Result<Self, UnknownActivity> {
        match text {
            "equal" => Ok(Self::Equal),
            "zipf" => Ok(Self::Zipf),
            _ => Err(UnknownActivity),
        }
    }
}

/// An unknown name of a [`PairingPolicy`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected uniform, zipf or close")]
pub struct UnknownPairing;

impl FromStr for PairingPolicy {
    type Err = UnknownPairing;

    fn from_str(text: &str) -> Result<Self, UnknownPairing> {
        match text {
            "uniform" => Ok(Self::Uniform),
            "zipf" => Ok(Self::Zipf),
            "close" => Ok(Self::Close),
            _ => Err(UnknownPairing),
        }
    }
}

impl PairingPolicy {
    /// Returns the name in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Close => "close",
        }
    }
}

/// Error of invalid simulation options.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Too few or too many models.
    #[error("{} cannot be simulated: give 2 to {MAX_MODELS}", counted(.0, "model", "models"))]
    Models(u32),
    /// No voters, or too many.
    #[error("{0} voters cannot be simulated: give 1 to {MAX_VOTERS}")]
    Voters(u32),
    /// A value outside of 0 to 1.
    #[error("{what} is {value}: give a number from 0 and below 1")]
    Share {
        /// Name of the value.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// Log odds out of their range.
    #[error("{what} is {value:?}: give a number from {lowest} to {MAX_LOG_ODDS}, in log odds")]
    LogOdds {
        /// Name of the value.
        what: &'static str,
        /// The value.
        value: f64,
        /// The smallest possible value.
        lowest: f64,
    },
    /// More ties than the strengths allow.
    #[error(
        "a share of {requested:.3} ties and both-bad votes is impossible: models this far apart allow at most {most:.3}"
    )]
    TooManyTies {
        /// Requested share.
        requested: f64,
        /// Largest possible share.
        most: f64,
    },
}

impl SimulationOptions {
    pub(super) fn check(&self) -> Result<(), SimulationError> {
        if !(2..=MAX_MODELS).contains(&self.models) {
            return Err(SimulationError::Models(self.models));
        }
        if !(1..=MAX_VOTERS).contains(&self.voters) {
            return Err(SimulationError::Voters(self.voters));
        }
        let shares = [
            ("the share of ties", self.ties),
            ("the share of both bad", self.both_bad),
            ("the voters' taste", self.voter_spread),
        ];
        for (what, value) in shares {
            if !(0.0..1.0).contains(&value) {
                return Err(SimulationError::Share { what, value });
            }
        }
        let effects = self.style.iter().map(|&effect| ("an effect of style", effect, -MAX_LOG_ODDS));
        for (what, value, lowest) in effects.chain([("the spread of strengths", self.spread, 0.0)]) {
            if !(lowest..=MAX_LOG_ODDS).contains(&value) {
                return Err(SimulationError::LogOdds { what, value, lowest });
            }
        }
        Ok(())
    }
}
