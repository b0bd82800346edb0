//! `/embed/leaderboard`: the leaderboard for embedding. The only page that other sites may frame, and only those listed in `site.embed_on`.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::super::request::entity_tags::{is_known, weak_tag};
use super::super::request::error::PageError;
use super::super::request::headers::FrameAncestors;
use super::leaderboard_view::view;
use crate::pages;
use crate::pages::Page;
use crate::pages::leaderboards::embed::{EmbedTheme, EmbedView, embed_html};
use crate::state::AppState;

/// Maximum and default number of models.
const MAX_MODELS: usize = 100;
const DEFAULT_MODELS: usize = 10;

/// Query parameters of the frame; others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::http) struct EmbedQuery {
    /// Number of models to show.
    top: Option<usize>,
    /// Colour theme; the reader's system setting by default.
    theme: Option<EmbedTheme>,
}

/// `GET /embed/leaderboard`
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn leaderboard(
    request: HttpRequest,
    app: web::Data<AppState>,
    query: web::Query<EmbedQuery>,
) -> Result<HttpResponse, PageError> {
    let settings = app.settings.now();
    if settings.site.embed_on.is_empty() {
        return Ok(pages::errors::not_found::not_found(&request));
    }
    let mut leaderboard = view(&app);
    let models = leaderboard.rows.len();
    leaderboard.rows.truncate(query.top.unwrap_or(DEFAULT_MODELS).clamp(1, MAX_MODELS));
    let page = Page::new(&request, pages::Section::None);
    let html = embed_html(&EmbedView { page, leaderboard, models, theme: query.theme });
    let tag = weak_tag(html.as_bytes());
    let known = is_known(&request, &tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    // No language cookie, unlike other pages: a frame offers no choice of language.
    response
        .content_type("text/html; charset=utf-8")
        .insert_header(header::ETag(tag))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::VARY, "accept-language, cookie"));
    let mut response = if known { response.finish() } else { response.body(html) };
    response.extensions_mut().insert(FrameAncestors(settings.site.embed_on.join(" ")));
    Ok(response)
}
