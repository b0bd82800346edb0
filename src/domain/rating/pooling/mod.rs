//! Partial pooling: ratings in small slices, estimated together with all other votes.
//!
//! The strength of model m in slice c is θ\[m\] + δ\[m,c\], with δ ~ N(0, τ²) independent (Gelman and Hill 2007, chapter 12).
//! The votes of a large slice dominate its ratings; those of a small slice are shrunk towards all slices. The spread τ between
//! slices comes from its marginal likelihood (`posterior.rs`), over which ratings and intervals are averaged:
//!
//! - *rating* of a model in a slice: θ + δ less the mean δ of the slice's models, which no vote determines;
//! - *difference*: δ less that mean, the model's relative advantage in this slice.
//!
//! Votes of one voter are not independent. The log likelihood is therefore divided by the design effect within slices, and
//! the error that all slices share is that of all votes (`design_effect.rs`).

mod design_effect;
mod posterior;
mod sliced_votes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::design_effect::DesignEffects;
use self::posterior::{Posterior, SlicePosterior};
use self::sliced_votes::{SliceVotes, SlicedVotes};
use super::counts::tally::Tally;
use super::counts::weighting::Reweight;
use super::intervals::sandwich::Intervals;
use super::options::{LeaderboardOptions, Method};
use super::strengths::fit::Fit;
use super::strengths::model_block::blocks_of;
use super::strengths::newton::inverse_but_for_a_constant;
use super::votes::scoring::TieRule;
use super::votes::slice::SliceColumn;
use super::votes::vote_log::VoteLog;
use super::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use crate::stats::confidence::ConfidenceLevel;

/// Maximum number of models: the cost grows with the cube of their number, for each slice.
pub(super) const MAX_MODELS: usize = 500;

/// Ratings in the slices of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledSlices {
    /// The column.
    pub by: SliceColumn,
    /// τ in rating points: the standard deviation of a model's rating from slice to slice.
    pub spread: f64,
    /// Number of votes with the information of one independent vote.
    pub design_effect: f64,
    /// Slices, by decreasing number of votes.
    pub slices: Vec<PooledSlice>,
}

/// Ratings in one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledSlice {
    /// The language, category or intent.
    pub slice: String,
    /// Its rated votes.
    pub votes: u64,
    /// The models with votes there, best first.
    pub models: Vec<PooledRating>,
}

/// The rating of a model in a slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledRating {
    /// Name of the model.
    pub model: String,
    /// Its rated votes in the slice.
    pub battles: u64,
    /// The rating.
    pub rating: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
    /// Difference between the model's rating in the slice and over all slices, relative to the other models there.
    pub difference: f64,
    /// Lower bound.
    pub difference_lower: f64,
    /// Upper bound.
    pub difference_upper: f64,
}

/// Pools the slices of a column, for the models of the largest component of a fit. `None` where fewer than two slices have votes there:
/// a single slice does not separate its differences from the strengths.
///
/// # Errors
/// [`FitError::NoSliceLabels`] without the column, [`FitError::PlainPooling`] for other ratings than plain Bradley–Terry,
/// [`FitError::TooManyToPool`], [`FitError::Solver`] if the search fails.
pub(super) fn pool_slices(
    log: Option<&VoteLog>,
    tally: &Tally,
    fit: &Fit,
    intervals: &Intervals,
    by: SliceColumn,
    options: &LeaderboardOptions,
) -> Result<Option<PooledSlices>, FitError> {
    let is_plain = options.method == Method::Bt && options.scoring.ties != TieRule::Davidson;
    if !is_plain || options.has_covariates() || options.reweight != Reweight::None {
        return Err(FitError::PlainPooling);
    }
    let labels = log.and_then(|log| Some((log, by.labels(log)?)));
    let (log, labels) = labels.ok_or(FitError::NoSliceLabels(by.as_str()))?;
    let languages = (by == SliceColumn::Language).then(|| labels.by_language());
    let labels = languages.as_ref().unwrap_or(labels);
    let blocks = blocks_of(fit);
    let Some(block) = blocks.iter().max_by_key(|block| block.members.len()) else { return Ok(None) };
    if block.members.len() > MAX_MODELS {
        return Err(FitError::TooManyToPool(block.members.len()));
    }
    let start = block.point(fit);
    let inverse = inverse_but_for_a_constant(&block.loss(&tally.pairs), &start)?;
    let of_block = (block, &start, &inverse);
    let (effects, votes) = rayon::join(
        || DesignEffects::new(log, labels, options.scoring, (tally, intervals), of_block),
        || SlicedVotes::new(log, labels, options.scoring, tally, block),
    );
    if votes.slices.len() < 2 {
        return Ok(None);
    }
    let losses = votes.losses(effects.within);
    let posterior = Posterior::new(&losses, &start, effects.overall / effects.within)?;
    let name = |place: usize| tally.models[block.members[place]].name.as_str();
    let found = votes.slices.iter().zip(&posterior.slices);
    let slices = found.filter_map(|(votes, found)| pooled_slice(votes, found, name, options.confidence)).collect();
    Ok(Some(PooledSlices {
        by,
        spread: POINTS_PER_STRENGTH * posterior.spread,
        design_effect: effects.overall,
        slices,
    }))
}

/// Converts the ratings of a named slice to the public scale.
fn pooled_slice<'n>(
    votes: &SliceVotes,
    found: &SlicePosterior,
    name: impl Fn(usize) -> &'n str,
    level: ConfidenceLevel,
) -> Option<PooledSlice> {
    let around = |(at, error): (f64, f64)| {
        let margin = level.z() * error;
        [at, at - margin, at + margin].map(|strength| POINTS_PER_STRENGTH * strength)
    };
    let rating = |(place, &member): (usize, &usize)| {
        let rating = around(found.strengths.of(place));
        let [rating, lower, upper] = rating.map(|points| MEAN_RATING + points);
        let [difference, difference_lower, difference_upper] = around(found.differences.of(place));
        let (model, battles) = (name(member).to_owned(), votes.battles[place]);
        PooledRating { model, battles, rating, lower, upper, difference, difference_lower, difference_upper }
    };
    let mut models: Vec<PooledRating> = votes.members.iter().enumerate().map(rating).collect();
    models.sort_by(|x, y| y.rating.total_cmp(&x.rating).then_with(|| x.model.cmp(&y.model)));
    Some(PooledSlice { slice: votes.name.clone()?, votes: votes.votes, models })
}
