//! Tally of the rated votes by pair and by model, the input of every fit.

use std::collections::BTreeMap;

use super::count_by_pair::count_by_pair;
use super::pair_counts::PairCounts;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::VoteLog;
use crate::stats::agreement::wins::WinCounts;
use crate::stats::real;

/// Rated votes by pair and by model. Models without a rated vote are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// The models, ordered by name.
    pub models: Vec<TalliedModel>,
    /// The pairs that met, ordered by their models; `first < second`.
    pub pairs: Vec<PairTally>,
    /// Sums of the squared weights, for weighted votes; `pairs` has the sums of the weights.
    pub squares: Option<Vec<PairTally>>,
    /// Unweighted counts by outcome, parallel to `pairs`.
    pub counts: Vec<PairCounts>,
    /// Number of rated votes.
    pub votes: u64,
    /// Votes dropped by the scoring, by outcome.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// One model of a [`Tally`].
#[derive(Debug, Clone, PartialEq)]
pub struct TalliedModel {
    /// Its name.
    pub name: String,
    /// Position in the models of the log or comparison set.
    pub index: usize,
    /// Its rated votes.
    pub counts: ModelCounts,
}

/// Rated votes of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// Votes for the model.
    pub wins: u64,
    /// Votes for the opponent.
    pub losses: u64,
    /// Ties.
    pub ties: u64,
    /// Votes for "both bad".
    pub both_bad: u64,
}

impl ModelCounts {
    /// Returns the number of rated votes.
    #[must_use]
    pub fn battles(self) -> u64 {
        self.wins + self.losses + self.ties + self.both_bad
    }

    /// Converts the counts to the results of comparisons.
    pub(in crate::rating) fn results(self) -> WinCounts {
        let Self { wins, losses, ties, both_bad } = self;
        WinCounts { wins, ties, losses, both_bad }
    }

    /// Adds the votes of a pair, from the perspective of its first model.
    fn add(&mut self, pair: PairCounts) {
        self.wins += pair.first_wins;
        self.losses += pair.second_wins;
        self.ties += pair.ties;
        self.both_bad += pair.both_bad;
    }
}

/// Rated votes of one pair of a [`Tally`], by position in [`Tally::models`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairTally {
    /// The model whose name comes first.
    pub first: usize,
    /// The model whose name comes second.
    pub second: usize,
    /// Votes for the first.
    pub first_wins: f64,
    /// Votes for the second.
    pub second_wins: f64,
    /// Rated votes for neither.
    pub halves: f64,
}

impl PairTally {
    /// Creates the pair of the models at positions `first` and `second`.
    #[must_use]
    pub fn new(first: usize, second: usize, counts: PairCounts) -> Self {
        let halves = real(counts.ties + counts.both_bad);
        Self { first, second, first_wins: real(counts.first_wins), second_wins: real(counts.second_wins), halves }
    }

    /// Returns the pair with resampled numbers of votes for the first, the second and neither; each vote has the mean weight of its kind.
    pub(in crate::rating) fn of_drawn(self, counts: PairCounts, [first, second, neither]: [u64; 3]) -> Self {
        let weighted = |drawn, of, weight| if of == 0 { 0.0 } else { real(drawn) * (weight / real(of)) };
        Self {
            first_wins: weighted(first, counts.first_wins, self.first_wins),
            second_wins: weighted(second, counts.second_wins, self.second_wins),
            halves: weighted(neither, counts.ties + counts.both_bad, self.halves),
            ..self
        }
    }

    /// Computes the points of the first model: a win is one point, a vote for neither half a point.
    #[must_use]
    pub fn points_first(&self) -> f64 {
        self.first_wins + 0.5 * self.halves
    }

    /// Computes the points of the second model.
    #[must_use]
    pub fn points_second(&self) -> f64 {
        self.second_wins + 0.5 * self.halves
    }
}

impl Tally {
    /// Tallies the votes of a log; the result does not depend on the number of threads.
    #[must_use]
    pub fn from_log(log: &VoteLog, scoring: Scoring) -> Self {
        Self::from_pairs(log.models.as_slice(), count_by_pair(log), scoring)
    }

    /// Tallies the counts of pairs. Each pair occurs at most once, by positions in `names`.
    pub(in crate::rating) fn from_pairs(
        names: &[String],
        pairs: impl IntoIterator<Item = (u32, u32, PairCounts)>,
        scoring: Scoring,
    ) -> Self {
        let mut dropped = BTreeMap::new();
        let mut counts = vec![ModelCounts::default(); names.len()];
        let mut met = Vec::new();
        for (first, second, pair) in pairs {
            let (first, second, kept) = (first as usize, second as usize, pair.counted(scoring, &mut dropped));
            counts[first].add(kept);
            counts[second].add(kept.swapped());
            if kept.total() > 0 {
                met.push((first, second, kept));
            }
        }
        let models = list_tallied_models(names, &counts);
        let (pairs, counts) = in_order(&models, names.len(), met);
        let votes = models.iter().map(|model| model.counts.battles()).sum::<u64>() / 2;
        Self { models, pairs, squares: None, counts, votes, dropped }
    }
}

/// Lists the models with a rated vote, ordered by name.
fn list_tallied_models(names: &[String], counts: &[ModelCounts]) -> Vec<TalliedModel> {
    let mut by_name: Vec<usize> = (0..names.len()).filter(|&index| counts[index].battles() > 0).collect();
    by_name.sort_by(|&x, &y| names[x].cmp(&names[y]));
    by_name.into_iter().map(|index| TalliedModel { name: names[index].clone(), index, counts: counts[index] }).collect()
}

/// Maps pairs to positions in `models` and sorts them.
fn in_order(
    models: &[TalliedModel],
    names: usize,
    met: Vec<(usize, usize, PairCounts)>,
) -> (Vec<PairTally>, Vec<PairCounts>) {
    let mut place = vec![0; names];
    models.iter().enumerate().for_each(|(position, model)| place[model.index] = position);
    let turn = |(x, y, counts): (usize, usize, PairCounts)| {
        let (x, y) = (place[x], place[y]);
        if x < y { (x, y, counts) } else { (y, x, counts.swapped()) }
    };
    let mut met: Vec<_> = met.into_iter().map(turn).collect();
    met.sort_unstable_by_key(|&(first, second, _)| (first, second));
    met.into_iter().map(|(first, second, counts)| (PairTally::new(first, second, counts), counts)).unzip()
}
