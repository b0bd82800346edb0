//! `/docs`: the documentation of this version, by page and by search.

use std::sync::OnceLock;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::openapi;
use crate::domain::language::Language;
use crate::pages;
use crate::pages::docs::DocsView;
use crate::pages::requested_language;
use crate::render::docs::reference::{self, ApiWords};
use crate::render::docs::search::search;
use crate::render::docs::{Generated, Guide};
use crate::render::i18n::pages::page_texts;

/// Example file with every setting and its default.
const EXAMPLE_SETTINGS: &str = include_str!("../../../deploy/langya.example.toml");
/// Page shown at `/docs`.
const START_PAGE: &str = "start";

/// Documentation in every language, parsed at the first request.
pub(super) struct Docs {
    commands: fn() -> String,
    english: OnceLock<Guide>,
    chinese: OnceLock<Guide>,
}

impl Docs {
    /// Creates the documentation with this command reference.
    pub(super) fn new(commands: fn() -> String) -> Self {
        Self { commands, english: OnceLock::new(), chinese: OnceLock::new() }
    }

    fn guide(&self, language: Language) -> &Guide {
        let guide = match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        };
        guide.get_or_init(|| {
            let words = &page_texts(language).docs;
            let words = ApiWords {
                name: words.name,
                kind: words.kind,
                meaning: words.meaning,
                parameters: words.parameters,
                body: words.body,
                answer: words.answer,
            };
            let generated = Generated {
                settings: reference::settings(EXAMPLE_SETTINGS),
                commands: (self.commands)(),
                api: reference::api(openapi::document(), words),
            };
            Guide::new(language, &generated)
        })
    }
}

/// Query parameters of the search.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DocsQuery {
    /// Words that a section must contain.
    q: String,
}

/// `GET /docs`, with `q` for a search.
pub(super) async fn first(request: HttpRequest, docs: web::Data<Docs>) -> HttpResponse {
    let query = web::Query::<DocsQuery>::from_query(request.query_string());
    let query = query.map(|query| query.into_inner().q).unwrap_or_default();
    if query.trim().is_empty() {
        return respond_with_page(&request, &docs, START_PAGE).await;
    }
    let guide = docs.guide(requested_language(&request));
    let hits = search(guide, &query);
    pages::docs::docs(&request, &DocsView { guide, page: None, query: query.trim(), hits })
}

/// `GET /docs/NAME`
pub(super) async fn page(request: HttpRequest, name: web::Path<String>, docs: web::Data<Docs>) -> HttpResponse {
    respond_with_page(&request, &docs, &name).await
}

async fn respond_with_page(request: &HttpRequest, docs: &Docs, name: &str) -> HttpResponse {
    let guide = docs.guide(requested_language(request));
    match guide.page(name) {
        Some(page) => pages::docs::docs(request, &DocsView { guide, page: Some(page), query: "", hits: Vec::new() }),
        None => pages::errors::not_found::not_found(request),
    }
}
