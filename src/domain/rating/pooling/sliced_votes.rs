//! Votes of each slice, as losses of its models.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::counts::pair_counts::PairCounts;
use super::super::counts::tally::{PairTally, Tally};
use super::super::strengths::model_block::ModelBlock;
use super::super::strengths::negative_log_likelihood::{Likelihood, PairLoss};
use super::super::votes::prompt_label_names::split_names;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::{Labels, VoteLog};
use crate::stats::real_len;

/// Maximum number of slices; the smallest beyond it are merged into one.
const MAX_SLICES: usize = 50;

/// Votes of a block's models, by slice.
#[derive(Debug)]
pub(super) struct SlicedVotes {
    /// Named slices by decreasing number of votes, then all other votes as one more group.
    pub(super) slices: Vec<SliceVotes>,
}

/// The votes of one slice.
#[derive(Debug, Default)]
pub(super) struct SliceVotes {
    /// Name; `None` for votes without a label and those of the smallest slices.
    pub(super) name: Option<String>,
    /// Number of rated votes.
    pub(super) votes: u64,
    /// The models with votes, by position in the block.
    pub(super) members: Vec<usize>,
    /// Rated votes of each member.
    pub(super) battles: Vec<u64>,
    /// The pairs, by position in `members`.
    pairs: Vec<PairTally>,
}

/// Loss of a slice's votes.
#[derive(Debug)]
pub(super) struct SliceLoss {
    /// The models with votes, by position in the block.
    pub(super) members: Vec<usize>,
    /// Their loss.
    pub(super) loss: PairLoss,
}

/// Counts by pair of positions in the block.
type BlockCounts = HashMap<(usize, usize), PairCounts>;

impl SlicedVotes {
    /// Groups the votes by slice. A vote whose label has several names counts as a fraction of a vote in each of their slices.
    pub(super) fn new(log: &VoteLog, labels: &Labels, scoring: Scoring, tally: &Tally, block: &ModelBlock) -> Self {
        let counts = counts_by_label(log, labels, scoring, tally, block);
        let mut by_slice: HashMap<Cow<'_, str>, Vec<(f64, &BlockCounts)>> = HashMap::new();
        let mut rest: Vec<(f64, &BlockCounts)> = Vec::new();
        for (label, counts) in &counts {
            let slices = label.map_or_else(Vec::new, split_names);
            let share = 1.0 / real_len(slices.len().max(1));
            if slices.is_empty() {
                rest.push((share, counts));
            }
            for slice in slices {
                by_slice.entry(slice).or_default().push((share, counts));
            }
        }
        let total = |counts: &[(f64, &BlockCounts)]| -> u64 {
            counts.iter().flat_map(|(_, counts)| counts.values()).map(|pair| pair.total()).sum()
        };
        let mut largest: Vec<_> = by_slice.into_iter().collect();
        largest.sort_by(|(one, ones), (other, others)| total(others).cmp(&total(ones)).then_with(|| one.cmp(other)));
        rest.extend(largest.split_off(largest.len().min(MAX_SLICES)).into_iter().flat_map(|(_, counts)| counts));
        let named = largest.into_iter().map(|(name, counts)| (Some(name.into_owned()), counts));
        let slices = named.chain([(None, rest)]).map(|(name, counts)| SliceVotes::new(name, &counts));
        Self { slices: slices.filter(|slice| slice.votes > 0).collect() }
    }

    /// Computes the losses, divided by a design effect.
    pub(super) fn losses(&self, design_effect: f64) -> Vec<SliceLoss> {
        let loss = |slice: &SliceVotes| {
            let pair = |pair: &PairTally| PairTally {
                first_wins: pair.first_wins / design_effect,
                second_wins: pair.second_wins / design_effect,
                halves: pair.halves / design_effect,
                ..*pair
            };
            let pairs = slice.pairs.iter().map(pair).collect();
            let loss = PairLoss::new(Likelihood::BradleyTerry, slice.members.len(), pairs, Vec::new());
            SliceLoss { members: slice.members.clone(), loss }
        };
        self.slices.iter().map(loss).collect()
    }
}

impl SliceVotes {
    fn new(name: Option<String>, counts: &[(f64, &BlockCounts)]) -> Self {
        let mut pairs: Vec<((usize, usize), f64, PairCounts)> =
            counts.iter().flat_map(|&(share, counts)| counts.iter().map(move |(&pair, &c)| (pair, share, c))).collect();
        // Fixed order of summation, so that the order of the votes changes no bit of the result.
        pairs.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
        let mut members: Vec<usize> = pairs.iter().flat_map(|&((first, second), ..)| [first, second]).collect();
        members.sort_unstable();
        members.dedup();
        let place = |model: usize| members.binary_search(&model).unwrap_or_default();
        let mut slice = Self { name, battles: vec![0; members.len()], ..Self::default() };
        for ((first, second), share, counts) in pairs {
            let (first, second) = (place(first), place(second));
            slice.votes += counts.total();
            slice.battles[first] += counts.total();
            slice.battles[second] += counts.total();
            let all = PairTally::new(first, second, counts);
            if slice.pairs.last().is_none_or(|last| (last.first, last.second) != (first, second)) {
                slice.pairs.push(PairTally { first_wins: 0.0, second_wins: 0.0, halves: 0.0, ..all });
            }
            if let Some(pair) = slice.pairs.last_mut() {
                pair.first_wins += share * all.first_wins;
                pair.second_wins += share * all.second_wins;
                pair.halves += share * all.halves;
            }
        }
        Self { members, ..slice }
    }
}

/// Counts the rated votes of each label within the block, ordered by label; `None` for votes without one.
fn counts_by_label<'log>(
    log: &VoteLog,
    labels: &'log Labels,
    scoring: Scoring,
    tally: &Tally,
    block: &ModelBlock,
) -> Vec<(Option<&'log str>, BlockCounts)> {
    let mut places = vec![None; log.models.as_slice().len()];
    for (place, &model) in block.members.iter().enumerate() {
        places[tally.models[model].index] = Some(place);
    }
    let names = labels.names.as_slice();
    let mut counts = vec![BlockCounts::new(); names.len() + 1];
    for (row, &outcome) in log.outcomes.iter().enumerate() {
        let (a, b) = (places[log.a[row] as usize], places[log.b[row] as usize]);
        let (Some((a, b)), true) = (a.zip(b), scoring.counts(outcome)) else { continue };
        let label = names.len().min(labels.rows[row] as usize);
        counts[label].entry((a.min(b), a.max(b))).or_default().add(outcome, a < b);
    }
    let label = |position: usize| names.get(position).map(String::as_str);
    let mut counts: Vec<_> = counts.into_iter().enumerate().map(|(position, c)| (label(position), c)).collect();
    counts.sort_by_key(|(label, _)| *label);
    counts
}
