//! The forest plot: each model's rating as a dot, its interval as a line.

use super::Frame;
use super::axis::{Axis, label, real};
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use crate::domain::rating::MEAN_RATING;
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::strengths::fit::Direction;
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

const WIDTH: f64 = 860.0;
const NAME: f64 = 64.0;
const NAME_ROOM: f64 = 192.0;
const PLOT: f64 = 272.0;
const PLOT_END: f64 = 668.0;
const HEAD: f64 = 74.0;
const FOOT: f64 = 32.0;
/// Maximum number of models in the description.
const MAX_DESCRIBED: usize = 5;

/// Draws the models in the order in which they come. `interval` is the method of their intervals, `confidence` the level, as a share.
#[must_use]
pub fn draw(models: &[RankedModel], interval: IntervalMethod, confidence: f64, frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let rows = rows(models);
    let row = if models.len() > 40 { 18.0 } else { 24.0 };
    let bottom = HEAD + row * real(rows.len());
    let mut canvas = Canvas::new(WIDTH, bottom + FOOT);
    let words = caption_of(models, interval, confidence, texts);
    canvas.text("heading", SvgPoint(16.0, 26.0), &words.title);
    canvas.text("quiet", SvgPoint(16.0, 46.0), if models.is_empty() { texts.no_data } else { texts.forest.reading });
    let ends = models.iter().flat_map(|model| [model.lower, model.upper, Some(model.rating_or_limit())]).flatten();
    let axis = Axis::over(ends, 10.0, PLOT, PLOT_END);
    let top = |number| HEAD + row * real(number);
    for number in (0..rows.len()).step_by(2) {
        canvas.rect("stripe", SvgPoint(8.0, top(number)), WIDTH - 16.0, row);
    }
    scale(&mut canvas, &axis, bottom, texts);
    for (number, entry) in rows.iter().enumerate() {
        match entry {
            ForestRow::Group(group) => {
                let text = fill(texts.group, &[("n", &group.to_string())]);
                canvas.text("quiet", SvgPoint(NAME, top(number) + 0.68 * row), &text);
            }
            ForestRow::Model(model) => {
                let rank = shown_ranks(model, interval);
                canvas.with_tooltip(&describe(model, rank.as_deref(), texts), |canvas| {
                    let rank = rank.as_deref().unwrap_or("–");
                    draw_model(canvas, model, rank, &axis, top(number) + 0.5 * row);
                });
            }
        }
    }
    canvas.finish(&words, frame)
}

enum ForestRow<'a> {
    /// Heading of a group, if there are several.
    Group(usize),
    Model(&'a RankedModel),
}

fn rows(models: &[RankedModel]) -> Vec<ForestRow<'_>> {
    let several = models.iter().any(|model| model.component != models[0].component);
    let mut rows = Vec::with_capacity(models.len());
    for (at, model) in models.iter().enumerate() {
        if several && (at == 0 || models[at - 1].component != model.component) {
            rows.push(ForestRow::Group(model.component));
        }
        rows.push(ForestRow::Model(model));
    }
    rows
}

fn scale(canvas: &mut Canvas, axis: &Axis, bottom: f64, texts: &ChartTexts) {
    for tick in axis.ticks(6.0) {
        let x = axis.place(tick);
        canvas.line("grid", SvgPoint(x, HEAD - 4.0), SvgPoint(x, bottom + 4.0));
        for y in [HEAD - 10.0, bottom + 18.0] {
            canvas.text("quiet middle", SvgPoint(x, y), &label(tick, axis.span()));
        }
    }
    let mean = axis.place(MEAN_RATING);
    if (PLOT..=PLOT_END).contains(&mean) {
        canvas.line("rule", SvgPoint(mean, HEAD - 4.0), SvgPoint(mean, bottom + 4.0));
    }
    canvas.text("quiet end", SvgPoint(WIDTH - 16.0, HEAD - 10.0), texts.rating);
}

