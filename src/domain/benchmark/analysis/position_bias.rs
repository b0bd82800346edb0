//! Position bias: how often the verdict on two answers changes when they are swapped.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::benchmark::scores::judgement::{Game, Judgement};
use crate::benchmark::scores::score::Verdicts;
use crate::judging::verdict::{Preference, Verdict};
use crate::stats::{Share, Undefined};

/// Turns with two readable games, by combination of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PositionBias {
    /// Number of turns with two readable games.
    pub turns: u64,
    /// Number of turns on which both games agree.
    pub consistent: u64,
    /// Number of turns on which both games prefer the first position.
    pub first: u64,
    /// Number of turns on which both games prefer the second position.
    pub second: u64,
    /// Number of turns with exactly one tie.
    pub half_tie: u64,
}

impl PositionBias {
    /// Counts the games of one judge on all models.
    pub fn new<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> Self {
        let mut by_model: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
        for judgement in judgements {
            by_model.entry(&judgement.model).or_default().push(judgement);
        }
        by_model.retain(|_, own| own.iter().any(|judgement| matches!(judgement.parsed, Some(Verdict::Pair { .. }))));
        let mut bias = Self::default();
        for judgements in by_model.values() {
            let verdicts = Verdicts::new(judgements.iter().copied());
            let turns: BTreeSet<(&str, u32)> =
                judgements.iter().map(|judgement| (judgement.item_id.as_str(), judgement.turn)).collect();
            let winner = |(item, turn), game| match verdicts.get(item, turn, game)? {
                Verdict::Pair { winner, .. } => Some(*winner),
                _ => None,
            };
            let games = turns.into_iter().filter_map(|turn| winner(turn, Game::First).zip(winner(turn, Game::Second)));
            games.for_each(|(first, second)| bias.count(first, second));
        }
        bias
    }

    /// Counts the two games of one pair of answers, each in the order that the judge saw.
    pub fn count(&mut self, first: Preference, second: Preference) {
        self.turns += 1;
        let kind = match (first, second) {
            (Preference::A, Preference::B) | (Preference::B, Preference::A) | (Preference::Tie, Preference::Tie) => {
                &mut self.consistent
            }
            (Preference::A, Preference::A) => &mut self.first,
            (Preference::B, Preference::B) => &mut self.second,
            _ => &mut self.half_tie,
        };
        *kind += 1;
    }

    /// Returns the share of turns on which swapping changes the verdict.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without turns.
    pub fn changed(self) -> Result<f64, Undefined> {
        Share { of: self.turns - self.consistent, total: self.turns }.rate()
    }

    /// Returns how much more often a changed verdict prefers the first position than the second, of all turns: (first − second) / turns, -1
    /// to 1.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without turns.
    pub fn first_position_preference(self) -> Result<f64, Undefined> {
        let rate = |of| Share { of, total: self.turns }.rate();
        Ok(rate(self.first)? - rate(self.second)?)
    }
}
