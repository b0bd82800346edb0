//! The charts page of a leaderboard.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::render::chart;
use crate::render::chart::pair_values::OpponentRecord;

/// Charts for display.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartsView {
    /// Number of rated votes in the charts.
    pub votes: u64,
    /// Query of the request, with its question mark; empty for none.
    pub query: String,
    /// Links to other numbers of models.
    pub counts: Vec<CountLink>,
    /// Charts in page order.
    pub charts: Vec<ChartView>,
    /// One model against each opponent.
    pub against: Option<AgainstView>,
}

/// Link to the charts of another number of models.
#[derive(Debug, Clone, PartialEq)]
pub struct CountLink {
    /// Number of models.
    pub models: usize,
    /// Address of the link.
    pub href: String,
    /// Whether this number is selected.
    pub chosen: bool,
}

/// Table of one model against each opponent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstView {
    /// Other query parameters, kept by the form.
    pub kept: Vec<(String, String)>,
    /// Name of the model.
    pub model: String,
    /// Models to choose from.
    pub choices: Vec<ChartModelChoice>,
    /// Opponents of the model.
    pub rows: Vec<MeetingRow>,
}

/// Option for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartModelChoice {
    /// Model id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Whether the option is selected.
    pub chosen: bool,
}

/// Row for an opponent.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingRow {
    /// Name of the opponent.
    pub opponent: String,
    /// Share of votes won.
    pub won: String,
    /// Rated votes between both models.
    pub votes: String,
    /// Win share predicted by the ratings.
    pub predicted: String,
}

impl MeetingRow {
    /// Formats a meeting; unknown values become a dash.
    #[must_use]
    pub fn new(opponent: &str, meeting: &OpponentRecord) -> Self {
        let dash = || "–".to_owned();
        let share = |share: Option<f64>| share.map_or_else(dash, |share| format!("{:.0} %", 100.0 * share));
        Self {
            opponent: opponent.to_owned(),
            won: share(meeting.won),
            votes: meeting.votes.map_or_else(dash, |votes| format!("{votes:.0}")),
            predicted: share(meeting.predicted),
        }
    }
}

/// Chart for display.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartView {
    /// Accessible label of the frame.
    pub label: String,
    /// Chart as SVG.
    pub svg: String,
    /// Whether a table replaces the chart on phones.
    pub has_table: bool,
}

impl ChartView {
    /// Wraps a chart, labelled with its SVG title.
    #[must_use]
    pub fn new(svg: String) -> Self {
        Self { label: chart::title(&svg).to_owned(), svg, has_table: false }
    }

    /// Wraps a chart that a table replaces on phones.
    #[must_use]
    pub fn table_on_phones(svg: String) -> Self {
        Self { has_table: true, ..Self::new(svg) }
    }
}

#[derive(Template)]
#[template(path = "charts.html")]
struct ChartsPage<'a> {
    page: Page,
    view: &'a ChartsView,
}

/// `GET /leaderboard/charts`
#[must_use]
pub fn charts(request: &HttpRequest, view: &ChartsView) -> HttpResponse {
    respond(request, StatusCode::OK, &ChartsPage { page: Page::new(request, Section::Leaderboard), view })
}
