//! The corrected score of one voter, w = (1 − H_g H⁺)⁻¹ s.

use nalgebra::{DMatrix, DVector};

/// What a voter adds to the sums, by parameter.
pub(in super::super) struct VoterTerm {
    pub(in super::super) parameters: Vec<usize>,
    /// w_g.
    pub(in super::super) corrected: Vec<f64>,
    /// The diagonal of H_g.
    pub(in super::super) information: Vec<f64>,
}

impl VoterTerm {
    /// The term of a w_g over all parameters, with information on the touched ones.
    pub(super) fn over_all(touched: &[usize], information: &[f64], corrected: &DVector<f64>) -> Self {
        let mut spread = vec![0.0; corrected.len()];
        touched.iter().zip(information).for_each(|(&parameter, own)| spread[parameter] = *own);
        let parameters = (0..corrected.len()).collect();
        Self { parameters, corrected: corrected.iter().copied().collect(), information: spread }
    }
}

/// Relative size of the last term of the series that is added.
const LAST_TERM: f64 = 1e-12;
/// Where the series needs more terms than this, the equations are solved instead.
const MAX_TERMS: usize = 24;
/// A pivot this small means that H − H_g is singular: without the voter, the parameters are not determined.
const SINGULAR: f64 = 1e-9;

/// Solves (1 − H_g·H⁺)·w = s over the parameters of a voter: by the series Σ (H_g·H⁺)ᵏ·s, or by elimination where that
/// converges slowly. `None` if the matrix is singular. `curvature` sets its second argument to H_g times its first.
pub(in super::super) fn corrected_score(
    score: &[f64],
    inverse: impl Fn(usize, usize) -> f64,
    curvature: impl Fn(&[f64], &mut [f64]),
) -> Option<Vec<f64>> {
    let size = score.len();
    let inverse = DMatrix::from_fn(size, size, |i, j| inverse(i, j));
    let mut sum = score.to_vec();
    let mut term = DVector::from_column_slice(score);
    for _ in 0..MAX_TERMS {
        let moved = &inverse * &term;
        curvature(moved.as_slice(), term.as_mut_slice());
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
        let largest = sum.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        if term.amax() <= LAST_TERM * largest {
            return Some(sum);
        }
    }
    let mut matrix = DMatrix::identity(size, size);
    let mut column = vec![0.0; size];
    for place in 0..size {
        curvature(inverse.column(place).as_slice(), &mut column);
        matrix.column_mut(place).iter_mut().zip(&column).for_each(|(entry, product)| *entry -= product);
    }
    let factor = matrix.lu();
    let is_regular = factor.u().diagonal().iter().all(|pivot: &f64| pivot.abs() > SINGULAR);
    let solved = is_regular.then(|| factor.solve(&DVector::from_column_slice(score))).flatten()?;
    Some(solved.iter().copied().collect())
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
        let inverse = inverse();
        corrected_score(
            &[1.0, -1.0],
            |i, j| inverse[(i, j)],
            |x, y| {
                y[0] = share * (x[0] - x[1]);
                y[1] = -y[0];
            },
        )
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
