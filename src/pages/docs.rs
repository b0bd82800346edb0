//! A documentation page, with the list of pages and the search.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::render::docs::search::SearchHit;
use crate::render::docs::{DocPage, Guide, Heading};
use crate::render::i18n::fill;
use crate::render::i18n::pages::DocsTexts;

/// Data of a documentation page.
pub struct DocsView<'a> {
    pub guide: &'a Guide,
    /// Selected page; `None` for search results.
    pub page: Option<&'a DocPage>,
    pub query: &'a str,
    pub hits: Vec<SearchHit>,
}

#[derive(Template)]
#[template(path = "docs.html")]
struct DocsPage<'a> {
    page: Page,
    words: &'static DocsTexts,
    view: &'a DocsView<'a>,
    title: &'a str,
    /// Sections of the page.
    sections: Vec<&'a Heading>,
    /// Message with the number of sections found.
    found: String,
}

impl DocsPage<'_> {
    fn is_shown(&self, other: &DocPage) -> bool {
        self.view.page.is_some_and(|page| page.name == other.name)
    }
}

/// Renders a documentation page or search results.
pub fn docs(request: &HttpRequest, view: &DocsView<'_>) -> HttpResponse {
    let page = Page::new(request, Section::Docs);
    let words = &page.t().docs;
    let found = fill(words.found, &[("n", &view.hits.len().to_string()), ("query", view.query)]);
    let sections = view.page.iter().flat_map(|page| page.headings()).filter(|heading| heading.level == 2).collect();
    let title = view.page.map_or(words.search_title, |page| &page.title);
    respond(request, StatusCode::OK, &DocsPage { page, words, view, title, sections, found })
}
