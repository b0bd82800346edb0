//! Battles: two hidden models on two sides, compared by a voter.
//!
//! Pure: [`message`] has the messages to models, [`progress`] the allowed actions, [`pairing`] chooses the two models, [`pacing`] schedules
//! the visible text of replies, [`event_log`] numbers the events that a visitor sees, [`active_battle`] is a battle in memory, [`record`] a
//! stored one, [`past_battle`] the view of a finished one, [`mode`] says which models are known before the vote. `services::arena` runs
//! battles with them.

pub mod active_battle;
pub mod event_log;
pub mod ids;
pub mod message;
pub mod mode;
pub mod model_card;
pub mod pacing;
pub mod pairing;
pub mod past_battle;
pub mod progress;
pub mod prompt_check;
pub mod prompt_language;
pub mod record;
pub mod speed;
pub mod text_counts;
pub mod vote_reasons;
pub mod vote_receipt;

pub use ids::{BattleId, ImageId, ModelId, RunId, VisitorId};
use serde::{Deserialize, Serialize};

/// A position on the visitor's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Shown first.
    A,
    /// Shown second.
    B,
}

impl Side {
    /// Both sides in the order in which they are shown.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// Position in a two-element array.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Side::A => 0,
            Side::B => 1,
        }
    }

    /// The opposite side.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }

    /// Displayed letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Side::A => "A",
            Side::B => "B",
        }
    }

    /// Spelling on the wire and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Side::A => "a",
            Side::B => "b",
        }
    }
}

/// Outcome of a comparison of two replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// The reply on side A is better.
    #[serde(rename = "a")]
    AWins,
    /// The reply on side B is better.
    #[serde(rename = "b")]
    BWins,
    /// Both are equally good.
    #[serde(rename = "tie")]
    Tie,
    /// Neither is good.
    #[serde(rename = "both_bad")]
    BothBad,
}

/// Error of parsing an outcome: a text other than the four spellings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown outcome {0:?}: send \"a\", \"b\", \"tie\" or \"both_bad\"")]
pub struct UnknownOutcome(pub String);

impl Outcome {
    /// The four outcomes.
    pub const ALL: [Outcome; 4] = [Outcome::AWins, Outcome::BWins, Outcome::Tie, Outcome::BothBad];

    /// Parses the wire's spelling.
    ///
    /// # Errors
    /// [`UnknownOutcome`] for anything else.
    pub fn parse(text: &str) -> Result<Self, UnknownOutcome> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| UnknownOutcome(text.chars().take(40).collect()))
    }

    /// The outcome with the sides swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Outcome::AWins => Outcome::BWins,
            Outcome::BWins => Outcome::AWins,
            same => same,
        }
    }

    /// The wire's and the database's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::AWins => "a",
            Outcome::BWins => "b",
            Outcome::Tie => "tie",
            Outcome::BothBad => "both_bad",
        }
    }

    /// Value of `winner` in LMArena's logs, in exports and in the public log.
    #[must_use]
    pub fn winner(self) -> &'static str {
        match self {
            Outcome::AWins => "model_a",
            Outcome::BWins => "model_b",
            Outcome::Tie => "tie",
            Outcome::BothBad => "both_bad",
        }
    }

    /// Parses a value of [`Outcome::winner`]; `None` for anything else.
    #[must_use]
    pub fn of_winner(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.winner() == word)
    }

    /// Points of side A: 1 for a win, 0 for a loss, one half otherwise. Ties and both-bad count half to each
    /// side, as in FastChat, so that leaderboards compare.
    #[must_use]
    pub fn points_a(self) -> f64 {
        match self {
            Outcome::AWins => 1.0,
            Outcome::BWins => 0.0,
            Outcome::Tie | Outcome::BothBad => 0.5,
        }
    }
}
