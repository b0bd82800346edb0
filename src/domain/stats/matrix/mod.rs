//! The correlations of every two of many series, and how far each moves when what the series come from is redrawn.
//!
//! What is found here of two series is what [`super::correlation`] finds of them, to the last bit. A replicate turns every
//! series into a `Shape` once, from which its correlation with any other takes a few hundred operations; replicates go
//! to all cores, and their number changes nothing.

mod drawn;
mod shape;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::drawn::{Drawn, draws_of};
use super::Undefined;
use super::correlation::{Coefficient, Correlation};
use super::resample::{Resampled, percentiles};
use crate::domain::rating::interval::ConfidenceLevel;

/// One series over n positions (subjects), with its redrawn values.
///
/// Two columns with draws are compared replicate by replicate, the first of the one with the first of the other, as far as
/// both go; one without is used as it stands in each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Column {
    /// The value of each position; `None` where it has none.
    pub values: Vec<Option<f64>>,
    /// `draws[k][i]` is the value of position i in replicate k; empty where the values are held fixed. A position without a
    /// value has none in any replicate.
    pub draws: Vec<Vec<Option<f64>>>,
}

/// What is found of two columns, of the positions that both have. Correlations are in the order of [`Coefficient::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// How many positions both have.
    pub n: usize,
    /// The correlations of the values.
    pub found: [Result<Correlation, Undefined>; 3],
    /// Between which percentiles those of the replicates lie, each of the positions that both have in it; `None` where the
    /// values of both are fixed.
    pub redrawn: Option<[Result<Resampled, Undefined>; 3]>,
}

impl Cell {
    /// The same of the two columns in the other order.
    fn turned(self) -> Self {
        Self {
            found: self.found.map(|found| found.map_err(Undefined::turned)),
            redrawn: self.redrawn.map(|redrawn| redrawn.map(|found| found.map_err(Undefined::turned))),
            ..self
        }
    }
}

/// The cells of every two columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Those of columns i < j, by j and then by i.
    cells: Vec<Cell>,
}

impl Matrix {
    /// The correlations of column `i` with column `j`, two different columns by their positions.
    ///
    /// # Panics
    /// Where there are no two such columns.
    #[must_use]
    pub fn cell(&self, i: usize, j: usize) -> Cell {
        assert_ne!(i, j, "a column is not compared with itself");
        if i < j { self.cells[place(i, j)] } else { self.cells[place(j, i)].turned() }
    }
}

/// Where the cell of columns i < j stands.
fn place(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

/// The correlations of two columns.
#[must_use]
pub fn pair(x: &Column, y: &Column, level: ConfidenceLevel) -> Cell {
    all_pairs(&[x, y], level).cell(0, 1)
}

/// The correlations of every two columns.
#[must_use]
pub fn matrix(columns: &[Column], level: ConfidenceLevel) -> Matrix {
    all_pairs(&columns.iter().collect::<Vec<_>>(), level)
}

/// Pearson's, Spearman's and Kendall's correlation of two columns in each replicate; empty where the values of both are
/// fixed.
#[must_use]
pub fn in_replicates(x: &Column, y: &Column) -> Vec<Three> {
    replicates(&[x, y], &[(0, 1)]).into_iter().map(|pairs| pairs[0]).collect()
}

fn all_pairs(columns: &[&Column], level: ConfidenceLevel) -> Matrix {
    let pairs: Vec<(usize, usize)> = (1..columns.len()).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    let replicates = replicates(columns, &pairs);
    let cell = |(place, &(i, j)): (usize, &(usize, usize))| {
        let (n, found) = found(columns[i], columns[j]);
        let redrawn = draws_of(columns[i], columns[j]).map(|draws| redrawn(&replicates[..draws], place, level));
        Cell { n, found, redrawn }
    };
    Matrix { cells: pairs.par_iter().enumerate().map(cell).collect() }
}

/// The correlations of the values as they stand.
fn found(x: &Column, y: &Column) -> (usize, [Result<Correlation, Undefined>; 3]) {
    let both = x.values.iter().zip(&y.values).filter_map(|(x, y)| Some((x.as_ref()?, y.as_ref()?)));
    let (x, y): (Vec<f64>, Vec<f64>) = both.unzip();
    (x.len(), Coefficient::ALL.map(|coefficient| coefficient.of(&x, &y)))
}

/// The correlations of a pair of columns in one replicate, in the order of [`Coefficient::ALL`]; `None` where they do not
/// exist.
pub type Three = Option<[f64; 3]>;

/// What each replicate gives for each of the pairs.
fn replicates(columns: &[&Column], pairs: &[(usize, usize)]) -> Vec<Vec<Three>> {
    let draws: Vec<usize> = pairs.iter().map(|&(i, j)| draws_of(columns[i], columns[j]).unwrap_or(0)).collect();
    let most = draws.iter().copied().max().unwrap_or(0);
    let replicate = |replicate: usize| {
        let mut drawn: Vec<Drawn> = columns.iter().map(|column| Drawn::of(column, replicate)).collect();
        let compare = |(&(i, j), &draws): (&(usize, usize), &usize)| {
            (replicate < draws).then(|| Drawn::compare(&mut drawn, i, j)).flatten()
        };
        pairs.iter().zip(&draws).map(compare).collect()
    };
    (0..most).into_par_iter().map(replicate).collect()
}

/// The percentiles of what the replicates give for the pair at `place`.
fn redrawn(replicates: &[Vec<Three>], place: usize, level: ConfidenceLevel) -> [Result<Resampled, Undefined>; 3] {
    [0, 1, 2].map(|coefficient| {
        let of = |replicate: &Vec<Three>| replicate[place].map(|three| three[coefficient]).ok_or(Undefined::Nothing);
        percentiles(&replicates.iter().map(of).collect::<Vec<_>>(), level)
    })
}
