//! Sums over voters, and the covariances and effective numbers of voters computed from them.

use std::ops::Range;

use nalgebra::{DMatrix, DMatrixViewMut, DVector};
use rayon::prelude::*;

use crate::stats::real_len;

/// Number of ranges of voters that are summed separately.
const VOTER_RANGES: usize = 16;
/// Number of parameters above which a matrix for each range would take too much memory.
const MANY_PARAMETERS: usize = 1_000;
/// With many parameters, a voter that touches more than 1/4 of them is added to the whole matrix.
const WIDE_VOTER_DIVISOR: usize = 4;
/// Number of voters that are added to the whole matrix at a time.
const VOTERS_PER_BATCH: usize = 128;
/// Share of the information on a parameter below which the rest is rounding error.
const MIN_INFORMATION_SHARE: f64 = 1e-9;
/// Number of parameters whose variances are computed together.
const COLUMNS_PER_BATCH: usize = 96;

/// Splits the voters into ranges to sum separately, which do not depend on the number of threads.
pub(in crate::rating) fn ranges(voters: usize) -> Vec<Range<usize>> {
    let end = |part: usize| part * voters / VOTER_RANGES;
    (0..VOTER_RANGES).map(|part| end(part)..end(part + 1)).collect()
}

/// Sums over voters.
pub(in crate::rating) struct SumsOfVoters {
    /// Σ w_g w_gᵀ above and on the diagonal; with many parameters, empty until the total is computed.
    meat: DMatrix<f64>,
    /// With many parameters, each w_g with the parameters where it is not zero, in ascending order.
    scores: Vec<(Vec<usize>, Vec<f64>)>,
    /// Σ h_g and Σ h_g² by parameter.
    information: Vec<(f64, f64)>,
    voters: usize,
    /// Parameters that are not determined without one of the voters.
    single_voter: Vec<bool>,
}

impl SumsOfVoters {
    pub(in crate::rating) fn new(size: usize) -> Self {
        let meat = if size > MANY_PARAMETERS { DMatrix::zeros(0, 0) } else { DMatrix::zeros(size, size) };
        let information = vec![(0.0, 0.0); size];
        Self { meat, scores: Vec::new(), information, voters: 0, single_voter: vec![false; size] }
    }

    /// Adds a voter whose votes touch some parameters, in ascending order: w_g and h_g there.
    pub(in crate::rating) fn add(&mut self, touched: &[usize], corrected: &[f64], information: &[f64]) {
        self.add_score(touched, corrected);
        self.add_information(touched, information);
    }

    fn add_score(&mut self, touched: &[usize], corrected: &[f64]) {
        self.voters += 1;
        if self.meat.is_empty() {
            self.scores.push((touched.to_vec(), corrected.to_vec()));
        } else {
            add_square(&mut self.meat, touched, corrected);
        }
    }

    /// Adds h_g of a voter.
    pub(in crate::rating) fn add_information(&mut self, touched: &[usize], information: &[f64]) {
        for (&parameter, own) in touched.iter().zip(information) {
            let (sum, squares) = &mut self.information[parameter];
            *sum += own;
            *squares += own * own;
        }
    }

    /// Adds w_g of a voter that was left out by a refit.
    pub(super) fn add_over_all(&mut self, corrected: &DVector<f64>) {
        let all: Vec<usize> = (0..corrected.len()).collect();
        self.add_score(&all, corrected.as_slice());
    }

    /// Marks parameters that are not determined without a voter.
    pub(in crate::rating) fn carry(&mut self, parameters: &[usize]) {
        parameters.iter().for_each(|&parameter| self.single_voter[parameter] = true);
    }

    /// Marks the parameters on which a voter has all the information; `total` is that of all voters. The voter's score is zero there
    /// at the optimum, so leaving the voter out would seem to change nothing.
    pub(in crate::rating) fn mark_sole_voter_parameters(
        &mut self,
        touched: &[usize],
        information: &[f64],
        total: &DVector<f64>,
    ) {
        for (&parameter, own) in touched.iter().zip(information) {
            if (total[parameter] - own).abs() <= MIN_INFORMATION_SHARE * total[parameter].abs() {
                self.single_voter[parameter] = true;
            }
        }
    }

