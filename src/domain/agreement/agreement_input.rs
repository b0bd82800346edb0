//! Input of agreement: votes and verdicts on pairs of models, and scores.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::battle::Outcome;
use crate::stats::agreement::choices::{Choice, PairVote, VotesByQuestion};

/// Vote or verdict of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Question key with its turn ([`question_key`]).
    pub question: String,
    /// The voter.
    pub voter: String,
    /// Models, in the order of the file.
    pub models: [String; 2],
    /// Outcome; side A is the first model.
    pub outcome: Outcome,
}

impl Vote {
    /// Returns the label for agreement: all kinds of tie are one (MT-Bench, appendix D.3).
    #[must_use]
    pub fn choice(&self) -> Choice {
        match self.outcome {
            Outcome::AWins => Choice::First,
            Outcome::BWins => Choice::Second,
            Outcome::Tie | Outcome::BothBad => Choice::Tie,
        }
    }

    /// Returns question, voter and models in name order, the same for both orders of the models.
    fn comparison(&self) -> (&str, &str, [&str; 2]) {
        let mut models = self.models.each_ref().map(String::as_str);
        models.sort_unstable();
        (&self.question, &self.voter, models)
    }

    /// Merges the vote with the same voter's vote on the models in the other order: a tie unless both say the same.
    fn merged(&self, other_order: &Self) -> Self {
        let is_same = self.outcome == other_order.outcome.swapped();
        Self { outcome: if is_same { self.outcome } else { Outcome::Tie }, ..self.clone() }
    }
}

/// Votes on pairs of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Votes(pub Vec<Vote>);

impl Votes {
    /// Returns the number of votes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no votes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Merges what a voter says on a question with the two models in either order: a tie unless both say the same. Of several votes in one
    /// order, the last counts. Returns the votes, and the number of merged pairs.
    pub(super) fn with_merged_orders(&self) -> (Cow<'_, Self>, usize) {
        let mut orders: HashMap<_, [Option<&Vote>; 2]> = HashMap::new();
        for vote in &self.0 {
            let place = usize::from(vote.models[0] > vote.models[1]);
            orders.entry(vote.comparison()).or_default()[place] = Some(vote);
        }
        let merged = orders.into_iter().filter_map(|(key, [one, other])| Some((key, Some(one?.merged(other?)))));
        let mut merged: HashMap<_, Option<Vote>> = merged.collect();
        let count = merged.len();
        if count == 0 {
            return (Cow::Borrowed(self), 0);
        }
        // The merged vote takes the place of the first.
        let votes = self.0.iter().filter_map(|vote| match merged.get_mut(&vote.comparison()) {
            Some(merged) => merged.take(),
            None => Some(vote.clone()),
        });
        (Cow::Owned(Self(votes.collect())), count)
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

/// Score of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Question key with its turn ([`question_key`]).
    pub question: String,
    /// The model.
    pub model: String,
    /// Rater: a judge or a person.
    pub rater: String,
    /// The score.
    pub score: f64,
}

/// Scores of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreData(pub Vec<Scored>);

/// Separator of a question and its turn: a character that questions do not contain.
const TURN_SEPARATOR: char = '\u{1f}';

/// Formats a question key for readers, with the turn where there are several.
pub(super) fn shown(question: &str) -> String {
    question.trim_end_matches(TURN_SEPARATOR).replace(TURN_SEPARATOR, ", turn ")
}

/// Returns the question of a key, without its turn and any suffix.
pub(super) fn item_of(key: &str) -> &str {
    key.split(TURN_SEPARATOR).next().unwrap_or_default()
}

/// Joins a question and its turn to one key.
#[must_use]
pub fn question_key(question: &str, turn: &str) -> String {
    format!("{question}{TURN_SEPARATOR}{turn}")
}
