//! A column in one replicate.

use super::prepared_series::PreparedSeries;
use super::{DataColumn, ReplicateCorrelations};

/// Number of replicates that two columns share; `None` if both are fixed.
pub(super) fn replicates_of(x: &DataColumn, y: &DataColumn) -> Option<usize> {
    let samples = [x, y].map(|column| column.samples.len());
    samples.into_iter().filter(|&samples| samples > 0).min()
}

/// The values of a column in one replicate, with a cached prepared series for each requested set of positions: columns that lack
/// the same positions share a set, so there are few.
pub(super) struct ReplicateColumn {
    values: Vec<Option<f64>>,
    present: Positions,
    prepared: Vec<(Positions, Option<PreparedSeries>)>,
}

impl ReplicateColumn {
    /// The column in this replicate; its values if it has no samples.
    pub(super) fn new(column: &DataColumn, replicate: usize) -> Self {
        let values = if column.samples.is_empty() {
            column.values.clone()
        } else {
            let sample = column.samples.get(replicate).into_iter().flatten();
            column.values.iter().zip(sample).map(|(value, sampled)| value.and(*sampled)).collect()
        };
        Self { present: Positions::with_value(&values), values, prepared: Vec::new() }
    }

    /// Correlations of two columns over the positions that both have in the replicate.
    pub(super) fn compare(columns: &mut [Self], i: usize, j: usize) -> ReplicateCorrelations {
        let both = columns[i].present.and(&columns[j].present);
        let places = [i, j].map(|column| columns[column].place_of(&both));
        let [x, y] = [(i, places[0]), (j, places[1])].map(|(column, place)| columns[column].prepared[place].1.as_ref());
        Some(x?.compare(y?))
    }

    /// Index of the cached prepared series over these positions.
    fn place_of(&mut self, positions: &Positions) -> usize {
        self.prepared.iter().position(|(known, _)| known == positions).unwrap_or_else(|| {
            let values: Vec<f64> = positions.all().filter_map(|position| self.values[position]).collect();
            self.prepared.push((positions.clone(), PreparedSeries::new(&values)));
            self.prepared.len() - 1
        })
    }
}

/// A set of positions as a bit set.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Positions(Vec<u64>);

impl Positions {
    /// The positions with a value.
    fn with_value(values: &[Option<f64>]) -> Self {
        let word = |values: &[Option<f64>]| {
            values.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(value.is_some()) << bit)
        };
        Self(values.chunks(u64::BITS as usize).map(word).collect())
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// The positions in ascending order.
    fn all(&self) -> impl Iterator<Item = usize> {
        let bits = (0..u64::BITS).map(|bit| (bit as usize, 1 << bit));
        self.0.iter().enumerate().flat_map(move |(place, word)| {
            bits.clone().filter(move |(_, bit)| word & bit != 0).map(move |(bit, _)| place * u64::BITS as usize + bit)
        })
    }
}
