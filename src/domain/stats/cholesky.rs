//! Cholesky factors and inverses of large symmetric matrices.
//!
//! A = LLᵀ, a block of columns at a time (Golub and Van Loan 2013, section 4.2.9): nearly all of the work is in products of
//! matrices, which use the caches well and are spread over threads. Results do not depend on the number of threads. Small
//! matrices are left to nalgebra, which is faster there.

use nalgebra::{Cholesky, DMatrix, DMatrixView, DMatrixViewMut, Dyn};
use rayon::prelude::*;

/// Number of columns of a block.
const BLOCK_COLUMNS: usize = 96;
/// Maximum size of the matrices that are left to nalgebra.
const MAX_UNBLOCKED_SIZE: usize = 2 * BLOCK_COLUMNS;

/// Factorises a symmetric matrix, of which only the lower triangle is read; `None` if it is not positive definite.
pub fn cholesky(mut matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let size = matrix.nrows();
    if size <= MAX_UNBLOCKED_SIZE {
        return matrix.cholesky();
    }
    for start in (0..size).step_by(BLOCK_COLUMNS) {
        let width = BLOCK_COLUMNS.min(size - start);
        let corner = matrix.view((start, start), (width, width)).into_owned().cholesky()?.unpack();
        matrix.view_mut((start, start), (width, width)).copy_from(&corner);
        let end = start + width;
        let below = size - end;
        if below > 0 {
            let panel = matrix.view((end, start), (below, width)) * inverse_of_lower(&corner).transpose();
            matrix.view_mut((end, start), (below, width)).copy_from(&panel);
            subtract_square(&mut matrix, end, &panel);
        }
    }
    Some(Cholesky::pack_dirty(matrix))
}

/// Subtracts P·Pᵀ from the columns right of a block: from the lower triangle, and from some of the upper one.
fn subtract_square(matrix: &mut DMatrix<f64>, end: usize, panel: &DMatrix<f64>) {
    let size = matrix.nrows();
    let across = panel.transpose();
    matrix.as_mut_slice()[end * size..].par_chunks_mut(BLOCK_COLUMNS * size).enumerate().for_each(
        |(block, columns)| {
            let (width, first) = (columns.len() / size, block * BLOCK_COLUMNS);
            let mut columns = DMatrixViewMut::from_slice(columns, size, width);
            let below = panel.nrows() - first;
            columns.rows_mut(end + first, below).gemm(
                -1.0,
                &panel.rows(first, below),
                &across.columns(first, width),
                1.0,
            );
        },
    );
}

/// Computes A⁻¹ from the Cholesky factor of A.
#[must_use]
pub fn inverse(factor: &Cholesky<f64, Dyn>) -> DMatrix<f64> {
    let lower = factor.l_dirty();
    let size = lower.nrows();
    if size <= MAX_UNBLOCKED_SIZE {
        // L⁻ᵀL⁻¹: a product of matrices is several times as fast as solving for the columns of the identity.
        let half = inverse_of_lower(lower);
        let mut inverse = half.transpose() * half;
        inverse.fill_upper_triangle_with_lower_triangle();
        return inverse;
    }
    let corners: Vec<DMatrix<f64>> = (0..size)
        .step_by(BLOCK_COLUMNS)
        .map(|start| inverse_of_lower(&lower.view((start, start), corner(start, size)).into_owned()))
        .collect();
    let mut inverse = DMatrix::zeros(size, size);
    inverse.as_mut_slice().par_chunks_mut(BLOCK_COLUMNS * size).enumerate().for_each(|(block, columns)| {
        let width = columns.len() / size;
        // The rows above are the transposed rows of the earlier blocks.
        let mut rows = DMatrixViewMut::from_slice(columns, size, width);
        solve(lower.into(), &corners, block, &mut rows);
    });
    inverse.fill_upper_triangle_with_lower_triangle();
    inverse
}

fn corner(start: usize, size: usize) -> (usize, usize) {
    let width = BLOCK_COLUMNS.min(size - start);
    (width, width)
}

fn inverse_of_lower(lower: &DMatrix<f64>) -> DMatrix<f64> {
    lower.solve_lower_triangular_unchecked(&DMatrix::identity(lower.nrows(), lower.nrows()))
}

/// Solves LLᵀX = E for a block of columns of the identity, from its diagonal down.
fn solve(lower: DMatrixView<'_, f64>, corners: &[DMatrix<f64>], block: usize, x: &mut DMatrixViewMut<'_, f64>) {
    let (size, width, begin) = (x.nrows(), x.ncols(), block * BLOCK_COLUMNS);
    for (at, corner) in corners.iter().enumerate().skip(block) {
        let (start, height) = (at * BLOCK_COLUMNS, corner.nrows());
        let mut rest = DMatrix::zeros(height, width);
        if at == block {
            rest.fill_with_identity();
        } else {
            let solved = start - begin;
            rest.gemm(-1.0, &lower.view((start, begin), (height, solved)), &x.rows(begin, solved), 0.0);
        }
        x.rows_mut(start, height).gemm(1.0, corner, &rest, 0.0);
    }
    for (at, corner) in corners.iter().enumerate().skip(block).rev() {
        let (start, height) = (at * BLOCK_COLUMNS, corner.nrows());
        let end = start + height;
        let mut rest = x.rows(start, height).into_owned();
        if end < size {
            let across = lower.view((end, start), (size - end, height)).transpose();
            rest.gemm(-1.0, &across, &x.rows(end, size - end), 1.0);
        }
        x.rows_mut(start, height).gemm(1.0, &corner.transpose(), &rest, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Σ vvᵀ + 1 of random vectors v.
    fn positive(size: usize) -> DMatrix<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let vectors = DMatrix::from_fn(size, size + 10, |_, _| rng.random_range(-1.0..1.0));
        &vectors * vectors.transpose() + DMatrix::identity(size, size)
    }

    #[test]
    fn blocks_give_the_factor_and_the_inverse() {
        for size in [1, MAX_UNBLOCKED_SIZE, MAX_UNBLOCKED_SIZE + 1, 3 * BLOCK_COLUMNS, 4 * BLOCK_COLUMNS + 5] {
            let matrix = positive(size);
            let factor = cholesky(matrix.clone()).unwrap();
            let lower = factor.l();
            let off = (&lower * lower.transpose() - &matrix).amax();
            assert!(off < 1e-12 * matrix.amax(), "{size}: {off}");
            let off = (matrix * inverse(&factor) - DMatrix::identity(size, size)).amax();
            assert!(off < 1e-10, "{size}: {off}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        for size in [2, MAX_UNBLOCKED_SIZE + BLOCK_COLUMNS + 7] {
            for at in [0, size - 1] {
                let mut matrix = positive(size);
                matrix[(at, at)] = -1.0;
                assert!(cholesky(matrix).is_none(), "{size}, {at}");
            }
        }
    }
}
