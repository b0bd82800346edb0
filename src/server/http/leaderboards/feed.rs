//! `/leaderboard.atom`: the days on which ranks changed, for feed readers.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::super::request::entity_tags::{is_known, weak_tag};
use super::super::request::error::PageError;
use super::super::request::hosts::public_address;
use super::leaderboard_view::name_of;
use crate::domain::language::Language;
use crate::domain::rating::leaderboards::daily_rank_changes::DayChanges;
use crate::infra::sessions::Sessions;
use crate::pages::leaderboards::feed::{Feed, FeedEntry};
use crate::pages::{Page, Section};
use crate::render::i18n::pages::page_texts;
use crate::state::AppState;

/// Cache lifetime of the feed: 300 seconds.
const MAX_AGE: &str = "public, max-age=300";

/// `GET /leaderboard.atom`
///
/// # Errors
/// [`PageError`] if the database fails.
pub(in crate::http) async fn atom(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let days = app.day_feed.changes().await?;
    let page = Page::new(&request, Section::None);
    let language = page.language;
    let entries = days.iter().map(|day| entry(&app, day, language)).collect();
    let address = public_address(&request, &app);
    let feed = Feed::new(page, id(&app.sessions, language.code()), address, entries);
    let body = feed.render().map_err(|_| PageError::Early)?;
    let tag = weak_tag(body.as_bytes());
    let known = is_known(&request, &tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header(header::ETag(tag))
        .insert_header((header::CACHE_CONTROL, MAX_AGE))
        .insert_header((header::VARY, "accept-language, cookie"));
    if known {
        return Ok(response.finish());
    }
    Ok(response.content_type("application/atom+xml; charset=utf-8").body(body))
}

fn entry(app: &AppState, day: &DayChanges, language: Language) -> FeedEntry {
    let name = |model: &str| name_of(model, &app.models);
    let id = |date: &str| id(&app.sessions, &format!("{} {date}", language.code()));
    FeedEntry::new(day, id, name, &page_texts(language).feed)
}

/// Computes an id that does not depend on the arena's address: a UUID of version 8 from a keyed hash.
fn id(sessions: &Sessions, of: &str) -> String {
    let hex = sessions.signature("atom", of);
    format!("urn:uuid:{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..30])
}
