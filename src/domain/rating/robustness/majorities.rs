//! Majorities of the pairs among their votes for a side, and the cycles of these majorities.

use super::super::counts::tally::PairTally;
use super::flips::whole;

/// Number of models per word of a row.
const MODELS_PER_WORD: usize = u64::BITS as usize;

/// Summary of the cycles of majorities.
#[derive(Debug, Clone, Copy)]
pub(super) struct MajoritySummary {
    pub(super) cyclic: u64,
    /// Clarity of the clearest cycle; 0 without one.
    pub(super) clarity: f64,
}

/// Majorities of all pairs.
#[derive(Debug)]
pub(super) struct Majorities<'a> {
    models: usize,
    pairs: &'a [PairTally],
    /// Winner, loser and sign statistic, clearest first.
    majorities: Vec<(usize, usize, f64)>,
}

/// Three models, each of which beats the next.
pub(super) struct MajorityCycle {
    pub(super) models: [usize; 3],
    /// The least of the three sign statistics.
    pub(super) clarity: f64,
}

impl MajorityCycle {
    /// Returns the model that a model of the cycle beats.
    pub(super) fn next(&self, model: usize) -> usize {
        let [a, b, c] = self.models;
        if model == a {
            b
        } else if model == b {
            c
        } else {
            a
        }
    }
}

impl<'a> Majorities<'a> {
    pub(super) fn new(models: usize, pairs: &'a [PairTally]) -> Self {
        let mut majorities: Vec<_> = pairs.iter().filter_map(majority).collect();
        majorities.sort_by(|one, other| other.2.total_cmp(&one.2));
        Self { models, pairs, majorities }
    }

    pub(super) fn summary(&self) -> MajoritySummary {
        let clarity = self.clearest_cycle().map_or(0.0, |circle| circle.clarity);
        MajoritySummary { cyclic: self.cyclic(), clarity }
    }

    fn graph(&self) -> MajorityGraph {
        let mut graph = MajorityGraph::new(self.models);
        self.majorities.iter().for_each(|&(winner, loser, _)| graph.add(winner, loser));
        graph
    }

    /// Counts the cycles. Each is found at each of its three majorities.
    pub(super) fn cyclic(&self) -> u64 {
        let graph = self.graph();
        let closing =
            |&(winner, loser, _): &(usize, usize, f64)| graph.closing(winner, loser).map(bit_count).sum::<u64>();
        self.majorities.iter().map(closing).sum::<u64>() / 3
    }

    /// Counts the triples whose three pairs all have a majority.
    pub(super) fn triples(&self) -> u64 {
        let graph = self.graph();
        let common =
            |&(winner, loser, _): &(usize, usize, f64)| graph.common(winner, loser).map(bit_count).sum::<u64>();
        self.majorities.iter().map(common).sum::<u64>() / 3
    }

    /// Finds the clearest cycle: adds majorities, clearest first, until one closes a cycle, whose weakest majority it is.
    pub(super) fn clearest_cycle(&self) -> Option<MajorityCycle> {
        let mut graph = MajorityGraph::new(self.models);
        for &(winner, loser, clarity) in &self.majorities {
            let found = graph.closing(winner, loser).enumerate().find(|(_, word)| *word != 0);
            if let Some((position, word)) = found {
                let third = position * MODELS_PER_WORD + word.trailing_zeros() as usize;
                return Some(MajorityCycle { models: [winner, loser, third], clarity });
            }
            graph.add(winner, loser);
        }
        None
    }

    /// Returns the votes for one model against another.
    pub(super) fn wins_over(&self, one: usize, other: usize) -> u64 {
        let of_pair = |pair: &PairTally| match (pair.first, pair.second) {
            (first, second) if (first, second) == (one, other) => Some(pair.first_wins),
            (first, second) if (second, first) == (one, other) => Some(pair.second_wins),
            _ => None,
        };
        self.pairs.iter().find_map(of_pair).map_or(0, whole)
    }
}

/// Computes the winner, loser and sign statistic of a pair; `None` if both have equally many votes.
fn majority(pair: &PairTally) -> Option<(usize, usize, f64)> {
    let lead = pair.first_wins - pair.second_wins;
    let (winner, loser) = if lead > 0.0 { (pair.first, pair.second) } else { (pair.second, pair.first) };
    (lead.abs() > 0.5).then(|| (winner, loser, lead.abs() / (pair.first_wins + pair.second_wins).sqrt()))
}

/// Directed graph of the majorities, as rows of bits.
struct MajorityGraph {
    words: usize,
    beats: Vec<u64>,
    beaten_by: Vec<u64>,
}

impl MajorityGraph {
    fn new(models: usize) -> Self {
        let words = models.div_ceil(MODELS_PER_WORD);
        Self { words, beats: vec![0; words * models], beaten_by: vec![0; words * models] }
    }

    fn add(&mut self, winner: usize, loser: usize) {
        self.beats[winner * self.words + loser / MODELS_PER_WORD] |= 1 << (loser % MODELS_PER_WORD);
        self.beaten_by[loser * self.words + winner / MODELS_PER_WORD] |= 1 << (winner % MODELS_PER_WORD);
    }

    fn row<'g>(&self, rows: &'g [u64], model: usize) -> &'g [u64] {
        &rows[model * self.words..(model + 1) * self.words]
    }

    /// Returns the models that the loser beats and that beat the winner, as words of bits.
    fn closing(&self, winner: usize, loser: usize) -> impl Iterator<Item = u64> {
        let (beaten, beating) = (self.row(&self.beats, loser), self.row(&self.beaten_by, winner));
        beaten.iter().zip(beating).map(|(beaten, beating)| beaten & beating)
    }

    /// Returns the models that have a majority with both, as words of bits.
    fn common(&self, one: usize, other: usize) -> impl Iterator<Item = u64> {
        let met = |model: usize| {
            let (beats, beaten_by) = (self.row(&self.beats, model), self.row(&self.beaten_by, model));
            beats.iter().zip(beaten_by).map(|(beats, beaten_by)| beats | beaten_by)
        };
        met(one).zip(met(other)).map(|(one, other)| one & other)
    }
}

fn bit_count(word: u64) -> u64 {
    u64::from(word.count_ones())
}
