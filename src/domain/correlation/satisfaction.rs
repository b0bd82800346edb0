//! Mean satisfaction (1 to 5) by intent (URS, section 4.6).

use std::collections::BTreeMap;

use rand::RngExt;

use super::Point;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::distribution::mean;
use crate::stats::resample::{BootstrapOptions, replicates};

/// Computes the mean of each group, with its values resampled within the group.
#[must_use]
pub fn group_means(
    groups: &BTreeMap<String, Vec<f64>>,
    bootstrap: BootstrapOptions,
    level: ConfidenceLevel,
) -> BTreeMap<String, Point> {
    let resampled: Vec<Vec<Option<f64>>> = replicates(bootstrap, |rng| {
        let mut resample = |values: &Vec<f64>| {
            let drawn: Vec<f64> = values.iter().map(|_| values[rng.random_range(0..values.len())]).collect();
            mean(&drawn).ok()
        };
        groups.values().map(&mut resample).collect()
    });
    let point = |(at, (intent, values)): (usize, (&String, &Vec<f64>))| {
        let samples = resampled.iter().map(|replicate| replicate[at]).collect();
        Some((intent.clone(), Point::from_samples(mean(values).ok()?, samples, level)))
    };
    groups.iter().enumerate().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_samples() {
        let bootstrap = BootstrapOptions { replicates: 500, seed: 4 };
        println!("seed {}", bootstrap.seed);
        let said =
            BTreeMap::from([("leisure".to_owned(), vec![1.0, 2.0, 3.0, 4.0, 5.0]), ("qa".to_owned(), vec![4.0; 9])]);
        let points = group_means(&said, bootstrap, ConfidenceLevel::default());
        let leisure = points["leisure"].interval.unwrap();
        // 3 ± 1.96 · √2/√5 = 1.76 and 4.24
        assert!((leisure.lower - 1.76).abs() < 0.25 && (leisure.upper - 4.24).abs() < 0.25, "{leisure:?}");
        assert_eq!(points["qa"].interval, None, "what does not vary tells nothing");
    }
}
