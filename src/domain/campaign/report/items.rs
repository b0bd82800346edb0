//! Resampled items: what people said of one item is not independent, so an item is drawn with all that was said of it.

use std::borrow::Cow;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::judged::JudgedUnit;
use super::log_by;
use crate::rating::FitError;
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::ranking::rank_log;
use crate::stats::resample::BootstrapOptions;

/// Resamples of the items behind each interval over items.
pub const RESAMPLES: u32 = 200;

/// Bounds of a model's rating over resampled items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemInterval {
    /// The model.
    pub model: String,
    /// Lower bound; `None` where it is unknown or open.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// The bounds of each model over [`RESAMPLES`] resamples of the items.
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
    let interval = |model: crate::rating::leaderboard::RankedModel| ItemInterval {
        model: model.model,
        lower: model.lower,
        upper: model.upper,
    };
    Ok(models.into_iter().map(interval).collect())
}

/// The number of items.
pub(super) fn count_items(judged: &[&JudgedUnit]) -> u64 {
    let mut items: Vec<u32> = judged.iter().map(|unit| unit.item).collect();
    items.sort_unstable();
    items.dedup();
    items.len() as u64
}

/// What was said of units, as the number of a pattern, item by item.
pub(super) struct PatternsOfItems {
    patterns: Vec<usize>,
    /// Start of each item's units, and the end of the last.
    starts: Vec<usize>,
    distinct: usize,
}

impl PatternsOfItems {
    /// Items with the patterns of their units, in the order of the items; the patterns are numbers below `distinct`.
    pub(super) fn new(units: impl Iterator<Item = (u32, usize)>, distinct: usize) -> Self {
        let (mut patterns, mut starts, mut last) = (Vec::new(), Vec::new(), None);
        for (item, pattern) in units {
            if last != Some(item) {
                starts.push(patterns.len());
                last = Some(item);
            }
            patterns.push(pattern);
        }
        starts.push(patterns.len());
        Self { patterns, starts, distinct }
    }

    /// Units.
    pub(super) fn units(&self) -> usize {
        self.patterns.len()
    }

    /// Units of each pattern.
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.distinct];
        self.patterns.iter().for_each(|at| counts[*at] += 1);
        counts
    }

    /// Units of each pattern where as many items as there are were drawn with replacement.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let (mut counts, items) = (vec![0; self.distinct], self.starts.len() - 1);
        for _ in 0..items {
            let at = rng.random_range(0..items);
            self.patterns[self.starts[at]..self.starts[at + 1]].iter().for_each(|pattern| counts[*pattern] += 1);
        }
        counts
    }
}
