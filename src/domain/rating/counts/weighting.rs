//! Weights of votes, for logs in which some pairs were drawn more often than others.
//!
//! Weights are scaled to sum to the number of votes: neither ratings nor intervals depend on the scale, and the
//! likelihood stays comparable.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::FitError;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::VoteLog;
use super::tally::{PairTally, Tally};
use crate::battle::Outcome;
use crate::rating::counts::pair_counts::PairCounts;
use crate::stats::real;

/// Pairs with fewer votes are weighted as if they had this many, so that a rare pair does not dominate.
const MIN_PAIR_VOTES: u64 = 50;
/// Minimum pair probability: a smaller one never occurs, and its weight would cost the others their precision.
const MIN_PROBABILITY: f64 = 1e-12;

/// Weights of the votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reweight {
    /// Equal weights.
    #[default]
    None,
    /// 1 / max(votes of the pair, 50): every pair that met often has the same influence.
    PairCount,
    /// 1 / probability of the pair at pairing time: as if all pairs were equally likely.
    PairProbability,
}

/// An unknown name of a reweighting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected none, pair-count or pair-probability")]
pub struct UnknownReweight;

impl std::str::FromStr for Reweight {
    type Err = UnknownReweight;

    fn from_str(text: &str) -> Result<Self, UnknownReweight> {
        match text {
            "none" => Ok(Self::None),
            "pair-count" => Ok(Self::PairCount),
            "pair-probability" => Ok(Self::PairProbability),
            _ => Err(UnknownReweight),
        }
    }
}

/// The weights of the votes of a log.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::rating) enum Weights {
    Equal,
    /// Weights by positions in the tally, the lower one first.
    ByPair(HashMap<(usize, usize), f64>),
    /// Weights by log row.
    ByVote(Vec<f64>),
}

impl Weights {
    /// Returns the weight of the vote in a row between the models at `a` and `b` in the tally.
    pub(in crate::rating) fn of_vote(&self, row: usize, a: usize, b: usize) -> f64 {
        match self {
            Self::Equal => 1.0,
            Self::ByPair(pairs) => pairs[&(a.min(b), a.max(b))],
            Self::ByVote(votes) => votes[row],
        }
    }
}

/// Weights the votes of a tally, which was made from `log`, if given, with `scoring`.
///
/// # Errors
/// [`FitError`] if weights by probability are requested and the log has no valid probabilities.
pub(in crate::rating) fn weigh(
    tally: &mut Tally,
    log: Option<&VoteLog>,
    scoring: Scoring,
    reweight: Reweight,
) -> Result<Weights, FitError> {
    match reweight {
        Reweight::None => Ok(Weights::Equal),
        Reweight::PairCount => Ok(by_pair(tally)),
        Reweight::PairProbability => by_probability(tally, log.ok_or(FitError::NoPairProbabilities)?, scoring),
    }
}

fn by_pair(tally: &mut Tally) -> Weights {
    let weight = |counts: &PairCounts| 1.0 / real(counts.total().max(MIN_PAIR_VOTES));
    let sum: f64 = tally.counts.iter().map(|counts| real(counts.total()) * weight(counts)).sum();
    let scale = real(tally.votes) / sum;
    let weights: Vec<f64> = tally.counts.iter().map(|counts| scale * weight(counts)).collect();
    let weighted = |power: i32| {
        let times = |(pair, weight): (&PairTally, &f64)| scaled(pair, weight.powi(power));
        tally.pairs.iter().zip(&weights).map(times).collect()
    };
    let (pairs, squares) = (weighted(1), weighted(2));
    (tally.pairs, tally.squares) = (pairs, Some(squares));
    Weights::ByPair(tally.pairs.iter().zip(weights).map(|(pair, weight)| ((pair.first, pair.second), weight)).collect())
}

fn scaled(pair: &PairTally, factor: f64) -> PairTally {
    PairTally {
        first_wins: factor * pair.first_wins,
        second_wins: factor * pair.second_wins,
        halves: factor * pair.halves,
        ..*pair
    }
}

fn by_probability(tally: &mut Tally, log: &VoteLog, scoring: Scoring) -> Result<Weights, FitError> {
    let probabilities = log.pair_probabilities.as_ref().ok_or(FitError::NoPairProbabilities)?;
    let counts = |row: &usize| scoring.counts(log.outcomes[*row]);
    let counted = || (0..log.len()).filter(counts);
    let mut weights = vec![0.0; log.len()];
    for row in counted() {
        let probability = probabilities[row];
        if !(MIN_PROBABILITY..=1.0).contains(&probability) {
            return Err(FitError::PairProbability { vote: row + 1, probability });
        }
        weights[row] = 1.0 / probability;
    }
    let scale = real(tally.votes) / weights.iter().sum::<f64>();
    weights.iter_mut().for_each(|weight| *weight *= scale);
    let mut cells = WeightedPairs::new(tally, log);
    counted().for_each(|row| cells.add(row, weights[row]));
    (tally.pairs, tally.squares) = (cells.pairs, Some(cells.squares));
    Ok(Weights::ByVote(weights))
}

/// Sums of weights and squared weights by pair and outcome, in log order.
struct WeightedPairs<'log> {
    log: &'log VoteLog,
    /// Position of each model in the tally, by position in the log.
    places: Vec<usize>,
    index: HashMap<(usize, usize), usize>,
    pairs: Vec<PairTally>,
    squares: Vec<PairTally>,
}

impl<'log> WeightedPairs<'log> {
    fn new(tally: &Tally, log: &'log VoteLog) -> Self {
        let mut places = vec![0; log.models.as_slice().len()];
        tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = place);
        let index = tally.pairs.iter().enumerate().map(|(row, pair)| ((pair.first, pair.second), row)).collect();
        let empty: Vec<PairTally> = tally.pairs.iter().map(|pair| scaled(pair, 0.0)).collect();
        Self { log, places, index, pairs: empty.clone(), squares: empty }
    }

    fn add(&mut self, row: usize, weight: f64) {
        let (a, b) = (self.places[self.log.a[row] as usize], self.places[self.log.b[row] as usize]);
        let pair = self.index[&(a.min(b), a.max(b))];
        for (cells, weight) in [(&mut self.pairs[pair], weight), (&mut self.squares[pair], weight * weight)] {
            match self.log.outcomes[row] {
                Outcome::AWins if a < b => cells.first_wins += weight,
                Outcome::BWins if a > b => cells.first_wins += weight,
                Outcome::AWins | Outcome::BWins => cells.second_wins += weight,
                Outcome::Tie | Outcome::BothBad => cells.halves += weight,
            }
        }
    }
}
