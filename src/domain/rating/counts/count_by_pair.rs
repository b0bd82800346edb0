//! Counts the votes of a log by pair, fast enough for millions of votes.
//!
//! Up to [`MAX_DENSE_MODELS`] models, a table has one counter for every ordered pair and outcome; beyond, pairs are hashed.
//! Counts are integers, so the number of threads does not change the sums.

use std::collections::HashMap;

use super::pair_counts::PairCounts;
use crate::battle::Outcome;
use crate::rating::votes::vote_log::VoteLog;

/// Maximum number of models for the dense table, which then takes 64 MB.
const MAX_DENSE_MODELS: usize = 2_000;
/// Maximum number of models for which a second thread with its own table is faster.
const MAX_PARALLEL_MODELS: usize = 500;
/// Minimum number of votes for which a second thread is faster.
const MIN_PARALLEL_VOTES: usize = 200_000;
const OUTCOME_COUNT: usize = Outcome::ALL.len();

/// Counts the votes of every pair that met, by positions in [`VoteLog::models`] with the lower one first.
pub(in crate::rating) fn count_by_pair(log: &VoteLog) -> Vec<(u32, u32, PairCounts)> {
    let votes = VoteSlice { a: &log.a, b: &log.b, outcomes: &log.outcomes };
    let models = log.models.as_slice().len();
    // A counter holds at most 2^32 − 1 votes.
    if models <= MAX_DENSE_MODELS && u32::try_from(log.len()).is_ok() {
        count_in_dense_table(models, votes)
    } else {
        hashed(votes)
    }
}

/// A range of votes, in columns.
#[derive(Clone, Copy)]
struct VoteSlice<'log> {
    a: &'log [u32],
    b: &'log [u32],
    outcomes: &'log [Outcome],
}

impl VoteSlice<'_> {
    fn halves(self) -> (Self, Self) {
        let middle = self.outcomes.len() / 2;
        let (a, b, outcomes) = (self.a.split_at(middle), self.b.split_at(middle), self.outcomes.split_at(middle));
        (Self { a: a.0, b: b.0, outcomes: outcomes.0 }, Self { a: a.1, b: b.1, outcomes: outcomes.1 })
    }

    fn rows(self) -> impl Iterator<Item = (u32, u32, Outcome)> {
        self.a.iter().zip(self.b).zip(self.outcomes).map(|((&a, &b), &outcome)| (a, b, outcome))
    }
}

fn count_in_dense_table(models: usize, votes: VoteSlice<'_>) -> Vec<(u32, u32, PairCounts)> {
    let cells = if votes.outcomes.len() > MIN_PARALLEL_VOTES && models <= MAX_PARALLEL_MODELS {
        let (one, other) = votes.halves();
        let (mut cells, more) = rayon::join(|| table(models, one), || table(models, other));
        cells.iter_mut().zip(more).for_each(|(cell, more)| *cell += more);
        cells
    } else {
        table(models, votes)
    };
    pairs_of(models, &cells)
}

/// Counts votes by A, B and outcome, at index (a·models + b)·4 + outcome.
fn table(models: usize, votes: VoteSlice<'_>) -> Vec<u32> {
    let mut cells = vec![0_u32; models * models * OUTCOME_COUNT];
    for (a, b, outcome) in votes.rows() {
        cells[(a as usize * models + b as usize) * OUTCOME_COUNT + outcome as usize] += 1;
    }
    cells
}

/// Adds up both orders of each pair that met.
fn pairs_of(models: usize, cells: &[u32]) -> Vec<(u32, u32, PairCounts)> {
    let mut pairs = Vec::new();
    for (first, second) in (0..models).flat_map(|first| (first + 1..models).map(move |second| (first, second))) {
        let mut counts = counts_at(cells, first * models + second);
        counts += counts_at(cells, second * models + first).swapped();
        if counts.total() > 0 {
            pairs.push((model_number(first), model_number(second), counts));
        }
    }
    pairs
}

fn counts_at(cells: &[u32], pair: usize) -> PairCounts {
    let count = |outcome: Outcome| u64::from(cells[pair * OUTCOME_COUNT + outcome as usize]);
    PairCounts {
        first_wins: count(Outcome::AWins),
        second_wins: count(Outcome::BWins),
        ties: count(Outcome::Tie),
        both_bad: count(Outcome::BothBad),
    }
}

fn hashed(votes: VoteSlice<'_>) -> Vec<(u32, u32, PairCounts)> {
    let mut pairs: HashMap<(u32, u32), PairCounts> = HashMap::new();
    for (a, b, outcome) in votes.rows() {
        pairs.entry((a.min(b), a.max(b))).or_default().add(outcome, a < b);
    }
    pairs.into_iter().map(|((first, second), counts)| (first, second, counts)).collect()
}

fn model_number(model: usize) -> u32 {
    u32::try_from(model).expect("a table has at most 2,000 models")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn random_log(models: u32, votes: usize) -> VoteLog {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut log = VoteLog::default();
        for _ in 0..votes {
            let a = rng.random_range(0..models);
            let b = (a + rng.random_range(1..models)) % models;
            let outcome = Outcome::ALL[rng.random_range(0..OUTCOME_COUNT)];
            log.push(&format!("model {a}"), &format!("model {b}"), outcome).unwrap();
        }
        log
    }

    fn sorted(mut pairs: Vec<(u32, u32, PairCounts)>) -> Vec<(u32, u32, PairCounts)> {
        pairs.sort_unstable_by_key(|&(first, second, _)| (first, second));
        pairs
    }

    #[test]
    fn a_table_on_one_thread_or_two_and_hashing_count_alike() {
        let log = random_log(7, MIN_PARALLEL_VOTES + 1);
        let votes = VoteSlice { a: &log.a, b: &log.b, outcomes: &log.outcomes };
        let counted = count_by_pair(&log);
        assert_eq!(counted, pairs_of(7, &table(7, votes)));
        assert_eq!(counted, sorted(hashed(votes)));
        assert_eq!(counted.iter().map(|(_, _, counts)| counts.total()).sum::<u64>(), 200_001);
    }

    #[test]
    fn more_models_than_a_table_holds_are_counted_too() {
        let mut log = VoteLog::default();
        for model in 0..MAX_DENSE_MODELS {
            log.push("first", &format!("model {model}"), Outcome::AWins).unwrap();
            log.push(&format!("model {model}"), "first", Outcome::Tie).unwrap();
        }
        let counts = PairCounts { first_wins: 1, ties: 1, ..PairCounts::default() };
        let expected: Vec<_> = (1..=model_number(MAX_DENSE_MODELS)).map(|second| (0, second, counts)).collect();
        assert_eq!(sorted(count_by_pair(&log)), expected);
    }
}
