//! Style features, z-scored and sorted by pair.

use rayon::prelude::*;

use super::super::counts::tally::{PairTally, Tally};
use super::super::votes::vote_log::{FeatureCounts, StyleColumns, VoteLog};
use super::StyleOptions;
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::real_len;

/// The features of style, in report order.
pub const FEATURES: [&str; 4] = ["length", "headings", "lists", "bold"];

/// All features: those of style, the side, the side in battles of several turns, and the judge's maker.
pub(super) const NAMES: [&str; COUNT] =
    [FEATURES[0], FEATURES[1], FEATURES[2], FEATURES[3], "side", "side_in_later_turns", "same_maker"];
pub(super) const COUNT: usize = FEATURES.len() + 3;
const SIDE_INDEX: usize = FEATURES.len();
const SIDE_IN_LATER_TURNS_INDEX: usize = SIDE_INDEX + 1;
const SAME_MAKER_INDEX: usize = SIDE_INDEX + 2;
/// Value of the side's feature for a model on side A.
const SIDE_A_VALUE: f64 = 1.0;
/// One number for each feature.
pub(super) type FeatureVector = [f64; COUNT];

/// Sums run over chunks of this many votes and are then added in order, so the number of threads does not change a
/// result.
pub(super) const VOTES_PER_CHUNK: usize = 1 << 14;

/// Vote for the loss, swapped if necessary so that the pair's first model is on side A.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StyledVote {
    /// Features: those of style z-scored, the others 1, 0 or −1; 0 for those that were not requested.
    pub(super) x: FeatureVector,
    /// Points of the pair's first model.
    pub(super) points: f64,
    pub(super) weight: f64,
}

/// The votes of one pair, which are contiguous.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureGroup {
    /// The first model, by position in [`StyledVotes::models`].
    pub(super) first: usize,
    /// The second model.
    pub(super) second: usize,
    /// Start of its votes; they end at the start of the next group.
    pub(super) begin: usize,
}

/// Votes that carry information on strengths or style, sorted by pair.
#[derive(Debug)]
pub(super) struct StyledVotes {
    pub(super) votes: Vec<StyledVote>,
    /// The log row of each vote.
    pub(super) rows: Vec<u32>,
    pub(super) groups: Vec<FeatureGroup>,
    /// Rated models in components of at least two, by position in [`Tally::models`].
    pub(super) models: Vec<usize>,
    /// The models of each such component, by position in `models`.
    pub(super) components: Vec<Vec<usize>>,
    /// Whether the votes differ in each feature; `None` for features that were not requested.
    varies: [Option<bool>; COUNT],
}

impl StyledVotes {
    pub(super) fn gather(
        log: &VoteLog,
        columns: Option<&StyleColumns>,
        tally: &Tally,
        plain: &Fit,
        options: StyleOptions,
    ) -> Self {
        let counted: Vec<u32> = (0_u32..)
            .zip(&log.outcomes)
            .filter_map(|(row, &outcome)| options.scoring.counts(outcome).then_some(row))
            .collect();
        let scales = columns.map(|columns| {
            columns.features().each_ref().map(|counts| (counts, Standardization::new(counts, &counted)))
        });
        let components: Vec<Vec<usize>> = plain.members().into_iter().filter(|members| members.len() > 1).collect();
        let mut models: Vec<usize> = components.iter().flatten().copied().collect();
        models.sort_unstable();
        let place = |model: usize| models.binary_search(&model).ok();
        let components =
            components.iter().map(|members| members.iter().filter_map(|&model| place(model)).collect()).collect();
        let sorting = RowsByPair::new(log, tally, plain, &counted);
        let mut votes = vec![StyledVote::default(); sorting.rows.len()];
        votes.par_iter_mut().zip(&sorting.rows).for_each(|(vote, &row)| {
            *vote = styled_vote(log, scales.as_ref(), options, row as usize, sorting.is_swapped(log, row as usize));
        });
        let group = |(pair, begin): (&PairTally, usize)| {
            Some(FeatureGroup { first: place(pair.first)?, second: place(pair.second)?, begin })
        };
        let met = |&(_, begin, end): &(&PairTally, usize, usize)| end > begin;
        let bounds = sorting.begins.windows(2).zip(&tally.pairs).map(|(bounds, pair)| (pair, bounds[0], bounds[1]));
        let groups = bounds.filter(met).filter_map(|(pair, begin, _)| group((pair, begin))).collect();
        let mut varies = [None; COUNT];
        for (varies, (_, scale)) in varies.iter_mut().zip(scales.iter().flatten()) {
            *varies = Some(scale.std_dev > 0.0);
        }
        varies[SIDE_INDEX] = options.covariates.side.then_some(true);
        varies[SIDE_IN_LATER_TURNS_INDEX] =
            options.turns.map(|turns| counted.iter().any(|&row| turns[row as usize] > 1));
        varies[SAME_MAKER_INDEX] = options.same_maker.map(|maker| counted.iter().any(|&row| maker[row as usize] != 0));
        Self { votes, rows: sorting.rows, groups, models, components, varies }
    }

