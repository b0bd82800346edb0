//! Sums over voters, and what they give.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use crate::stats::real_len;

/// Ranges that are summed apart where the matrices are small.
const RANGES: usize = 16;
/// Parameters above which a matrix for each range would take too much memory.
const MANY_PARAMETERS: usize = 1_000;

/// Ranges of voters to sum apart; they do not depend on the number of threads.
pub(in super::super) fn ranges(voters: usize, parameters: usize) -> Vec<Range<usize>> {
    let parts = if parameters > MANY_PARAMETERS { 1 } else { RANGES };
    let end = |part: usize| part * voters / parts;
    (0..parts).map(|part| end(part)..end(part + 1)).collect()
}

/// Sums over voters.
pub(in super::super) struct Sums {
    /// Σ w_g w_gᵀ; of the entries beside the diagonal, only one of each two is filled.
    meat: DMatrix<f64>,
    /// Σ h_g and Σ h_g² by parameter.
    information: Vec<(f64, f64)>,
    voters: usize,
    /// Parameters that are not determined without one of the voters.
    carried: Vec<bool>,
}

impl Sums {
    pub(in super::super) fn new(size: usize) -> Self {
        let information = vec![(0.0, 0.0); size];
        Self { meat: DMatrix::zeros(size, size), information, voters: 0, carried: vec![false; size] }
    }

    /// Adds a voter whose votes touch some parameters: w_g and h_g there.
    pub(in super::super) fn add(&mut self, touched: &[usize], corrected: &[f64], information: &[f64]) {
        self.voters += 1;
        for (at, (&column, across)) in touched.iter().zip(corrected).enumerate() {
            for (&row, down) in touched[..=at].iter().zip(corrected) {
                self.meat[(row, column)] += down * across;
            }
        }
        self.add_information(touched, information);
    }

    /// Adds h_g of a voter.
    pub(in super::super) fn add_information(&mut self, touched: &[usize], information: &[f64]) {
        for (&parameter, own) in touched.iter().zip(information) {
            let (sum, squares) = &mut self.information[parameter];
            *sum += own;
            *squares += own * own;
        }
    }

    /// Adds w_g of a voter that was left out by a refit.
    pub(super) fn add_over_all(&mut self, corrected: &DVector<f64>) {
        self.voters += 1;
        let all: Vec<usize> = (0..corrected.len()).collect();
        for &column in &all {
            for &row in &all[..=column] {
                self.meat[(row, column)] += corrected[row] * corrected[column];
            }
        }
    }

    /// Marks parameters that are not determined without a voter.
    pub(in super::super) fn carry(&mut self, parameters: &[usize]) {
        parameters.iter().for_each(|&parameter| self.carried[parameter] = true);
    }

    /// The sum of sums, in order.
    pub(in super::super) fn total(size: usize, parts: Vec<Self>) -> Self {
        let mut total = Self::new(size);
        for part in parts {
            total.meat += part.meat;
            total.voters += part.voters;
            for (sum, own) in total.information.iter_mut().zip(part.information) {
                *sum = (sum.0 + own.0, sum.1 + own.1);
            }
            total.carried.iter_mut().zip(part.carried).for_each(|(carried, own)| *carried |= own);
        }
        total
    }

    pub(in super::super) fn carried(&self) -> &[bool] {
        &self.carried
    }

    /// The diagonal of (G−1)/G · H⁺ (Σ w_g w_gᵀ) H⁺; `None` for fewer than two voters.
    pub(in super::super) fn variances(&self, inverse: &DMatrix<f64>) -> Option<DVector<f64>> {
        if self.voters < 2 {
            return None;
        }
        let mut meat = &self.meat + self.meat.transpose();
        (0..meat.nrows()).for_each(|i| meat[(i, i)] *= 0.5);
        let half = meat * inverse;
        let factor = real_len(self.voters - 1) / real_len(self.voters);
        // The matrix is positive semidefinite: negative values are rounding.
        let variance = |i: usize, _| (factor * inverse.column(i).dot(&half.column(i))).max(0.0);
        Some(DVector::from_fn(inverse.ncols(), variance))
    }

    /// The effective number of voters of each parameter; 0 where no voter has information.
    pub(in super::super) fn effective_voters(&self) -> Vec<f64> {
        let effective = |&(sum, squares): &(f64, f64)| if squares > 0.0 { sum * sum / squares } else { 0.0 };
        self.information.iter().map(effective).collect()
    }
}
