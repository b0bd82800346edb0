//! Exact null distributions of rank correlations: every order of the second series is equally likely. Without ties for few values, and
//! for fewer with ties, whose distribution depends on the values.

use std::sync::OnceLock;

use super::real_len;

/// Maximum number of values for the exact distribution of Spearman's ρ; above it the t distribution is close.
pub(super) const MAX_EXACT_SPEARMAN: usize = 9;
/// Maximum number of values for the exact distribution of Kendall's τ, as in scipy.
pub(super) const MAX_EXACT_KENDALL: usize = 33;
/// Maximum number of values, some of them tied, whose orders are all counted: 20,160 or 40,320.
pub(super) const MAX_EXACT_TIED: usize = 8;

/// Two-sided p-value of Spearman's ρ: the share of orders with |ρ| at least as large. `squares` is the sum D of squared
/// rank differences; ρ = 1 − 6D/(n³−n), so its mirror image is (n³−n)/3 − D.
pub(super) fn spearman_p(n: usize, squares: usize) -> f64 {
    let probabilities = spearman_distribution(n);
    let most = (n * n * n - n) / 3;
    let near = squares.min(most - squares);
    let tail: f64 = probabilities[..=near].iter().sum();
    if 2 * near >= most { 1.0 } else { (2.0 * tail).min(1.0) }
}

/// The probability of each D for `n` values, `n` at most [`MAX_EXACT_SPEARMAN`].
fn spearman_distribution(n: usize) -> &'static [f64] {
    static SPEARMAN_DISTRIBUTIONS: [OnceLock<Vec<f64>>; MAX_EXACT_SPEARMAN + 1] =
        [const { OnceLock::new() }; MAX_EXACT_SPEARMAN + 1];
    SPEARMAN_DISTRIBUTIONS[n].get_or_init(|| count_spearman(n))
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

/// Two-sided p-value of Spearman's ρ of values with ties, from their ranks: the share of orders with |ρ| at least as large.
pub(super) fn tied_spearman_p(x_ranks: &[f64], y_ranks: &[f64]) -> f64 {
    share_at_least_as_extreme(x_ranks, y_ranks, |x, y| x.iter().zip(y).map(|(x, y)| x * y).sum())
}

/// Two-sided p-value of Kendall's τ-b of values with ties, from their ranks: the share of orders with |τ-b| at least as large.
pub(super) fn tied_kendall_p(x_ranks: &[f64], y_ranks: &[f64]) -> f64 {
    share_at_least_as_extreme(x_ranks, y_ranks, |x, y| {
        let excess_of = |j: usize| (0..j).map(move |i| (x[j] - x[i]).signum() * (y[j] - y[i]).signum());
        (0..x.len()).flat_map(excess_of).sum()
    })
}

/// The share of all orders of `y` in which a statistic of the centred ranks is at least as far from 0. Orders that differ in tied values
/// only are counted once: each arrangement represents equally many orders.
fn share_at_least_as_extreme(x_ranks: &[f64], y_ranks: &[f64], statistic: impl Fn(&[i64], &[i64]) -> i64) -> f64 {
    let (x, mut y) = (centred(x_ranks), centred(y_ranks));
    let observed = statistic(&x, &y).abs();
    let (mut extreme, mut all) = (0_usize, 0_usize);
    y.sort_unstable();
    loop {
        all += 1;
        extreme += usize::from(statistic(&x, &y).abs() >= observed);
        if !next_arrangement(&mut y) {
            return real_len(extreme) / real_len(all);
        }
    }
}

/// Twice the difference between each rank and the mean of all.
#[expect(clippy::cast_possible_truncation, reason = "the mean rank of tied values is a whole number or a half")]
fn centred(ranks: &[f64]) -> Vec<i64> {
    let middle = real_len(ranks.len() + 1);
    ranks.iter().map(|rank| (2.0 * rank - middle).round() as i64).collect()
}

/// Permutes values into the next lexicographic order; returns false from the last one.
fn next_arrangement(values: &mut [i64]) -> bool {
    let Some(rise) = values.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let above = values.iter().rposition(|&value| value > values[rise]).expect("the value after the rise is larger");
    values.swap(rise, above);
    values[rise + 1..].reverse();
    true
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

    /// A rank correlation of both series in all orders of the second: the share that is at least as far from 0.
    fn share_of_orders(x: &[f64], y: &[f64], correlation: fn(&[f64], &[f64]) -> f64) -> f64 {
        let seen = correlation(x, y).abs();
        let all = orders(y.len());
        let far = |order: &&Vec<usize>| {
            let permuted: Vec<f64> = order.iter().map(|&place| y[place]).collect();
            correlation(x, &permuted).abs() >= seen - 1e-9
        };
        real_len(all.iter().filter(far).count()) / real_len(all.len())
    }

    fn rho(x: &[f64], y: &[f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / real_len(values.len());
        x.iter().zip(y).map(|(x_rank, y_rank)| (x_rank - mean(x)) * (y_rank - mean(y))).sum()
    }

    fn tau(x: &[f64], y: &[f64]) -> f64 {
        let sign = |from: f64, to: f64| f64::from(i8::from(to > from) - i8::from(to < from));
        let pairs = (0..x.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.map(|(i, j)| sign(x[i], x[j]) * sign(y[i], y[j])).sum()
    }

    #[test]
    fn the_distribution_of_tied_values_is_that_of_all_their_orders() {
        let tied: [([f64; 6], [f64; 6]); 4] = [
            ([1.0, 2.5, 2.5, 4.0, 5.0, 6.0], [2.0, 1.0, 3.0, 6.0, 4.5, 4.5]),
            ([1.5, 1.5, 4.0, 4.0, 4.0, 6.0], [3.0, 1.5, 1.5, 5.0, 6.0, 4.0]),
            ([3.5, 3.5, 1.0, 3.5, 3.5, 6.0], [5.5, 5.5, 2.5, 2.5, 2.5, 2.5]),
            ([3.0, 3.0, 3.0, 3.0, 3.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ];
        for (x, y) in tied {
            let (got, want) = (tied_spearman_p(&x, &y), share_of_orders(&x, &y, rho));
            assert!((got - want).abs() < 1e-12, "{x:?} {y:?}: {got} instead of {want}");
            let (got, want) = (tied_kendall_p(&x, &y), share_of_orders(&x, &y, tau));
            assert!((got - want).abs() < 1e-12, "{x:?} {y:?}: {got} instead of {want}");
        }
    }

    #[test]
    fn without_ties_all_orders_have_the_distribution_of_untied_values() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        for order in orders(5) {
            let y: Vec<f64> = order.iter().map(|&rank| real_len(rank + 1)).collect();
            assert!((tied_spearman_p(&x, &y) - spearman_p(5, squares(&order))).abs() < 1e-12, "{order:?}");
            assert!((tied_kendall_p(&x, &y) - kendall_p(5, inversions(&order))).abs() < 1e-12, "{order:?}");
        }
    }
}
