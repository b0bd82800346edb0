//! Metrics of the arena's leaderboard over all votes or a part of them.

use std::collections::BTreeMap;

use crate::correlation::{Point, SeriesError};
use crate::rating::bootstrap_samples::{BootstrapSamples, Metric, resample};
use crate::rating::intervals::bootstrap::ResamplingUnit;
use crate::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::rating::leaderboards::ranking::{few_voters_to_resample, rank_log};
use crate::rating::notes::RatingNote;
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{VoteLog, VotersKnown};
use crate::stats::Interval;
use crate::stats::real_len;
use crate::stats::resample::BootstrapOptions;

/// Maximum number of Elo updates over all replicates.
const MAX_STEPS: f64 = 1e8;
const ELO_FIXED_NOTE: &str =
    "the votes are too many to be resampled one by one, so Elo is held fixed; fewer replicates draw them";
const UNKNOWN_VOTERS: &str = "no vote names its voter, so votes are taken as independent: where some people cast many of \
    them, the intervals are too narrow";

/// Metric of every model with a defined value.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricPoints {
    /// Points by model id.
    pub points: BTreeMap<String, Point>,
    /// Caveats for readers.
    pub notes: Vec<String>,
    /// Resampled unit; `None` where the votes were held fixed, or their voters not read.
    pub resampled: Option<ResamplingUnit>,
}

/// Computes a metric of every model with a defined value. Ratings are those of the largest component, since ratings of different components
/// cannot be compared; a model whose rating is only a bound is left out. Ratings have the interval of the leaderboard, other metrics the
/// percentile interval of their samples.
///
/// # Errors
/// [`SeriesError::Fit`].
pub fn metric_points(
    log: &VoteLog,
    metric: Metric,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Result<MetricPoints, SeriesError> {
    let interval = if metric == Metric::Rating { options.interval } else { IntervalMethod::None };
    let leaderboard = rank_log(log, &LeaderboardOptions { interval, ..options.clone() })?;
    let held = metric == Metric::Elo && takes_too_long(log.len(), bootstrap.replicates);
    let bootstrap = BootstrapOptions { replicates: if held { 0 } else { bootstrap.replicates }, ..bootstrap };
    let resampled = resample(log, metric, options, bootstrap)?;
    let (models, mut notes) = if metric == Metric::Rating {
        comparable_models(&leaderboard)
    } else {
        (leaderboard.models.iter().collect(), vec![])
    };
    notes.extend(held.then(|| ELO_FIXED_NOTE.to_owned()));
    let unit = resampled_unit(log, &resampled);
    notes.extend(unit.and_then(|unit| note_on_voters(log, unit, options.scoring)));
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
    let points = models.into_iter().filter_map(|model| Some((model.model.clone(), point(model)?))).collect();
    Ok(MetricPoints { points, notes, resampled: unit })
}

fn resampled_unit(log: &VoteLog, samples: &BootstrapSamples) -> Option<ResamplingUnit> {
    (log.voters.is_some() && !log.is_empty() && !samples.replicates.is_empty()).then_some(samples.resampled)
}

/// Returns a note on what these intervals do not account for.
fn note_on_voters(log: &VoteLog, unit: ResamplingUnit, scoring: Scoring) -> Option<String> {
    match (unit, log.voters_known()) {
        (ResamplingUnit::Voters, _) => few_voters_to_resample(log, scoring).map(|note| note.to_string()),
        (ResamplingUnit::Votes, VotersKnown::None) => Some(UNKNOWN_VOTERS.to_owned()),
        (ResamplingUnit::Votes, VotersKnown::One) => Some(RatingNote::IntervalsOfOneVoter.to_string()),
        (ResamplingUnit::Votes, VotersKnown::Several) => None,
    }
}

/// Returns whether Elo would need too many updates: it processes votes one by one in every replicate.
fn takes_too_long(votes: usize, replicates: u32) -> bool {
    real_len(votes) * f64::from(replicates) > MAX_STEPS
}

/// Returns the models whose ratings can be compared, and notes on why others are left out.
fn comparable_models(leaderboard: &Leaderboard) -> (Vec<&RankedModel>, Vec<String>) {
    let (bounded, unbounded): (Vec<&RankedModel>, Vec<&RankedModel>) =
        leaderboard.models.iter().partition(|model| model.unbounded.is_none());
    let size = |component: usize| bounded.iter().filter(|model| model.component == component).count();
    // The first of equally large components.
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
