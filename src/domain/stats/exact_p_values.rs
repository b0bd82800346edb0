//! Exact null distributions of rank correlations: every order of the second series is equally likely. For few values
//! without ties.

use std::sync::OnceLock;

use super::real_len;

/// Maximum number of values for the exact distribution of Spearman's ρ; above it the t distribution is close.
pub(super) const SPEARMAN_UP_TO: usize = 9;
/// Maximum number of values for the exact distribution of Kendall's τ, as in scipy.
pub(super) const KENDALL_UP_TO: usize = 33;

/// Two-sided p-value of Spearman's ρ: the share of orders with |ρ| at least as large. `squares` is the sum D of squared
/// rank differences; ρ = 1 − 6D/(n³−n), so its mirror image is (n³−n)/3 − D.
pub(super) fn spearman_p(n: usize, squares: usize) -> f64 {
    let probabilities = spearman_distribution(n);
    let most = (n * n * n - n) / 3;
    let near = squares.min(most - squares);
    let tail: f64 = probabilities[..=near].iter().sum();
    if 2 * near >= most { 1.0 } else { (2.0 * tail).min(1.0) }
}

/// The probability of each D for `n` values, `n` at most [`SPEARMAN_UP_TO`].
fn spearman_distribution(n: usize) -> &'static [f64] {
    static KNOWN: [OnceLock<Vec<f64>>; SPEARMAN_UP_TO + 1] = [const { OnceLock::new() }; SPEARMAN_UP_TO + 1];
    KNOWN[n].get_or_init(|| count_spearman(n))
}

/// Assigns ranks position by position: `by_used[set][d]` is the probability of the sum d after the ranks in `set` are
/// assigned.
fn count_spearman(n: usize) -> Vec<f64> {
    let most = (n * n * n - n) / 3;
    let mut by_used = vec![vec![0.0; most + 1]; 1 << n];
    by_used[0][0] = 1.0;
    for used in 0..(1_usize << n) - 1 {
        let place = used.count_ones() as usize;
        let reached = std::mem::take(&mut by_used[used]);
        for rank in (0..n).filter(|rank| used & (1 << rank) == 0) {
            let step = rank.abs_diff(place).pow(2);
            let next = &mut by_used[used | (1 << rank)];
            for (d, &probability) in reached.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
                next[d + step] += probability / real_len(n - place);
            }
        }
    }
    by_used.pop().unwrap_or_default()
}

/// Two-sided p-value of Kendall's τ for `n` values without ties and `discordant` discordant pairs (Kendall 1970,
/// chapter 5): the number of inversions of a random order is a sum of independent uniform numbers 0 … j−1.
pub(super) fn kendall_p(n: usize, discordant: usize) -> f64 {
    let pairs = n * (n - 1) / 2;
    let near = discordant.min(pairs - discordant);
    if 2 * near >= pairs {
        return 1.0;
    }
    let mut probabilities = vec![0.0; near + 1];
    probabilities[0] = 1.0;
    for j in 2..=n {
        let previous = std::mem::take(&mut probabilities);
        let mut window = 0.0;
        for (inversions, &probability) in previous.iter().enumerate() {
            window += probability;
            probabilities.push(window / real_len(j));
            if inversions + 1 >= j {
                window -= previous[inversions + 1 - j];
            }
        }
    }
    (2.0 * probabilities.iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(n: usize) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for next in 0..n {
            let into = |order: &Vec<usize>, at: usize| [&order[..at], &[next], &order[at..]].concat();
            all =
                all.iter().flat_map(|order| (0..=order.len()).map(|at| into(order, at)).collect::<Vec<_>>()).collect();
        }
        all
    }

    fn squares(order: &[usize]) -> usize {
        order.iter().enumerate().map(|(i, &rank)| rank.abs_diff(i).pow(2)).sum()
    }

    fn inversions(order: &[usize]) -> usize {
        (0..order.len()).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|&(i, j)| order[i] > order[j]).count()
    }

    /// The share of all orders whose statistic is at least as far from its centre, half of `most`.
    fn share(n: usize, statistic: fn(&[usize]) -> usize, most: usize, seen: usize) -> f64 {
        let far = |value: usize| (2 * value).abs_diff(most);
        let all = orders(n);
        real_len(all.iter().filter(|order| far(statistic(order)) >= far(seen)).count()) / real_len(all.len())
    }

    #[test]
    fn both_distributions_are_those_of_all_orders() {
        for n in 3..=7 {
            let (spearman_most, kendall_most) = ((n * n * n - n) / 3, n * (n - 1) / 2);
            for seen in (0..=spearman_most).step_by(2) {
                let (got, want) = (spearman_p(n, seen), share(n, squares, spearman_most, seen));
                assert!((got - want).abs() < 1e-12, "D {seen} of {n}: {got} instead of {want}");
            }
            for seen in 0..=kendall_most {
                let (got, want) = (kendall_p(n, seen), share(n, inversions, kendall_most, seen));
                assert!((got - want).abs() < 1e-12, "{seen} inversions of {n}: {got} instead of {want}");
            }
        }
    }
}
