//! The value-for-money page: cost and rating of models.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use super::charts::ChartView;
use crate::domain::rating::value::report::{ModelValue, ValueReport, amount};
use crate::render::chart::{self, Setting};
use crate::render::i18n::pages::ValueTexts;

/// Value report for display.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueView {
    /// Query of the request, with its question mark; empty for none.
    pub query: String,
    /// Report, with model names.
    pub report: ValueReport,
}

#[derive(Template)]
#[template(path = "value.html")]
struct ValuePage<'a> {
    page: Page,
    words: &'static ValueTexts,
    view: &'a ValueView,
    sentence: String,
    cost: String,
    price_unit: String,
    /// Whether any model has a cost to plot.
    has_costs: bool,
    /// Whether any model has a cost or a response time, which is measured on replies.
    has_usage: bool,
    chart: ChartView,
    rows: Vec<ValueRow>,
}

/// Row of a model.
struct ValueRow {
    name: String,
    reservation: Option<&'static str>,
    rating: String,
    interval: Option<String>,
    cost: String,
    first_token: String,
    speed: String,
    pareto: &'static str,
    /// Name of a cheaper model, and the rating difference.
    cheaper: Option<(String, String)>,
    price: Option<PriceCell>,
}

/// Price with its source.
struct PriceCell {
    prices: String,
    date: String,
    source: String,
}

/// `GET /leaderboard/value`
#[must_use]
pub fn value(request: &HttpRequest, view: &ValueView) -> HttpResponse {
    let page = Page::new(request, Section::Leaderboard);
    let (words, report) = (&page.t().value, &view.report);
    let currency = report.currency.as_ref();
    let cost = words.cost(report.cost_basis, currency);
    let frame = chart::Frame { language: page.language, setting: Setting::Page };
    let content = ValuePage {
        words,
        view,
        sentence: words.finding(&report.finding),
        price_unit: words.price_unit(currency),
        chart: ChartView::new(chart::value::draw(report, &cost, frame)),
        cost,
        has_costs: report.models.iter().any(|value| value.cost.is_some()),
        has_usage: report.models.iter().any(has_usage),
        rows: report.models.iter().map(|value| row(value, words)).collect(),
        page,
    };
    respond(request, StatusCode::OK, &content)
}

fn has_usage(value: &ModelValue) -> bool {
    value.cost.is_some() || value.first_token_seconds.is_some() || value.tokens_per_second.is_some()
}

fn row(value: &ModelValue, words: &ValueTexts) -> ValueRow {
    let whole = |points: f64| format!("{points:.0}");
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let cheaper = value.cheaper.as_ref().map(|cheaper| (cheaper.model.clone(), words.cheaper_one(cheaper)));
    ValueRow {
        name: value.model.clone(),
        reservation: value.reservation.map(|reservation| words.reservation(reservation)),
        rating: or_dash(value.rating.map(whole)),
        interval: value.lower.zip(value.upper).map(|(lower, upper)| format!("{lower:.0} – {upper:.0}")),
        cost: or_dash(value.cost.map(amount)),
        first_token: or_dash(value.first_token_seconds.map(|seconds| format!("{seconds:.1} s"))),
        speed: or_dash(value.tokens_per_second.map(|speed| speed.to_string())),
        pareto: pareto(value, words),
        cheaper,
        price: price(value, words),
    }
}

fn pareto(value: &ModelValue, words: &ValueTexts) -> &'static str {
    match (value.pareto, value.pareto_with_times) {
        (Some(true), _) => words.in_set,
        (Some(false), Some(true)) => words.in_set_with_times,
        (Some(false), _) => words.dominated,
        (None, _) => "–",
    }
}

fn price(value: &ModelValue, words: &ValueTexts) -> Option<PriceCell> {
    let (input, output) = value.input_price.zip(value.output_price)?;
    let date = value.price_date.map_or_else(|| words.no_date.to_owned(), |date| date.to_string());
    let source = value.price_source.as_ref().map_or_else(|| words.no_source.to_owned(), ToString::to_string);
    Some(PriceCell { prices: format!("{} / {}", price_text(input), price_text(output)), date, source })
}

/// Formats a price with two decimals, and up to six where it has more, as after a vote.
fn price_text(price: f64) -> String {
    let text = format!("{price:.6}");
    let spare = text.bytes().rev().take_while(|&digit| digit == b'0').count().min(4);
    text[..text.len() - spare].to_owned()
}

#[cfg(test)]
mod tests {
    use super::price_text;

    #[test]
    fn a_price_has_two_decimals_and_more_where_it_needs_them() {
        for (price, text) in [(0.0, "0.00"), (2.0, "2.00"), (0.5, "0.50"), (0.0035, "0.0035"), (1_000.0, "1000.00")] {
            assert_eq!(price_text(price), text);
        }
    }
}