    /// Adds up partial sums in order, and fills the entries below the diagonal.
    pub(in crate::rating) fn total(size: usize, parts: Vec<Self>) -> Self {
        let mut total = Self { meat: DMatrix::zeros(size, size), ..Self::new(size) };
        let mut wide = Vec::new();
        for part in parts {
            if part.meat.is_empty() {
                let (many, few) =
                    part.scores.into_iter().partition(|(touched, _)| WIDE_VOTER_DIVISOR * touched.len() > size);
                let few: Vec<(Vec<usize>, Vec<f64>)> = few;
                few.iter().for_each(|(touched, score)| add_square(&mut total.meat, touched, score));
                wide.push(many);
            } else {
                total.meat += part.meat;
            }
            total.voters += part.voters;
            for (sum, own) in total.information.iter_mut().zip(part.information) {
                *sum = (sum.0 + own.0, sum.1 + own.1);
            }
            total.single_voter.iter_mut().zip(part.single_voter).for_each(|(single_voter, own)| *single_voter |= own);
        }
        total.meat.fill_lower_triangle_with_upper_triangle();
        let wide: Vec<(Vec<usize>, Vec<f64>)> = wide.into_iter().flatten().collect();
        wide.chunks(VOTERS_PER_BATCH).for_each(|scores| add_squares(&mut total.meat, scores));
        total
    }

    pub(in crate::rating) fn single_voter(&self) -> &[bool] {
        &self.single_voter
    }

    /// Computes (G−1)/G; `None` for fewer than two voters.
    fn factor(&self) -> Option<f64> {
        (self.voters > 1).then(|| real_len(self.voters - 1) / real_len(self.voters))
    }

    /// Computes (G−1)/G · H⁺ (Σ w_g w_gᵀ) H⁺; `None` for fewer than two voters.
    pub(in crate::rating) fn covariance(&self, inverse: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let mut covariance = inverse * (&self.meat * inverse) * self.factor()?;
        // The matrix is positive semidefinite: negative values are rounding.
        (0..covariance.nrows()).for_each(|place| covariance[(place, place)] = covariance[(place, place)].max(0.0));
        Some(covariance)
    }

    /// Computes the diagonal of [`covariance`](Self::covariance).
    pub(in crate::rating) fn variances(&self, inverse: &DMatrix<f64>) -> Option<DVector<f64>> {
        let factor = self.factor()?;
        let mut variances = DVector::zeros(inverse.ncols());
        variances.as_mut_slice().par_chunks_mut(COLUMNS_PER_BATCH).enumerate().for_each(|(part, variances)| {
            let columns = inverse.columns(part * COLUMNS_PER_BATCH, variances.len());
            let half = &self.meat * columns;
            for ((variance, column), half) in variances.iter_mut().zip(columns.column_iter()).zip(half.column_iter()) {
                // The matrix is positive semidefinite: negative values are rounding.
                *variance = (factor * column.dot(&half)).max(0.0);
            }
        });
        Some(variances)
    }

    /// Computes the effective number of voters of each parameter; 0 where no voter has information.
    pub(in crate::rating) fn effective_voters(&self) -> Vec<f64> {
        let effective = |&(sum, squares): &(f64, f64)| if squares > 0.0 { sum * sum / squares } else { 0.0 };
        self.information.iter().map(effective).collect()
    }
}

/// Adds wwᵀ on and above the diagonal.
fn add_square(meat: &mut DMatrix<f64>, touched: &[usize], score: &[f64]) {
    for (at, (&column, across)) in touched.iter().zip(score).enumerate() {
        let mut column = meat.column_mut(column);
        for (&row, down) in touched[..=at].iter().zip(score) {
            column[row] += down * across;
        }
    }
}

/// Adds Σ wwᵀ to the whole matrix.
fn add_squares(meat: &mut DMatrix<f64>, scores: &[(Vec<usize>, Vec<f64>)]) {
    let size = meat.nrows();
    let mut all = DMatrix::zeros(size, scores.len());
    for (mut column, (touched, score)) in all.column_iter_mut().zip(scores) {
        touched.iter().zip(score).for_each(|(&row, &score)| column[row] = score);
    }
    let across = all.transpose();
    meat.as_mut_slice().par_chunks_mut(COLUMNS_PER_BATCH * size).enumerate().for_each(|(part, columns)| {
        let width = columns.len() / size;
        let mut columns = DMatrixViewMut::from_slice(columns, size, width);
        columns.gemm(1.0, &all, &across.columns(part * COLUMNS_PER_BATCH, width), 1.0);
    });
}
