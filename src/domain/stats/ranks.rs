//! Ranks of values and their ties.

use std::cmp::Ordering;

use super::{real, real_len};

/// Ranks from 1 for the smallest value; equal values share their mean rank. Values must be finite.
#[must_use]
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let order = ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in order.chunk_by(|&i, &j| by_size(&values[i], &values[j]).is_eq()) {
        let shared = real_len(before) + f64::midpoint(1.0, real_len(group.len()));
        group.iter().for_each(|&i| ranks[i] = shared);
        before += group.len();
    }
    ranks
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| by_size(&values[i], &values[j]));
    order
}

/// The order of two numbers; 0 equals −0.
pub(super) fn by_size(x: &f64, y: &f64) -> Ordering {
    (x + 0.0).total_cmp(&(y + 0.0))
}

/// Ties of a series, summed over groups of t equal values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ties {
    /// Σ t(t−1)/2: pairs of equal values.
    pub(super) pairs: f64,
    /// Σ t(t−1)(t−2).
    pub(super) triples: f64,
    /// Σ t(t−1)(2t+5).
    pub(super) spread: f64,
}

impl Ties {
    pub(super) fn new(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(by_size);
        let mut ties = Self::default();
        for group in sorted.chunk_by(|x, y| by_size(x, y).is_eq()) {
            let t = real(group.len() as u64);
            ties.pairs += t * (t - 1.0) / 2.0;
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.spread += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }

    pub(super) fn any(self) -> bool {
        self.pairs > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_places() {
        assert_eq!(ranks(&[5.0, 2.0, 9.0, 5.0, 5.0]), [3.0, 1.0, 5.0, 3.0, 3.0]);
        assert_eq!(ranks(&[]), [0.0; 0]);
        assert_eq!(ranks(&[0.0, -0.0, -1.0]), [2.5, 2.5, 1.0]);
        assert!(Ties::new(&[-0.0, 0.0]).any());
    }

    #[test]
    fn ties_are_counted_by_group() {
        let ties = Ties::new(&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0]);
        assert_eq!(ties, Ties { pairs: 4.0, triples: 6.0, spread: 2.0 * 9.0 + 6.0 * 11.0 });
        assert!(!Ties::new(&[1.0, 0.5]).any());
    }
}
