//! What can be simulated, and what cannot.

use std::str::FromStr;

use super::super::style::FEATURES;

pub(super) const FEATURE_COUNT: usize = FEATURES.len();
/// More pairs than this do not fit into memory.
const MOST_MODELS: u32 = 5_000;

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationOptions {
    /// Number of models, at least 2.
    pub models: u32,
    /// What all randomness is from: the same options and seed give the same votes.
    pub seed: u64,
    /// Standard deviation of the strengths, in log odds.
    pub spread: f64,
    /// Share of votes that are ties.
    pub ties: f64,
    /// Share of votes that say both are bad.
    pub both_bad: f64,
    /// Number of voters, who vote equally often.
    pub voters: u32,
    /// ρ, the share of a vote's luck that is its voter's taste: 0 for independent votes, below 1.
    pub voter_spread: f64,
    /// β: log odds of one standard deviation more of each feature, in the order of [`FEATURES`].
    pub style: [f64; FEATURE_COUNT],
    /// Who meets whom.
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
            voter_spread: 0.0,
            style: [0.0; FEATURE_COUNT],
            pairing: PairingPolicy::default(),
        }
    }
}

/// Who meets whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairingPolicy {
    /// All pairs equally often.
    #[default]
    Uniform,
    /// The k-th model is drawn in proportion to 1/k: few models have most of the votes.
    Zipf,
    /// Models of like strength more often: in proportion to p(1−p).
    Close,
}

/// A text that names no [`PairingPolicy`].
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
    /// Its name in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Close => "close",
        }
    }
}

/// Why nothing can be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Too few or too many models.
    #[error("{0} models cannot be simulated: give 2 to {MOST_MODELS}")]
    Models(u32),
    /// No voters.
    #[error("votes need a voter: give at least 1")]
    NoVoters,
    /// Something that is not a share.
    #[error("{what} is {value}: give a number from 0 and below 1")]
    Share {
        /// What it should be a share of.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Something that is not a finite number.
    #[error("{what} is {value}: give a finite number")]
    NotFinite {
        /// What.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// More ties than such strengths allow.
    #[error("{asked:.3} of the votes cannot be ties or both bad: models so far apart leave at most {most:.3}")]
    TooManyTies {
        /// The share asked for.
        asked: f64,
        /// The largest share.
        most: f64,
    },
}

impl SimulationOptions {
    pub(super) fn check(&self) -> Result<(), SimulationError> {
        if !(2..=MOST_MODELS).contains(&self.models) {
            return Err(SimulationError::Models(self.models));
        }
        if self.voters == 0 {
            return Err(SimulationError::NoVoters);
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
        let numbers = self.style.iter().map(|&effect| ("an effect of style", effect));
        for (what, value) in numbers.chain([("the spread of strengths", self.spread)]) {
            if !value.is_finite() {
                return Err(SimulationError::NotFinite { what, value });
            }
        }
        Ok(())
    }
}
