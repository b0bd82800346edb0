//! Metrics of the arena's leaderboard, of all votes or a part of them.

use std::collections::BTreeMap;

use crate::correlation::{Point, SeriesError};
use crate::rating::leaderboard::{Leaderboard, RankedModel};
use crate::rating::options::LeaderboardOptions;
use crate::rating::ranking::rank_log;
use crate::rating::resample::{Metric, resample};
use crate::rating::vote_log::VoteLog;
use crate::stats::Interval;
use crate::stats::real_len;
use crate::stats::resample::BootstrapOptions;

/// As many votes are gone through for Elo in all replicates together.
const MOST_STEPS: f64 = 1e8;
const HELD: &str =
    "the votes are too many to be resampled one by one, so Elo is held fixed; fewer replicates draw them";

/// A metric of every model that has it. Ratings are those of the largest component, since ratings of several cannot be
/// compared, and a model whose rating is only a bound has none. They have the interval of the leaderboard, the others that
/// of their samples.
///
/// # Errors
/// [`SeriesError::Fit`].
pub fn metric_points(
    log: &VoteLog,
    metric: Metric,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Result<(BTreeMap<String, Point>, Vec<String>), SeriesError> {
    let leaderboard = rank_log(log, options)?;
    let held = metric == Metric::Elo && takes_too_long(log.len(), bootstrap.replicates);
    let bootstrap = BootstrapOptions { replicates: if held { 0 } else { bootstrap.replicates }, ..bootstrap };
    let resampled = resample(log, metric, options, bootstrap)?;
    let (models, mut notes) =
        if metric == Metric::Rating { comparable(&leaderboard) } else { (leaderboard.models.iter().collect(), vec![]) };
    notes.extend(held.then(|| HELD.to_owned()));
    let point = |model: &RankedModel| {
        let value = metric.value(model)?;
        let position = resampled.models.iter().position(|name| *name == model.model);
        let samples = resampled.replicates.iter().map(|values| values[position?]).collect();
        let drawn = Point::from_samples(value, samples, options.confidence);
        Some(if metric == Metric::Rating {
            Point { interval: leaderboard_interval(model), error: model.standard_error, ..drawn }
        } else {
            drawn
        })
    };
    Ok((models.into_iter().filter_map(|model| Some((model.model.clone(), point(model)?))).collect(), notes))
}

/// Whether Elo would go through too many votes: it takes them one by one in every replicate.
fn takes_too_long(votes: usize, replicates: u32) -> bool {
    real_len(votes) * f64::from(replicates) > MOST_STEPS
}

/// The models whose ratings can be compared, and why others are left out.
fn comparable(leaderboard: &Leaderboard) -> (Vec<&RankedModel>, Vec<String>) {
    let (bounded, unbounded): (Vec<&RankedModel>, Vec<&RankedModel>) =
        leaderboard.models.iter().partition(|model| model.unbounded.is_none());
    let size = |component: usize| bounded.iter().filter(|model| model.component == component).count();
    // Of equally large ones the first.
    let largest = (0..leaderboard.components).rev().max_by_key(|&component| size(component));
    let (kept, apart): (Vec<&RankedModel>, Vec<&RankedModel>) =
        bounded.into_iter().partition(|model| Some(model.component) == largest);
    let notes = [
        (unbounded, "won or lost every vote, so they have no rating"),
        (apart, "are rated apart, since no votes connect them with the others"),
    ];
    let named =
        |models: &[&RankedModel]| models.iter().map(|model| model.model.as_str()).collect::<Vec<_>>().join(", ");
    let note = |(models, why): (Vec<&RankedModel>, &str)| {
        (!models.is_empty()).then(|| format!("left out are {}: they {why}", named(&models)))
    };
    (kept, notes.into_iter().filter_map(note).collect())
}

fn leaderboard_interval(model: &RankedModel) -> Option<Interval> {
    Some(Interval { lower: model.lower?, upper: model.upper? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_is_resampled_as_long_as_that_is_quick() {
        assert!(!takes_too_long(100_000, 1_000) && takes_too_long(100_001, 1_000));
        assert!(!takes_too_long(500_000, 200) && takes_too_long(1_000_000, 200) && !takes_too_long(1_000_000, 0));
    }
}
