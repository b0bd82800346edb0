//! The charts of a leaderboard.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::render::chart;
use crate::render::chart::pairs::Meeting;

/// The charts as they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartsView {
    /// Rated votes in them.
    pub votes: u64,
    /// The query that asked for them, with its question mark; empty for none.
    pub query: String,
    /// Other numbers of models.
    pub counts: Vec<CountLink>,
    /// The charts.
    pub charts: Vec<ChartView>,
    /// One model against each other one.
    pub against: Option<AgainstView>,
}

/// A link to the charts of another number of models.
#[derive(Debug, Clone, PartialEq)]
pub struct CountLink {
    /// How many.
    pub models: usize,
    /// The address.
    pub href: String,
    /// Whether these are shown.
    pub chosen: bool,
}

/// One model against each other one, as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstView {
    /// The other parameters of the address.
    pub kept: Vec<(String, String)>,
    /// Its name.
    pub model: String,
    /// The models to choose from.
    pub choices: Vec<ChartModelChoice>,
    /// Its opponents.
    pub rows: Vec<MeetingRow>,
}

/// A model to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartModelChoice {
    /// Its key.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it is chosen.
    pub chosen: bool,
}

/// A model against another, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingRow {
    /// The other's name.
    pub opponent: String,
    /// Share of the votes that the model won.
    pub won: String,
    /// Rated votes between both.
    pub votes: String,
    /// Share that the ratings predict.
    pub predicted: String,
}

impl MeetingRow {
    /// What is unknown is a dash.
    #[must_use]
    pub fn new(opponent: &str, meeting: &Meeting) -> Self {
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

/// One chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartView {
    /// What the frame around it is called.
    pub label: String,
    /// The chart itself.
    pub svg: String,
    /// Whether a table shows the same on phones, where the chart is not shown then.
    pub has_table: bool,
}

impl ChartView {
    /// A chart, called what its title says.
    #[must_use]
    pub fn new(svg: String) -> Self {
        Self { label: chart::title(&svg).to_owned(), svg, has_table: false }
    }

    /// A chart in whose place phones have a table.
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
