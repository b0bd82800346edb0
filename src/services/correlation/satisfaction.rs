//! Mean satisfaction (1 to 5) by intent (URS, section 4.6).

use std::collections::BTreeMap;

use rand::RngExt;

use super::ReadSeriesError;
use crate::domain::correlation::{Point, bootstrap_for};
use crate::domain::labeling::scheme::Scheme;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::stats::distribution::mean;
use crate::domain::stats::resample::BootstrapOptions;
use crate::domain::stats::resample::replicates;
use crate::infra::storage::{SatisfiedVote, Store, VoteRange};
use crate::services::labeling::final_labels::FinalLabels;

/// How satisfied visitors are.
pub(super) struct Satisfied {
    /// The mean of each intent.
    pub(super) points: BTreeMap<String, Point>,
    /// How many votes say both.
    pub(super) votes: usize,
}

/// The mean satisfaction of each intent in the rated votes that say both. Each intent's votes are resampled.
///
/// # Errors
/// [`ReadSeriesError::NoSatisfaction`], or the database failed.
pub(super) async fn by_intent(
    store: &Store,
    bootstrap: BootstrapOptions,
    level: ConfidenceLevel,
) -> Result<Satisfied, ReadSeriesError> {
    let votes = store.satisfied_votes().await?;
    let labels = FinalLabels::of_votes(store, &[Scheme::Urs], VoteRange::ALL).await?;
    let mut said: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for SatisfiedVote { seq, intent, satisfaction } in votes {
        let intent = labels.of(Scheme::Urs, seq).map(str::to_owned).or(intent);
        if let Some(intent) = intent {
            said.entry(intent).or_default().push(f64::from(satisfaction));
        }
    }
    if said.is_empty() {
        return Err(ReadSeriesError::NoSatisfaction);
    }
    let points = means(&said, bootstrap_for(bootstrap, "arena:satisfaction"), level);
    Ok(Satisfied { points, votes: said.values().map(Vec::len).sum() })
}

fn means(
    said: &BTreeMap<String, Vec<f64>>,
    bootstrap: BootstrapOptions,
    level: ConfidenceLevel,
) -> BTreeMap<String, Point> {
    let drawn: Vec<Vec<Option<f64>>> = replicates(bootstrap, |rng| {
        let mut one = |values: &Vec<f64>| {
            let drawn: Vec<f64> = values.iter().map(|_| values[rng.random_range(0..values.len())]).collect();
            mean(&drawn).ok()
        };
        said.values().map(&mut one).collect()
    });
    let point = |(at, (intent, values)): (usize, (&String, &Vec<f64>))| {
        let samples = drawn.iter().map(|replicate| replicate[at]).collect();
        Some((intent.clone(), Point::from_samples(mean(values).ok()?, samples, level)))
    };
    said.iter().enumerate().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_lies_within_the_interval_of_its_draws() {
        let bootstrap = BootstrapOptions { replicates: 500, seed: 4 };
        println!("seed {}", bootstrap.seed);
        let said =
            BTreeMap::from([("leisure".to_owned(), vec![1.0, 2.0, 3.0, 4.0, 5.0]), ("qa".to_owned(), vec![4.0; 9])]);
        let points = means(&said, bootstrap, ConfidenceLevel::default());
        let leisure = points["leisure"].interval.unwrap();
        // 3 ± 1.96 · √2/√5 = 1.76 and 4.24
        assert!((leisure.lower - 1.76).abs() < 0.25 && (leisure.upper - 4.24).abs() < 0.25, "{leisure:?}");
        assert_eq!(points["qa"].interval, None, "what does not vary tells nothing");
    }
}
