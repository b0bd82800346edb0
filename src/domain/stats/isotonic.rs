//! Isotonic regression: the non-decreasing function of x that fits y best by weighted least squares.
//!
//! Pool adjacent violators (Ayer et al. 1955; Barlow et al. 1972; de Leeuw, Hornik and Mair 2009): points in the order of x, and
//! wherever a mean is above the next one, the two blocks become one with their common mean. Points with the same x are one point from
//! the start. Between the fitted points the function is linear, beyond them it is constant.

use super::Undefined;

/// One observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Predictor: the value to calibrate.
    pub x: f64,
    /// Response: the value to calibrate to.
    pub y: f64,
    /// Weight, above zero.
    pub weight: f64,
}

impl Observation {
    /// An observation of weight 1.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, weight: 1.0 }
    }
}

/// A fitted function.
#[derive(Debug, Clone, PartialEq)]
pub struct Isotonic {
    /// The distinct x in ascending order, and the value at each.
    points: Vec<(f64, f64)>,
}

/// Neighbouring points with one mean.
#[derive(Clone, Copy)]
struct PooledBlock {
    sum: f64,
    weight: f64,
    /// Number of distinct x in the block.
    points: usize,
}

impl PooledBlock {
    fn mean(self) -> f64 {
        self.sum / self.weight
    }

    fn joined(self, next: Self) -> Self {
        Self { sum: self.sum + next.sum, weight: self.weight + next.weight, points: self.points + next.points }
    }
}

impl Isotonic {
    /// Fits the function.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without observations.
    pub fn fit(observations: &[Observation]) -> Result<Self, Undefined> {
        let mut sorted = observations.to_vec();
        sorted.sort_by(|one, other| one.x.total_cmp(&other.x));
        let (mut places, mut blocks): (Vec<f64>, Vec<PooledBlock>) = (Vec::new(), Vec::new());
        for same in sorted.chunk_by(|one, other| one.x.total_cmp(&other.x).is_eq()) {
            let weight: f64 = same.iter().map(|point| point.weight).sum();
            let sum = same.iter().map(|point| point.weight * point.y).sum();
            places.push(same[0].x);
            push_and_pool(&mut blocks, PooledBlock { sum, weight, points: 1 });
        }
        if places.is_empty() {
            return Err(Undefined::Nothing);
        }
        let values = blocks.iter().flat_map(|block| std::iter::repeat_n(block.mean(), block.points));
        Ok(Self { points: places.into_iter().zip(values).collect() })
    }

    /// The value at x.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let after = self.points.partition_point(|(place, _)| *place < x);
        let Some(&(right, above)) = self.points.get(after) else { return self.points[after - 1].1 };
        match after.checked_sub(1).map(|before| self.points[before]) {
            Some((left, below)) if right > x => below + (above - below) * ((x - left) / (right - left)),
            _ => above,
        }
    }

    /// The distinct x in ascending order, and the value at each.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }
}

