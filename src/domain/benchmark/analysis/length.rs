//! Length bias: whether a judge prefers longer answers.
//!
//! A longer answer may be the better one, so neither statistic is a fault in itself; compared with people's votes or another judge they
//! show who has the stronger bias.

use std::collections::BTreeMap;

use crate::judging::verdict::Preference;
use crate::stats::correlation::{Correlation, spearman_within};
use crate::stats::distribution::mean;
use crate::stats::real;
use crate::stats::{Share, Undefined};

/// Game with the lengths of its answers, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameLengths {
    /// Judge's preference.
    pub winner: Preference,
    /// Length of the answer shown first.
    pub a: u64,
    /// Length of the answer shown second.
    pub b: u64,
}

/// Computes the share of decided games that the longer answer won; games of equal lengths are left out. Half means no bias.
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

/// Scored answer with its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredLength<'i> {
    /// Id of the item that was answered.
    pub item: &'i str,
    /// Length in characters.
    pub length: u64,
    /// Score by the judge.
    pub score: f64,
}

/// Computes Spearman's ρ between scores and lengths of answers, each minus its mean over the answers to the same question, so that
/// questions that need long answers, or are easy, have no effect. A question's mean takes a degree of freedom: of two answers the second
/// one adds no information.
///
/// # Errors
/// [`Undefined`] if there are too few answers, or all are equal.
pub fn within_items(answers: &[ScoredLength<'_>]) -> Result<Correlation, Undefined> {
    let mut by_item: BTreeMap<&str, Vec<&ScoredLength<'_>>> = BTreeMap::new();
    for answer in answers {
        by_item.entry(answer.item).or_default().push(answer);
    }
    let (mut lengths, mut scores, mut items) = (Vec::new(), Vec::new(), 0);
    for answers in by_item.values().filter(|answers| answers.len() > 1) {
        lengths.extend(centred(answers.iter().map(|answer| real(answer.length)))?);
        scores.extend(centred(answers.iter().map(|answer| answer.score))?);
        items += 1;
    }
    spearman_within(&lengths, &scores, items)
}

fn centred(values: impl Iterator<Item = f64>) -> Result<Vec<f64>, Undefined> {
    let values: Vec<f64> = values.collect();
    let centre = mean(&values)?;
    Ok(values.into_iter().map(|value| value - centre).collect())
}