/// One model at the height `y`.
fn draw_model(canvas: &mut Canvas, model: &RankedModel, rank: &str, axis: &Axis, y: f64) {
    let (x, base) = (axis.place(model.rating_or_limit()), y + 4.5);
    canvas.text("end", SvgPoint(NAME - 12.0, base), rank);
    canvas.text("", SvgPoint(NAME, base), &shorten(&model.model, NAME_ROOM / 13.0));
    let ends = [model.lower, model.upper].map(|end| end.map(|end| axis.place(end)));
    match (model.unbounded, ends) {
        (Some(Direction::Above), _) => arrow(canvas, x, PLOT_END, y),
        (Some(Direction::Below), _) => arrow(canvas, x, PLOT, y),
        (None, [Some(lower), Some(upper)]) => {
            canvas.line("whisker", SvgPoint(lower, y), SvgPoint(upper, y));
            for end in [lower, upper] {
                canvas.line("whisker", SvgPoint(end, y - 4.0), SvgPoint(end, y + 4.0));
            }
        }
        (None, _) => {}
    }
    canvas.circle(if model.provisional { "hollow" } else { "point" }, SvgPoint(x, y), 4.0);
    let interval = [model.lower, model.upper].map(|end| end.map_or_else(|| "–".to_owned(), |end| format!("{end:.0}")));
    canvas.text("end", SvgPoint(PLOT_END + 62.0, base), &shown_rating(model));
    canvas.text("quiet end", SvgPoint(WIDTH - 16.0, base), &format!("{} … {}", interval[0], interval[1]));
}

/// Formats the range of ranks that the votes allow, if determined.
fn shown_ranks(model: &RankedModel, interval: IntervalMethod) -> Option<String> {
    model.rank_range(interval).map(|ranks| ranks.to_string())
}

/// Formats the rating, or the limit of a model without one.
fn shown_rating(model: &RankedModel) -> String {
    match (model.at_least, model.at_most) {
        (Some(limit), _) => format!("≥ {limit:.0}"),
        (_, Some(limit)) => format!("≤ {limit:.0}"),
        _ => format!("{:.0}", model.rating_or_limit()),
    }
}

fn arrow(canvas: &mut Canvas, from: f64, to: f64, y: f64) {
    let back = if to > from { -8.0 } else { 8.0 };
    canvas.line("whisker", SvgPoint(from, y), SvgPoint(to + back, y));
    canvas.polygon("point", &[SvgPoint(to, y), SvgPoint(to + back, y - 4.0), SvgPoint(to + back, y + 4.0)]);
}

fn caption_of(models: &[RankedModel], interval: IntervalMethod, confidence: f64, texts: &ChartTexts) -> Caption {
    let described = |model: &RankedModel| describe(model, shown_ranks(model, interval).as_deref(), texts);
    let descriptions: Vec<String> = models.iter().take(MAX_DESCRIBED).map(described).collect();
    let (count, level) = (models.len().to_string(), label(100.0 * confidence, 100.0));
    Caption {
        key: "forest".into(),
        title: fill(texts.forest.title, &[("level", &level)]),
        description: match models {
            [] => texts.no_data.to_owned(),
            _ => fill(texts.forest.description, &[("count", &count), ("models", &descriptions.join(" "))]),
        },
    }
}

fn describe(model: &RankedModel, rank: Option<&str>, texts: &ChartTexts) -> String {
    let whole = |value: f64| format!("{value:.0}");
    let limits = match (model.unbounded, model.lower, model.upper) {
        (Some(Direction::Above), ..) => format!(" ({})", texts.only_won),
        (Some(Direction::Below), ..) => format!(" ({})", texts.only_lost),
        (None, Some(lower), Some(upper)) => fill(texts.between, &[("lower", &whole(lower)), ("upper", &whole(upper))]),
        (None, ..) => String::new(),
    };
    let few = if model.provisional { format!(" ({})", texts.provisional) } else { String::new() };
    let rating = shown_rating(model);
    let text = if rank.is_some() { texts.forest_one } else { texts.forest_unranked };
    let rank = rank.unwrap_or_default();
    let values = [("rank", rank), ("name", &model.model), ("rating", &rating), ("interval", &(limits + &few))];
    fill(text, &values)
}