/// Adds a block, and pools blocks as long as one is above the next.
fn push_and_pool(blocks: &mut Vec<PooledBlock>, next: PooledBlock) {
    let mut block = next;
    while let Some(last) = blocks.pop_if(|last| last.mean() >= block.mean()) {
        block = last.joined(block);
    }
    blocks.push(block);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fit(points: &[(f64, f64)]) -> Isotonic {
        Isotonic::fit(&points.iter().map(|&(x, y)| Observation::new(x, y)).collect::<Vec<_>>()).unwrap()
    }

    #[track_caller]
    fn check(points: &[(f64, f64)], expected: &[f64]) {
        let found: Vec<f64> = fit(points).points().iter().map(|(_, value)| *value).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn violators_are_pooled_as_by_hand() {
        check(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)], &[1.0, 2.5, 2.5, 4.0]);
        // 1 falls below 6, and their mean below 5: one block of three.
        check(&[(1.0, 1.0), (2.0, 5.0), (3.0, 6.0), (4.0, 1.0)], &[1.0, 4.0, 4.0, 4.0]);
        check(&[(3.0, 1.0), (1.0, 2.0)], &[1.5, 1.5]);
        check(&[(1.0, 1.0), (1.0, 3.0), (2.0, 4.0)], &[2.0, 4.0]);
    }

    #[test]
    fn weights_move_a_mean_as_repetitions_do() {
        let weighted = [Observation { weight: 3.0, ..Observation::new(1.0, 4.0) }, Observation::new(2.0, 2.0)];
        let repeated = [(1.0, 4.0), (1.0, 4.0), (1.0, 4.0), (2.0, 2.0)];
        assert_eq!(Isotonic::fit(&weighted).unwrap(), fit(&repeated));
        check(&repeated, &[3.5, 3.5]);
    }

    #[test]
    fn between_points_it_is_linear_and_beyond_them_constant() {
        let fitted = fit(&[(2.0, 1.0), (4.0, 3.0), (8.0, 3.5)]);
        for (x, expected) in [(0.0, 1.0), (2.0, 1.0), (3.0, 2.0), (4.0, 3.0), (6.0, 3.25), (8.0, 3.5), (9.0, 3.5)] {
            assert!((fitted.at(x) - expected).abs() < 1e-12, "{x}: {}", fitted.at(x));
        }
        assert!((fit(&[(5.0, 2.0)]).at(-1.0) - 2.0).abs() < 1e-12);
        assert_eq!(Isotonic::fit(&[]), Err(Undefined::Nothing));
    }

    fn observations() -> impl Strategy<Value = Vec<Observation>> {
        let one = (0_i8..8, -20_i8..20, 1_u8..5).prop_map(|(x, y, weight)| Observation {
            x: f64::from(x),
            y: f64::from(y) / 4.0,
            weight: f64::from(weight),
        });
        prop::collection::vec(one, 1..40)
    }

    fn loss(observations: &[Observation], at: impl Fn(f64) -> f64) -> f64 {
        observations.iter().map(|point| point.weight * (point.y - at(point.x)).powi(2)).sum()
    }

    proptest! {
        #[test]
        fn it_never_falls(observations in observations(), xs in prop::collection::vec(-2.0..10.0_f64, 2..20)) {
            let fitted = Isotonic::fit(&observations).unwrap();
            let mut xs = xs;
            xs.sort_by(f64::total_cmp);
            prop_assert!(xs.windows(2).all(|pair| fitted.at(pair[0]) <= fitted.at(pair[1]) + 1e-12));
        }

        /// Isotonic regression is a projection: fitting fitted values changes nothing, and the weighted mean is that of the observations.
        #[test]
        fn a_second_fit_changes_nothing_and_the_mean_stays(observations in observations()) {
            let fitted = Isotonic::fit(&observations).unwrap();
            let again: Vec<Observation> =
                observations.iter().map(|point| Observation { y: fitted.at(point.x), ..*point }).collect();
            let refitted = Isotonic::fit(&again).unwrap();
            prop_assert!(refitted.points().iter().zip(fitted.points()).all(|(one, other)| (one.1 - other.1).abs() < 1e-9));
            let sum = |points: &[Observation]| points.iter().map(|point| point.weight * point.y).sum::<f64>();
            prop_assert!((sum(&observations) - sum(&again)).abs() < 1e-9);
        }

        /// No other non-decreasing function is closer: neither a line nor the fit with a piece of it moved.
        #[test]
        fn nothing_that_never_falls_is_closer(observations in observations(), slope in 0.0..2.0_f64, shift in -5.0..5.0_f64, step in 0_i8..8) {
            let fitted = Isotonic::fit(&observations).unwrap();
            let best = loss(&observations, |x| fitted.at(x));
            prop_assert!(best <= loss(&observations, |x| slope.mul_add(x, shift)) + 1e-9);
            let raised = |x: f64| fitted.at(x) + if x >= f64::from(step) { slope } else { 0.0 };
            prop_assert!(best <= loss(&observations, raised) + 1e-9);
        }

        #[test]
        fn a_weight_is_as_many_repetitions(observations in observations()) {
            let repeated: Vec<Observation> = observations
                .iter()
                .flat_map(|point| (0_u8..5).filter(|at| f64::from(*at) < point.weight).map(|_| Observation { weight: 1.0, ..*point }))
                .collect();
            let (one, other) = (Isotonic::fit(&observations).unwrap(), Isotonic::fit(&repeated).unwrap());
            prop_assert!(one.points().iter().zip(other.points()).all(|(one, other)| (one.1 - other.1).abs() < 1e-9));
        }
    }
}
