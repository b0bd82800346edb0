//! Joins ratings, prices and times, and finds for each model the cheapest one not significantly different from it.
//!
//! The cost of an answer is P·p + R·r: mean tokens P of a prompt and R of the model's own replies times the prices p and r
//! of a token, so a verbose model costs more than its price suggests. Two models are not significantly different where the interval
//! of their difference contains 0. This is no proof that they are equal: with few votes no difference is significant, and the bounds of
//! the difference limit the possible loss.

use std::collections::BTreeSet;

use super::pareto::{Criteria, pareto_set};
use super::prices::{ModelPrice, PriceList};
use super::report::{Caveat, CheaperModel, CostBasis, ModelValue, ValueFinding, ValueReport};
use super::usage::{ArenaUsage, ModelUsage};
use crate::rating::POINTS_PER_STRENGTH;
use crate::rating::leaderboards::differences::{Differences, RatingDifference};
use crate::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};

/// Number of answers per cost.
const ANSWERS_PER_COST: f64 = 1_000.0;
/// Number of tokens per price.
const TOKENS_PER_PRICE: f64 = 1e6;
/// Index of the largest component.
const LARGEST_GROUP: usize = 0;

/// Input of a value report.
#[derive(Debug, Clone, Copy)]
pub struct ValueInput<'a> {
    /// Ratings.
    pub leaderboard: &'a Leaderboard,
    /// Differences of the same ratings.
    pub differences: &'a Differences,
    /// Prices.
    pub prices: &'a PriceList,
    /// Tokens and times.
    pub usage: &'a ArenaUsage,
    /// Built-in practice models.
    pub practice: &'a BTreeSet<String>,
}

/// Joins the ratings, prices and usage of the models of a leaderboard.
#[must_use]
pub fn join(input: ValueInput<'_>) -> ValueReport {
    let ValueInput { leaderboard, prices, usage, .. } = input;
    let basis = cost_basis(usage);
    let mut models: Vec<ModelValue> = leaderboard.models.iter().map(|model| value_of(model, input, basis)).collect();
    mark_pareto_sets(&mut models);
    let candidates = candidates(leaderboard, &models);
    let cheaper: Vec<_> = candidates.iter().map(|one| (one.place, cheapest_equal(one, &candidates, input))).collect();
    for (place, cheaper) in cheaper {
        models[place].cheaper = cheaper;
    }
    let finding = finding(&candidates, &models, input);
    ValueReport {
        sentence: finding.to_string(),
        rated_higher_without_cost: rated_higher_without_cost(&candidates, &models),
        finding,
        currency: prices.currency.clone(),
        cost_basis: basis,
        votes: leaderboard.votes.rated,
        answers: usage.answers,
        prompt_tokens: usage.prompt_tokens,
        confidence: leaderboard.confidence,
        models,
    }
}

fn cost_basis(usage: &ArenaUsage) -> CostBasis {
    match (usage.prompt_tokens, usage.answers) {
        (_, 0) => CostBasis::OutputPrice,
        (None, _) => CostBasis::Replies,
        (Some(_), _) => CostBasis::PromptsAndReplies,
    }
}

fn value_of(model: &RankedModel, input: ValueInput<'_>, basis: CostBasis) -> ModelValue {
    let price = input.prices.models.get(&model.model);
    let usage = input.usage.models.get(&model.model).copied().unwrap_or_default();
    ModelValue {
        model: model.model.clone(),
        rating: model.rating,
        lower: model.lower,
        upper: model.upper,
        cost: price.and_then(|price| cost(price, usage, input.usage.prompt_tokens, basis)),
        reply_tokens: usage.reply_tokens,
        first_token_seconds: usage.first_token_seconds,
        tokens_per_second: usage.tokens_per_second,
        input_price: price.map(|price| price.prices.input),
        output_price: price.map(|price| price.prices.output),
        price_date: price.and_then(|price| price.date),
        price_source: price.and_then(|price| price.source.clone()),
        reservation: caveat_of_model(model, input.practice),
        pareto: None,
        pareto_with_times: None,
        cheaper: None,
    }
}

fn cost(price: &ModelPrice, usage: ModelUsage, prompt_tokens: Option<f64>, basis: CostBasis) -> Option<f64> {
    let cost = match basis {
        CostBasis::OutputPrice => price.prices.cost_of_mean(0.0, TOKENS_PER_PRICE),
        CostBasis::Replies | CostBasis::PromptsAndReplies => {
            ANSWERS_PER_COST * price.prices.cost_of_mean(prompt_tokens.unwrap_or(0.0), usage.reply_tokens?)
        }
    };
    Some(cost).filter(|cost| cost.is_finite())
}

fn caveat_of_model(model: &RankedModel, practice: &BTreeSet<String>) -> Option<Caveat> {
    if practice.contains(&model.model) {
        Some(Caveat::Practice)
    } else if model.unbounded.is_some() || model.rating.is_none() {
        Some(Caveat::Unbounded)
    } else if model.provisional {
        Some(Caveat::Provisional)
    } else {
        (model.component != LARGEST_GROUP).then_some(Caveat::OtherGroup)
    }
}

