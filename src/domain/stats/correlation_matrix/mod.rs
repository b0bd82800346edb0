//! Correlation matrix of many series, with bootstrap intervals from resampled values.
//!
//! The results equal those of [`super::correlation`] bit for bit. Each replicate turns every series into a `PreparedSeries`
//! once, which makes a correlation with another series cheap; replicates run on all cores, whose number does not change
//! a result.

mod prepared_series;
mod replicate;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::replicate::{ReplicateColumn, replicates_of};
use super::Undefined;
use super::confidence::ConfidenceLevel;
use super::correlation::{Coefficient, Correlation};
use super::resample::{Resampled, percentiles_with_spread};

/// One series over n positions (subjects), with its bootstrap samples.
///
/// Two columns with samples are paired replicate by replicate, up to the shorter number of replicates; a column without
/// samples is fixed in every replicate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataColumn {
    /// The value of each position; `None` for a missing value.
    pub values: Vec<Option<f64>>,
    /// `samples[k][i]` is the value of position i in replicate k; empty for fixed values. A position without a value
    /// has none in any replicate.
    pub samples: Vec<Vec<Option<f64>>>,
}

/// Correlations of two columns over the positions that both have, in the order of [`Coefficient::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnCorrelations {
    /// Number of positions that both have.
    pub n: usize,
    /// Correlations of the values.
    pub found: [Result<Correlation, Undefined>; 3],
    /// Percentile intervals over the replicates, each over the positions that both have in it; `None` if both columns
    /// are fixed. Equal replicates give no interval: they do not make the number certain.
    pub resampled: Option<[Result<Resampled, Undefined>; 3]>,
}

impl ColumnCorrelations {
    /// The cell of the two columns in the other order.
    fn swapped(self) -> Self {
        Self {
            found: self.found.map(|found| found.map_err(Undefined::swapped)),
            resampled: self.resampled.map(|resampled| resampled.map(|found| found.map_err(Undefined::swapped))),
            ..self
        }
    }
}

/// Correlation matrix of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Cells of columns i < j, ordered by j, then by i.
    cells: Vec<ColumnCorrelations>,
}

impl Matrix {
    /// The correlations of two different columns by position.
    ///
    /// # Panics
    /// If `i` equals `j` or one of them is out of range.
    #[must_use]
    pub fn cell(&self, i: usize, j: usize) -> ColumnCorrelations {
        assert_ne!(i, j, "a column is not compared with itself");
        if i < j { self.cells[place(i, j)] } else { self.cells[place(j, i)].swapped() }
    }
}

/// Index of the cell of columns i < j.
fn place(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

/// Computes the correlations of two columns.
#[must_use]
pub fn pair(x: &DataColumn, y: &DataColumn, level: ConfidenceLevel) -> ColumnCorrelations {
    all_pairs(&[x, y], level).cell(0, 1)
}

/// Computes the correlations of all pairs of columns.
#[must_use]
pub fn matrix(columns: &[DataColumn], level: ConfidenceLevel) -> Matrix {
    all_pairs(&columns.iter().collect::<Vec<_>>(), level)
}

/// Pearson's, Spearman's and Kendall's correlation of two columns in each replicate; empty if both columns are fixed.
#[must_use]
pub fn replicate_correlations(x: &DataColumn, y: &DataColumn) -> Vec<ReplicateCorrelations> {
    replicates(&[x, y], &[(0, 1)]).into_iter().map(|pairs| pairs[0]).collect()
}

fn all_pairs(columns: &[&DataColumn], level: ConfidenceLevel) -> Matrix {
    let pairs: Vec<(usize, usize)> = (1..columns.len()).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    let replicates = replicates(columns, &pairs);
    let cell = |(place, &(i, j)): (usize, &(usize, usize))| {
        let (n, found) = found(columns[i], columns[j]);
        let resampled =
            replicates_of(columns[i], columns[j]).map(|samples| resampled(&replicates[..samples], place, level));
        ColumnCorrelations { n, found, resampled }
    };
    Matrix { cells: pairs.par_iter().enumerate().map(cell).collect() }
}

fn found(x: &DataColumn, y: &DataColumn) -> (usize, [Result<Correlation, Undefined>; 3]) {
    let both = x.values.iter().zip(&y.values).filter_map(|(x, y)| Some((x.as_ref()?, y.as_ref()?)));
    let (x, y): (Vec<f64>, Vec<f64>) = both.unzip();
    (x.len(), Coefficient::ALL.map(|coefficient| coefficient.correlate(&x, &y)))
}

/// Correlations of a pair of columns in one replicate, in the order of [`Coefficient::ALL`]; `None` if undefined.
pub type ReplicateCorrelations = Option<[f64; 3]>;

/// The correlations of each pair in each replicate.
fn replicates(columns: &[&DataColumn], pairs: &[(usize, usize)]) -> Vec<Vec<ReplicateCorrelations>> {
    let samples: Vec<usize> = pairs.iter().map(|&(i, j)| replicates_of(columns[i], columns[j]).unwrap_or(0)).collect();
    let most = samples.iter().copied().max().unwrap_or(0);
    let replicate = |replicate: usize| {
        let mut sampled: Vec<ReplicateColumn> =
            columns.iter().map(|column| ReplicateColumn::new(column, replicate)).collect();
        let compare = |(&(i, j), &samples): (&(usize, usize), &usize)| {
            (replicate < samples).then(|| ReplicateColumn::compare(&mut sampled, i, j)).flatten()
        };
        pairs.iter().zip(&samples).map(compare).collect()
    };
    (0..most).into_par_iter().map(replicate).collect()
}

/// Percentile intervals of the pair at index `place`.
fn resampled(
    replicates: &[Vec<ReplicateCorrelations>],
    place: usize,
    level: ConfidenceLevel,
) -> [Result<Resampled, Undefined>; 3] {
    [0, 1, 2].map(|coefficient| {
        let of = |replicate: &Vec<ReplicateCorrelations>| {
            replicate[place].map(|three| three[coefficient]).ok_or(Undefined::Nothing)
        };
        percentiles_with_spread(&replicates.iter().map(of).collect::<Vec<_>>(), level)
    })
}