    /// Returns the indices of features that differ between votes.
    pub(super) fn varying(&self) -> impl Iterator<Item = usize> {
        (0..COUNT).filter(|&feature| self.varies[feature] == Some(true))
    }

    /// Returns the names of the features that do not differ.
    pub(super) fn constant(&self) -> impl Iterator<Item = &'static str> {
        (0..COUNT).filter(|&feature| self.varies[feature] == Some(false)).map(|feature| NAMES[feature])
    }

    pub(super) fn end_of(&self, group: usize) -> usize {
        self.groups.get(group + 1).map_or(self.votes.len(), |next| next.begin)
    }
}

/// Computes (a − b)/(a + b), 0 where both are 0.
fn normalized_difference([a, b]: [u32; 2]) -> f64 {
    let (a, b) = (f64::from(a), f64::from(b));
    if a + b > 0.0 { (a - b) / (a + b) } else { 0.0 }
}

/// Mean and population standard deviation of a feature; 0 for a constant feature.
#[derive(Debug, Clone, Copy)]
struct Standardization {
    mean: f64,
    std_dev: f64,
}

impl Standardization {
    fn new(counts: &FeatureCounts, rows: &[u32]) -> Self {
        let value = |&row: &u32| normalized_difference(counts[row as usize]);
        let first = rows.first().map_or(0.0, value);
        // Exact equality: rounding must not make a constant feature vary.
        if rows.par_iter().all(|row| value(row).to_bits() == first.to_bits()) {
            return Self { mean: first, std_dev: 0.0 };
        }
        let number = real_len(rows.len());
        let mean = summed(rows, value) / number;
        let variance = summed(rows, |row| (value(row) - mean).powi(2)) / number;
        Self { mean, std_dev: variance.sqrt() }
    }

    fn score(self, counts: [u32; 2]) -> f64 {
        if self.std_dev > 0.0 { (normalized_difference(counts) - self.mean) / self.std_dev } else { 0.0 }
    }
}

fn summed(rows: &[u32], value: impl Fn(&u32) -> f64 + Sync) -> f64 {
    let parts: Vec<f64> = rows.par_chunks(VOTES_PER_CHUNK).map(|chunk| chunk.iter().map(&value).sum()).collect();
    parts.iter().sum()
}

fn styled_vote(
    log: &VoteLog,
    scales: Option<&[(&FeatureCounts, Standardization); FEATURES.len()]>,
    options: StyleOptions,
    row: usize,
    turn: bool,
) -> StyledVote {
    let mut x = [0.0; COUNT];
    for (x, (counts, scale)) in x.iter_mut().zip(scales.into_iter().flatten()) {
        *x = scale.score(counts[row]);
    }
    if options.covariates.side {
        x[SIDE_INDEX] = SIDE_A_VALUE;
    }
    if options.turns.is_some_and(|turns| turns[row] > 1) {
        x[SIDE_IN_LATER_TURNS_INDEX] = SIDE_A_VALUE;
    }
    x[SAME_MAKER_INDEX] = options.same_maker.map_or(0.0, |maker| f64::from(maker[row]));
    let points = log.outcomes[row].points_a();
    let weight = options.weights.map_or(1.0, |weights| weights[row]);
    if turn { StyledVote { x: x.map(|x| -x), points: 1.0 - points, weight } } else { StyledVote { x, points, weight } }
}

