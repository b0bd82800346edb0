//! False discovery rate of multiple tests (Benjamini and Hochberg 1995).

use crate::stats::real_len;

/// Computes the q-value of each p-value: the smallest rate at which its test is a discovery, min over p' ≥ p of p'·n / #{p'' ≤ p'}.
///
/// Flagging every voter with q ≤ α makes the expected share of honest voters among the flagged ones at most α, whatever the number of
/// voters, if the voters are independent or positively dependent.
pub(super) fn q_values(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&x, &y| p_values[y].total_cmp(&p_values[x]));
    let mut q_values = vec![1.0; p_values.len()];
    let mut least: f64 = 1.0;
    for (above, test) in order.into_iter().enumerate() {
        least = least.min(p_values[test] * real_len(p_values.len()) / real_len(p_values.len() - above));
        q_values[test] = least;
    }
    q_values
}

#[cfg(test)]
mod tests {
    use super::q_values;

    #[test]
    fn q_values_are_those_of_the_worked_example() {
        // The 15 p-values of Benjamini and Hochberg 1995, section 3.2: the four smallest are discoveries at 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let q = q_values(&p);
        assert_eq!(q.iter().filter(|q| **q <= 0.05).count(), 4);
        assert!((q[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12 && q.is_sorted(), "{q:?}");
        assert!(q_values(&[]).is_empty());
    }
}
