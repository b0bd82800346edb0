//! Bootstrap over items: judgements of one item are not independent, so an item is resampled with all of its judgements.

use std::borrow::Cow;

use serde::Serialize;

use super::judged::JudgedUnit;
use super::log_by;
use crate::rating::FitError;
use crate::rating::leaderboards::ranking::rank_log;
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::stats::resample::BootstrapOptions;

/// Number of resamples behind each interval over items.
pub const RESAMPLES: u32 = 200;

/// Bounds of a model's rating over resampled items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemInterval {
    /// Id of the model.
    pub model: String,
    /// Lower bound; `None` if it is unknown or open.
    pub lower: Option<f64>,
    /// Upper bound; `None` if it is unknown or open.
    pub upper: Option<f64>,
}

/// Computes the bounds of each model over [`RESAMPLES`] resamples of the items.
pub(super) fn item_intervals(
    judged: &[&JudgedUnit],
    seed: u64,
    options: &LeaderboardOptions,
) -> Result<Vec<ItemInterval>, FitError> {
    let log = log_by(judged, |unit| Cow::Owned(unit.item.to_string()));
    let options = LeaderboardOptions {
        interval: IntervalMethod::Bootstrap,
        bootstrap: BootstrapOptions { replicates: RESAMPLES, seed },
        sequential: None,
        ..options.clone()
    };
    let models = rank_log(&log, &options)?.models;
    let interval = |model: crate::rating::leaderboards::leaderboard::RankedModel| ItemInterval {
        model: model.model,
        lower: model.lower,
        upper: model.upper,
    };
    Ok(models.into_iter().map(interval).collect())
}

/// Counts the items.
pub(super) fn count_items(judged: &[&JudgedUnit]) -> u64 {
    let mut items: Vec<u32> = judged.iter().map(|unit| unit.item).collect();
    items.sort_unstable();
    items.dedup();
    items.len() as u64
}
