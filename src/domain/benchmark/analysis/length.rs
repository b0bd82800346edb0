//! Length bias: whether longer answers do better with a judge.
//!
//! A longer answer may well be the better one, so neither number is a fault in itself; beside people's votes or another
//! judge's they show who is swayed more.

use std::collections::BTreeMap;

use crate::judging::verdict::Preference;
use crate::stats::correlation::{Correlation, spearman_within};
use crate::stats::distribution::mean;
use crate::stats::real;
use crate::stats::{Share, Undefined};

/// A game and the lengths of its answers, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameLengths {
    /// What the judge said.
    pub winner: Preference,
    /// Of the answer shown first.
    pub a: u64,
    /// Of the answer shown second.
    pub b: u64,
}

/// The share of decided games that the longer answer won; games of equal lengths are left out. Half is no bias.
#[must_use]
pub fn longer_wins(games: &[GameLengths]) -> Share {
    let decided = games.iter().filter(|game| game.winner != Preference::Tie && game.a != game.b);
    let mut share = Share::default();
    for game in decided {
        share.total += 1;
        share.of += u64::from((game.winner == Preference::A) == (game.a > game.b));
    }
    share
}

/// A scored answer and its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredLength<'i> {
    /// Which question it answers.
    pub item: &'i str,
    /// In characters.
    pub length: u64,
    /// What the judge gave it.
    pub score: f64,
}

/// Spearman's ρ between the score of an answer and its length, each less its mean over the answers to the same question,
/// so that questions that ask for long answers, or are easy, do not count. A question's mean takes a degree of freedom: of two
/// answers the second says nothing that the first does not.
///
/// # Errors
/// [`Undefined`] where there are too few answers, or all are alike.
pub fn within_items(answers: &[ScoredLength<'_>]) -> Result<Correlation, Undefined> {
    let mut by_item: BTreeMap<&str, Vec<&ScoredLength<'_>>> = BTreeMap::new();
    for answer in answers {
        by_item.entry(answer.item).or_default().push(answer);
    }
    let (mut lengths, mut scores, mut items) = (Vec::new(), Vec::new(), 0);
    for answers in by_item.values().filter(|answers| answers.len() > 1) {
        lengths.extend(less_mean(answers.iter().map(|answer| real(answer.length)))?);
        scores.extend(less_mean(answers.iter().map(|answer| answer.score))?);
        items += 1;
    }
    spearman_within(&lengths, &scores, items)
}

fn less_mean(values: impl Iterator<Item = f64>) -> Result<Vec<f64>, Undefined> {
    let values: Vec<f64> = values.collect();
    let centre = mean(&values)?;
    Ok(values.into_iter().map(|value| value - centre).collect())
}
