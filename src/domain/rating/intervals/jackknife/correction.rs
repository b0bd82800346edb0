//! Corrected score of one voter, w = (1 − H_g H⁺)⁻¹ s.

use nalgebra::{DMatrix, DVector};

/// Relative size of a term at which the series is truncated.
const TERM_TOLERANCE: f64 = 1e-12;
/// Maximum number of terms of the series; beyond it, elimination solves the equations instead.
const MAX_TERMS: usize = 24;
/// Pivot below which H − H_g is singular: without the voter, the parameters are not determined.
const MIN_PIVOT: f64 = 1e-9;

/// Corrects the scores of voters; its buffers are reused from voter to voter.
#[derive(Default)]
pub(in crate::rating) struct Correction {
    /// H⁺ over the parameters of the voter, by columns.
    inverse: Vec<f64>,
    score: Vec<f64>,
    sum: Vec<f64>,
    term: Vec<f64>,
    moved: Vec<f64>,
}

impl Correction {
    /// Loads the score of the next voter, over the parameters that the voter's votes touch.
    pub(in crate::rating) fn set(&mut self, touched: &[usize], score: &[f64], inverse: &DMatrix<f64>) {
        self.inverse.clear();
        for &column in touched {
            let column = inverse.column(column);
            self.inverse.extend(touched.iter().map(|&row| column[row]));
        }
        for vector in [&mut self.score, &mut self.sum, &mut self.term] {
            vector.clear();
            vector.extend_from_slice(score);
        }
        self.moved.resize(score.len(), 0.0);
    }

    /// Computes w by the series Σ (H_g·H⁺)ᵏ·s, or by elimination where that converges slowly. `None` if the matrix is singular.
    /// `curvature` sets its second argument to H_g times its first.
    pub(in crate::rating) fn solve(&mut self, curvature: impl Fn(&[f64], &mut [f64])) -> Option<&[f64]> {
        let size = self.score.len();
        for _ in 0..MAX_TERMS {
            self.moved.fill(0.0);
            for (column, factor) in self.inverse.chunks_exact(size).zip(&self.term) {
                self.moved.iter_mut().zip(column).for_each(|(sum, entry)| *sum += factor * entry);
            }
            curvature(&self.moved, &mut self.term);
            self.sum.iter_mut().zip(&self.term).for_each(|(sum, term)| *sum += term);
            if max_abs(&self.term) <= TERM_TOLERANCE * max_abs(&self.sum) {
                return Some(&self.sum);
            }
        }
        self.eliminate(curvature)
    }

    fn eliminate(&mut self, curvature: impl Fn(&[f64], &mut [f64])) -> Option<&[f64]> {
        let size = self.score.len();
        let mut matrix = DMatrix::identity(size, size);
        for (place, column) in self.inverse.chunks_exact(size).enumerate() {
            curvature(column, &mut self.moved);
            matrix.column_mut(place).iter_mut().zip(&self.moved).for_each(|(entry, product)| *entry -= product);
        }
        let factor = matrix.lu();
        let is_regular = factor.u().diagonal().iter().all(|pivot: &f64| pivot.abs() > MIN_PIVOT);
        let solved = is_regular.then(|| factor.solve(&DVector::from_column_slice(&self.score))).flatten()?;
        self.sum.copy_from_slice(solved.as_slice());
        Some(&self.sum)
    }
}

fn max_abs(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H of three models in a ring, one unit of information on each pair, made invertible as for the fit.
    fn inverse() -> DMatrix<f64> {
        let hessian = DMatrix::from_row_slice(3, 3, &[2.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2.0]);
        (hessian + DMatrix::from_element(3, 3, 1.0)).try_inverse().unwrap()
    }

    /// Leaves out `share` of the information on the first pair.
    fn leave_out(share: f64) -> Option<Vec<f64>> {
        let mut correction = Correction::default();
        correction.set(&[0, 1], &[1.0, -1.0], &inverse());
        let corrected = correction.solve(|from, to| {
            to[0] = share * (from[0] - from[1]);
            to[1] = -to[0];
        });
        corrected.map(<[f64]>::to_vec)
    }

    #[test]
    fn the_corrected_score_is_the_newton_step_without_the_voter() {
        // Without the voter, the pair has (1 − share) + 1/2 of information through the third model, and with it 3/2.
        for share in [0.1, 0.5, 0.99] {
            let corrected = leave_out(share).unwrap();
            let expected = 1.5 / (1.5 - share);
            assert!((corrected[0] - expected).abs() < 1e-9, "{corrected:?} instead of {expected}");
            assert!((corrected[0] + corrected[1]).abs() < 1e-9);
        }
    }

    #[test]
    fn all_of_the_information_leaves_nothing_to_solve() {
        assert!(leave_out(1.5).is_none());
    }
}
