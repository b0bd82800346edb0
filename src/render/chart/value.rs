//! Chart of ratings against costs: a dot for each model, its rating's interval as a thin line, and the Pareto front as a step line.
//!
//! Costs are on a logarithmic axis, with free models at its left end. The step line is the highest rating for a given cost. Filled dots
//! are in the Pareto set, hollow ones are not, or are not compared.

use super::Frame;
use super::axis::real;
use super::plot::{Dot, HEIGHT, PLOT_END, PlacedScatterPoint, Plot, WIDTH};
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use crate::domain::rating::value::report::{ModelValue, ValueReport, amount};
use crate::domain::stats::Interval;
use crate::i18n::charts::{ChartTexts, chart_texts};
use crate::i18n::fill;

/// Maximum number of ticks of the cost.
const MAX_COST_TICKS: usize = 8;
/// Distance of free models left of the lowest cost, in powers of ten.
const FREE_MODEL_DISTANCE: f64 = 0.4;
/// Maximum number of models in the description.
const MAX_DESCRIBED: usize = 60;

/// A model that has a rating and a cost.
struct PricedModel<'v> {
    value: &'v ModelValue,
    cost: f64,
    dot: Dot,
}

/// Draws the models that have a rating and a cost. `cost_title` is the title of the cost axis, with the currency.
#[must_use]
pub fn draw(report: &ValueReport, cost_title: &str, frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let models = priced_models(report);
    let dots: Vec<&Dot> = models.iter().map(|model| &model.dot).collect();
    let words = words(&models, cost_title, texts);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.text("heading", SvgPoint(16.0, 26.0), &shorten(&words.title, (WIDTH - 32.0) / 16.0));
    canvas.text("quiet", SvgPoint(16.0, 46.0), if dots.is_empty() { texts.no_data } else { texts.value.reading });
    if !dots.is_empty() {
        let plot = Plot::over(&dots);
        plot.scales(
            &mut canvas,
            [cost_title, texts.rating],
            &[cost_ticks(&plot, &models, texts), plot.ticks()[1].clone()],
        );
        plot.crosses(&mut canvas, &dots);
        canvas.polyline("trace b dotted", &front(&plot, &models));
        let drawn = models.iter().map(|model| PlacedScatterPoint {
            name: &model.value.model,
            at: model.dot.at,
            class: if model.value.pareto == Some(true) { "point" } else { "hollow" },
            tip: describe(model, texts),
        });
        plot.dots(&mut canvas, drawn);
    }
    canvas.finish(&words, frame)
}

fn priced_models(report: &ValueReport) -> Vec<PricedModel<'_>> {
    let costs = report.models.iter().filter(|value| value.rating.is_some()).filter_map(|value| value.cost);
    let lowest = costs.filter(|cost| *cost > 0.0).fold(f64::INFINITY, f64::min);
    let free = if lowest.is_finite() { lowest.log10() - FREE_MODEL_DISTANCE } else { 0.0 };
    let model = |value| PricedModel::new(value, free);
    report.models.iter().filter_map(model).collect()
}

impl<'v> PricedModel<'v> {
    /// Creates a dot; `free` is the position of a free model.
    fn new(value: &'v ModelValue, free: f64) -> Option<Self> {
        let (rating, cost) = value.rating.zip(value.cost)?;
        let interval = value.lower.zip(value.upper).map(|(lower, upper)| Interval { lower, upper });
        let at = [if cost > 0.0 { cost.log10() } else { free }, rating];
        Some(Self { value, cost, dot: Dot { name: value.model.clone(), at, intervals: [None, interval] } })
    }
}

/// Ticks of round costs, and of free models.
fn cost_ticks(plot: &Plot, models: &[PricedModel<'_>], texts: &ChartTexts) -> Vec<(f64, String)> {
    let free = models.iter().find(|model| model.cost <= 0.0).map(|model| model.dot.at[0]);
    let is_cost = |tick: &f64| free.is_none_or(|free| *tick > free + 0.5 * FREE_MODEL_DISTANCE);
    let ticks = plot.axes[0].decimal_ticks(MAX_COST_TICKS).into_iter().filter(is_cost);
    let mut ticks: Vec<(f64, String)> = ticks.map(|tick| (tick, format_cost(10_f64.powf(tick)))).collect();
    ticks.extend(free.map(|free| (free, texts.value_free.to_owned())));
    ticks
}

/// Formats a round cost without trailing zeros.
fn format_cost(cost: f64) -> String {
    let text = amount(cost);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Step line of the highest rating for each cost: from dot to dot, first right and then up, to the end of the plot.
fn front(plot: &Plot, models: &[PricedModel<'_>]) -> Vec<SvgPoint> {
    let mut set: Vec<[f64; 2]> =
        models.iter().filter(|model| model.value.pareto == Some(true)).map(|model| model.dot.at).collect();
    set.sort_by(|x, y| x[0].total_cmp(&y[0]));
    let mut line = Vec::with_capacity(2 * set.len());
    for (place, at) in set.iter().enumerate() {
        if let Some(before) = place.checked_sub(1) {
            line.push(plot.place([at[0], set[before][1]]));
        }
        line.push(plot.place(*at));
    }
    line.extend(line.last().copied().map(|SvgPoint(_, y)| SvgPoint(PLOT_END, y)));
    line
}

fn words(models: &[PricedModel<'_>], cost_title: &str, texts: &ChartTexts) -> Caption {
    let (count, descriptions) =
        (real(models.len()).to_string(), models.iter().take(MAX_DESCRIBED).map(|model| describe(model, texts)));
    let descriptions = descriptions.collect::<Vec<_>>().join(" ");
    let values = [("count", count.as_str()), ("cost", cost_title), ("models", descriptions.as_str())];
    let description = if models.is_empty() { texts.no_data.to_owned() } else { fill(texts.value.description, &values) };
    Caption { key: "value".into(), title: texts.value.title.to_owned(), description }
}

/// Describes a model.
fn describe(model: &PricedModel<'_>, texts: &ChartTexts) -> String {
    let whole = |points: f64| format!("{points:.0}");
    let interval = model.dot.intervals[1].map_or_else(String::new, |ends| {
        fill(texts.between, &[("lower", &whole(ends.lower)), ("upper", &whole(ends.upper))])
    });
    let pareto = if model.value.pareto == Some(true) { texts.value_in_set } else { "" };
    let (cost, rating) = (amount(model.cost), whole(model.dot.at[1]));
    let values = [("name", model.value.model.as_str()), ("cost", &cost), ("rating", &rating), ("interval", &interval)];
    fill(texts.value_one, &[&values[..], &[("pareto", pareto)]].concat())
}
