//! Grid search over mixture weights.

use super::{Best, MAX_SERIES, Moments};

/// One number for each series.
type PerSeries = [f64; MAX_SERIES];

/// Enumerates all ways to distribute steps over the series. Partial products are reused from one point to the next: a
/// point costs only the terms of its last series.
pub(super) struct GridSearch<'a> {
    moments: &'a Moments,
    /// The columns of S.
    columns: Vec<PerSeries>,
    steps: f64,
    weights: PerSeries,
    /// S·w for each prefix of the weights.
    products: Vec<PerSeries>,
    best: Best,
}

impl<'a> GridSearch<'a> {
    /// The weights of the best point; of equally good points the first, which gives the first series the least.
    pub(super) fn best(moments: &'a Moments, steps: u32) -> Vec<f64> {
        let series = moments.c.len();
        let column = |j: usize| std::array::from_fn(|i| if i < series { moments.s[(i, j)] } else { 0.0 });
        let mut search = Self {
            moments,
            columns: (0..series).map(column).collect(),
            steps: f64::from(steps),
            weights: [0.0; MAX_SERIES],
            products: vec![[0.0; MAX_SERIES]; series + 1],
            best: Best::default(),
        };
        search.distribute_steps(0, steps);
        search.best.weights
    }

    /// Tries every way to distribute `left` steps over the series from `place` on.
    fn distribute_steps(&mut self, place: usize, left: u32) {
        let last = place + 1 == self.columns.len();
        for given in (if last { left } else { 0 })..=left {
            self.weigh(place, f64::from(given) / self.steps);
            if last {
                self.evaluate_point();
            } else {
                self.distribute_steps(place + 1, left - given);
            }
        }
    }

    fn weigh(&mut self, place: usize, weight: f64) {
        self.weights[place] = weight;
        let series = self.columns.len();
        let (before, after) = self.products.split_at_mut(place + 1);
        let terms = before[place].iter().zip(&self.columns[place]);
        for (product, (so_far, column)) in after[0][..series].iter_mut().zip(terms) {
            *product = so_far + column * weight;
        }
    }

    /// Evaluates r(w) = w·c / √(wᵀSw) at the current point.
    fn evaluate_point(&mut self) {
        let series = self.columns.len();
        let (mut square, mut product) = (0.0, 0.0);
        for place in 0..series {
            square += self.products[series][place] * self.weights[place];
            product += self.weights[place] * self.moments.c[place];
        }
        if square > 0.0 {
            self.best.keep_if_better(Some(product / square.sqrt()), &self.weights[..series]);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::stats::convex_mixture::{Search, best, mix};
    use crate::stats::correlation::pearson_r;

    #[test]
    fn grid_search_finds_the_best_of_all_mixtures() {
        for seed in 0..30 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut random = || (0..6).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
            let (series, target) = ([random(), random(), random(), random()], random());
            let series = series.each_ref().map(Vec::as_slice);
            let found = best(&series, &target, Search::Grid { steps: 8 }).unwrap();
            let points =
                (0..=8_u32).flat_map(|a| (0..=8 - a).flat_map(move |b| (0..=8 - a - b).map(move |c| [a, b, c])));
            let all = points.map(|[a, b, c]| [a, b, c, 8 - a - b - c].map(|steps| f64::from(steps) / 8.0));
            let correlation = |weights: &[f64; 4]| pearson_r(&mix(&series, weights), &target).unwrap();
            let most = all.max_by(|one, other| correlation(one).total_cmp(&correlation(other))).unwrap();
            assert_eq!(found.weights, most, "seed {seed}");
        }
    }
}
