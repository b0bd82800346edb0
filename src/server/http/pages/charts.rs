//! The charts of a leaderboard.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::language::Language;
use crate::render::chart;

/// The charts as they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartsView {
    /// Rated votes in them.
    pub votes: u64,
    /// The query that asked for them, with its question mark; empty for none.
    pub query: String,
    /// The charts.
    pub charts: Vec<ChartView>,
}

/// One chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartView {
    /// What the frame around it is called.
    pub label: String,
    /// The chart itself.
    pub svg: String,
}

impl ChartView {
    /// A chart, called what its title says.
    #[must_use]
    pub fn new(svg: String) -> Self {
        Self { label: chart::title(&svg).to_owned(), svg }
    }
}

#[derive(Template)]
#[template(path = "charts.html")]
struct ChartsPage<'a> {
    page: Page,
    votes: u64,
    query: &'a str,
    charts: &'a [ChartView],
}

/// `GET /leaderboard/charts`
#[must_use]
pub fn charts(request: &HttpRequest, view: &ChartsView) -> HttpResponse {
    let page = Page::new(request, Section::Leaderboard);
    let ChartsView { votes, query, charts } = view;
    respond(request, StatusCode::OK, &ChartsPage { page, votes: *votes, query, charts })
}