/// Returns the rating and cost of a model; `None` if it is not compared.
fn rating_and_cost(value: &ModelValue) -> Option<(f64, f64)> {
    value.rating.zip(value.cost).filter(|_| value.reservation.is_none())
}

fn mark_pareto_sets(models: &mut [ModelValue]) {
    let compared: Vec<usize> = (0..models.len()).filter(|&place| rating_and_cost(&models[place]).is_some()).collect();
    let negative = |cost: Option<f64>| cost.map(|cost| -cost);
    let two = |value: &ModelValue| -> Criteria<2> { [value.rating, negative(value.cost)] };
    let four = |value: &ModelValue| -> Criteria<4> {
        [value.rating, negative(value.cost), negative(value.first_token_seconds), value.tokens_per_second]
    };
    let plain = pareto_set(&compared.iter().map(|&place| two(&models[place])).collect::<Vec<_>>());
    let with_times = pareto_set(&compared.iter().map(|&place| four(&models[place])).collect::<Vec<_>>());
    for ((place, plain), with_times) in compared.into_iter().zip(plain).zip(with_times) {
        models[place].pareto = Some(plain);
        models[place].pareto_with_times = Some(with_times);
    }
}

/// Model in the comparison, with rating and cost.
struct ComparedModel<'a> {
    /// Position on the leaderboard.
    place: usize,
    ranked: &'a RankedModel,
    rating: f64,
    cost: f64,
}

fn candidates<'a>(leaderboard: &'a Leaderboard, models: &[ModelValue]) -> Vec<ComparedModel<'a>> {
    let candidate = |(place, (ranked, value)): (usize, (&'a RankedModel, &ModelValue))| {
        let (rating, cost) = rating_and_cost(value)?;
        Some(ComparedModel { place, ranked, rating, cost })
    };
    leaderboard.models.iter().zip(models).enumerate().filter_map(candidate).collect()
}

/// Finds the cheapest model that costs less and is not significantly different; of equally cheap ones, the best rated.
fn cheapest_equal(one: &ComparedModel<'_>, all: &[ComparedModel<'_>], input: ValueInput<'_>) -> Option<CheaperModel> {
    let equal = |other: &&ComparedModel<'_>| {
        let difference = input.differences.between(one.ranked, other.ranked);
        other.cost < one.cost && difference.is_some_and(|difference| !difference.is_significant())
    };
    let order = |x: &&ComparedModel<'_>, y: &&ComparedModel<'_>| {
        x.cost.total_cmp(&y.cost).then(y.rating.total_cmp(&x.rating)).then_with(|| x.ranked.model.cmp(&y.ranked.model))
    };
    let cheapest = all.iter().filter(equal).min_by(order)?;
    let RatingDifference { difference, lower, upper } = input.differences.between(one.ranked, cheapest.ranked)?;
    Some(CheaperModel {
        model: cheapest.ranked.model.clone(),
        difference,
        lower,
        upper,
        saving: 1.0 - cheapest.cost / one.cost,
        greatest_win_share: 1.0 / (1.0 + (-upper / POINTS_PER_STRENGTH).exp()),
    })
}

/// Lists the models without a cost that are rated higher than all with one.
fn rated_higher_without_cost(candidates: &[ComparedModel<'_>], models: &[ModelValue]) -> Vec<String> {
    let highest = candidates.iter().map(|candidate| candidate.rating).fold(f64::NEG_INFINITY, f64::max);
    let is_higher = |value: &&ModelValue| {
        value.reservation.is_none() && value.cost.is_none() && value.rating.is_some_and(|rating| rating > highest)
    };
    let names = models.iter().filter(is_higher).map(|value| value.model.clone());
    if candidates.is_empty() { Vec::new() } else { names.collect() }
}

fn finding(candidates: &[ComparedModel<'_>], models: &[ModelValue], input: ValueInput<'_>) -> ValueFinding {
    let by_rating = |x: &&ComparedModel<'_>, y: &&ComparedModel<'_>| {
        x.rating.total_cmp(&y.rating).then(y.cost.total_cmp(&x.cost)).then_with(|| y.place.cmp(&x.place))
    };
    let Some(first) = candidates.iter().max_by(by_rating).filter(|_| candidates.len() > 1) else {
        return ValueFinding::TooFewModels;
    };
    let best = first.ranked.model.clone();
    if let Some(cheaper) = models[first.place].cheaper.clone() {
        return ValueFinding::CheaperModel { best, cheaper };
    }
    let cheaper: Vec<&ComparedModel<'_>> = candidates.iter().filter(|other| other.cost < first.cost).collect();
    let is_told_apart = |other: &&ComparedModel<'_>| input.differences.between(first.ranked, other.ranked).is_some();
    match cheaper.len() {
        0 => ValueFinding::BestIsCheapest { best },
        number if cheaper.iter().all(is_told_apart) => ValueFinding::CheaperAreLower { best, cheaper: number },
        _ => ValueFinding::NoDifference { best },
    }
}

#[cfg(test)]
mod tests;