/// Log rows sorted by pair with a counting sort, which keeps the log order within a pair.
struct RowsByPair {
    rows: Vec<u32>,
    /// Start of each pair by position in [`Tally::pairs`], plus the end.
    begins: Vec<usize>,
    /// Positions in [`Tally::models`], by position in the log's models.
    places: Vec<u32>,
}

/// Marks a missing pair or model.
const MISSING_INDEX: u32 = u32::MAX;

impl RowsByPair {
    fn new(log: &VoteLog, tally: &Tally, plain: &Fit, counted: &[u32]) -> Self {
        let mut places = vec![MISSING_INDEX; log.models.as_slice().len()];
        for (place, model) in (0_u32..).zip(&tally.models) {
            places[model.index] = place;
        }
        let table = PairTable::new(tally, plain);
        let pair_of =
            |&row: &u32| table.find(places[log.a[row as usize] as usize], places[log.b[row as usize] as usize]);
        let pairs: Vec<u32> = counted.par_iter().map(pair_of).collect();
        let mut begins = vec![0; tally.pairs.len() + 1];
        for &pair in pairs.iter().filter(|&&pair| pair != MISSING_INDEX) {
            begins[pair as usize + 1] += 1;
        }
        for pair in 0..tally.pairs.len() {
            begins[pair + 1] += begins[pair];
        }
        let mut rows = vec![0; begins[tally.pairs.len()]];
        let mut next = begins.clone();
        for (&pair, &row) in pairs.iter().zip(counted).filter(|&(&pair, _)| pair != MISSING_INDEX) {
            rows[next[pair as usize]] = row;
            next[pair as usize] += 1;
        }
        Self { rows, begins, places }
    }

    /// Whether the pair's first model is on side B.
    fn is_swapped(&self, log: &VoteLog, row: usize) -> bool {
        self.places[log.a[row] as usize] > self.places[log.b[row] as usize]
    }
}

/// The pairs whose votes carry information: both models are rated, in one component.
struct PairTable {
    /// Start of the pairs of each first model, plus the end.
    begins: Vec<usize>,
    /// The second model of each pair and the pair's position or [`MISSING_INDEX`].
    seconds: Vec<(u32, u32)>,
}

impl PairTable {
    fn new(tally: &Tally, plain: &Fit) -> Self {
        let component = |model: usize| match plain.model_strengths[model] {
            ModelStrength::Rated { component, .. } => Some(component),
            ModelStrength::Unbounded { .. } => None,
        };
        let mut begins = vec![0; tally.models.len() + 1];
        tally.pairs.iter().for_each(|pair| begins[pair.first + 1] += 1);
        for model in 0..tally.models.len() {
            begins[model + 1] += begins[model];
        }
        let comparable =
            |pair: &PairTally| component(pair.first).is_some() && component(pair.first) == component(pair.second);
        let entry = |(position, pair): (u32, &PairTally)| {
            let second = u32::try_from(pair.second).expect("models are counted in 32 bits");
            (second, if comparable(pair) { position } else { MISSING_INDEX })
        };
        Self { begins, seconds: (0_u32..).zip(&tally.pairs).map(entry).collect() }
    }

    fn find(&self, a: u32, b: u32) -> u32 {
        let (first, second) = (a.min(b) as usize, a.max(b));
        let of_first = &self.seconds[self.begins[first]..self.begins[first + 1]];
        of_first.binary_search_by_key(&second, |&(second, _)| second).map_or(MISSING_INDEX, |at| of_first[at].1)
    }
}
