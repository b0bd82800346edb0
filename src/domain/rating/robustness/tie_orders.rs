//! Order of the models under each tie treatment: as half a win, left out, and as a separate outcome.
//!
//! Each order is compared with the published one by Kendall's τ-b (Kendall 1945) and by the model that moves furthest, over the models
//! in the largest component of both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::Tally;
use super::super::strengths::{bradley_terry, davidson};
use super::super::ties::comparison::rao_kupper_strengths;
use super::super::votes::scoring::{BothBadRule, Scoring, TieRule};
use super::super::votes::vote_log::VoteLog;
use super::{FitError, ROUNDING, height};
use crate::rating::strengths::fit::Fit;
use crate::stats::correlation::kendall;
use crate::stats::real;

/// Treatment of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieTreatment {
    /// Half a win for each model.
    Half,
    /// Left out, with both-bad votes.
    Drop,
    /// Separate outcome, by Davidson's model.
    Davidson,
    /// Separate outcome, by Rao and Kupper's model.
    RaoKupper,
}

/// Order under a tie treatment, compared with the published order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TieOrder {
    /// Tie treatment.
    pub ties: TieTreatment,
    /// Models in first place; several if they are equal.
    pub first: Vec<String>,
    /// Number of compared models.
    pub models: u64,
    /// Kendall's τ-b of the two orders; `None` for fewer than three models, or where all are equal.
    pub kendall: Option<f64>,
    /// Model that moves furthest; `None` if no model moves.
    pub largest_move: Option<PlaceMove>,
}

/// A model's places in two orders of the same models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceMove {
    /// The model.
    pub model: String,
    /// Published place.
    pub published: u64,
    /// Place under the other tie treatment.
    pub place: u64,
}

/// Strengths by position in the log, infinite for unbounded models; `None` for a model outside the largest component.
type SortStrengths = Vec<Option<f64>>;

/// Computes the order under each tie treatment that these votes allow; empty where no vote is for neither model.
pub(super) fn tie_orders(log: &VoteLog, scoring: Scoring, tally: &Tally, fit: &Fit) -> Result<Vec<TieOrder>, FitError> {
    let all = Tally::from_log(log, Scoring { ties: TieRule::Half, ..scoring });
    if all.pairs.iter().all(|pair| pair.halves < 0.5) {
        return Ok(Vec::new());
    }
    let models = log.models.as_slice().len();
    let published = sort_strengths(models, tally, fit);
    let half = bradley_terry::fit(&all)?;
    let mut found = vec![(TieTreatment::Half, sort_strengths(models, &all, &half))];
    let decided = Tally::from_log(log, Scoring { ties: TieRule::Drop, both_bad: BothBadRule::Drop });
    found.push((TieTreatment::Drop, sort_strengths(models, &decided, &bradley_terry::fit(&decided)?)));
    let with_nu = davidson::fit(&all)?;
    if with_nu.log_nu.is_some() {
        found.push((TieTreatment::Davidson, sort_strengths(models, &all, &with_nu)));
    }
    let rao_kupper = rao_kupper_strengths(&all, &half)?;
    if !rao_kupper.is_empty() {
        // A model that won or lost every vote does so under each of these treatments.
        let mut heights = sort_strengths(models, &all, &half);
        heights.iter_mut().for_each(|height| *height = height.filter(|height| height.is_infinite()));
        rao_kupper.into_iter().for_each(|(model, strength)| heights[all.models[model].index] = Some(strength));
        found.push((TieTreatment::RaoKupper, heights));
    }
    let names = log.models.as_slice();
    let orders = found.into_iter().map(|(ties, heights)| compare_orders(ties, names, &published, &heights));
    // With ties left out, no vote may remain.
    Ok(orders.filter(|order| order.models > 0).collect())
}

fn sort_strengths(models: usize, tally: &Tally, fit: &Fit) -> SortStrengths {
    let mut heights = vec![None; models];
    for (model, strength) in tally.models.iter().zip(&fit.model_strengths) {
        // Components are in order of their size.
        heights[model.index] = (strength.component() == 0).then(|| height(strength));
    }
    heights
}

fn compare_orders(ties: TieTreatment, names: &[String], published: &SortStrengths, other: &SortStrengths) -> TieOrder {
    let both = published.iter().zip(other).enumerate();
    let both: Vec<(usize, f64, f64)> =
        both.filter_map(|(model, (one, other))| Some((model, (*one)?, (*other)?))).collect();
    let published = places(&both.iter().map(|&(_, height, _)| height).collect::<Vec<_>>());
    let places = places(&both.iter().map(|&(.., height)| height).collect::<Vec<_>>());
    let named = |position: usize| names[both[position].0].clone();
    let mut first: Vec<String> = (0..both.len()).filter(|&model| places[model] == 1).map(named).collect();
    first.sort();
    let distance = |model: usize| published[model].abs_diff(places[model]);
    // Among equally far moves, the model highest in the published order.
    let furthest = (0..both.len()).max_by_key(|&model| (distance(model), std::cmp::Reverse(published[model])));
    let moved = |model: usize| PlaceMove { model: named(model), published: published[model], place: places[model] };
    let series = |places: &[u64]| -> Vec<f64> { places.iter().map(|&place| real(place)).collect() };
    TieOrder {
        ties,
        first,
        models: u64::try_from(both.len()).unwrap_or(u64::MAX),
        kendall: kendall(&series(&published), &series(&places)).ok().map(|found| found.r),
        largest_move: furthest.filter(|&model| distance(model) > 0).map(moved),
    }
}

/// Computes each place as 1 + the number of higher models.
fn places(heights: &[f64]) -> Vec<u64> {
    let place = |height: &f64| 1 + heights.iter().map(|other| u64::from(*other > *height + ROUNDING)).sum::<u64>();
    heights.iter().map(place).collect()
}
