//! Votes on pairs of models, verdicts and scores that are compared with one another.

use crate::battle::Outcome;
use crate::stats::agreement::choices::{Choice, PairVote, VotesByQuestion};

/// A vote or verdict of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The question with its turn ([`question_key`]).
    pub question: String,
    /// The voter.
    pub voter: String,
    /// The models, in the order of the file.
    pub models: [String; 2],
    /// Which is better; side A is the first model.
    pub outcome: Outcome,
}

impl Vote {
    /// The label of agreement: all kinds of tie are one (MT-Bench, appendix D.3).
    #[must_use]
    pub fn choice(&self) -> Choice {
        match self.outcome {
            Outcome::AWins => Choice::First,
            Outcome::BWins => Choice::Second,
            Outcome::Tie | Outcome::BothBad => Choice::Tie,
        }
    }
}

/// Votes on pairs of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Votes(pub Vec<Vote>);

impl Votes {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn by_question(&self) -> VotesByQuestion<'_> {
        VotesByQuestion::gather(self.0.iter().map(|vote| PairVote {
            question: &vote.question,
            voter: &vote.voter,
            models: vote.models.each_ref().map(String::as_str),
            choice: vote.choice(),
        }))
    }
}

/// A score of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The question with its turn ([`question_key`]).
    pub question: String,
    /// The model.
    pub model: String,
    /// The judge.
    pub rater: String,
    /// The score.
    pub score: f64,
}

/// Scores of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreSheet(pub Vec<Scored>);

/// What stands between a question and its turn: nothing that a question holds.
const TURN_MARK: char = '\u{1f}';

/// A question as people write it, with the turn behind it where there are several.
pub(super) fn shown(question: &str) -> String {
    question.trim_end_matches(TURN_MARK).replace(TURN_MARK, ", turn ")
}

/// The question of a key, without its turn and whatever stands behind it.
pub(super) fn item_of(key: &str) -> &str {
    key.split(TURN_MARK).next().unwrap_or_default()
}

/// A question and its turn in one key.
#[must_use]
pub fn question_key(question: &str, turn: &str) -> String {
    format!("{question}{TURN_MARK}{turn}")
}
