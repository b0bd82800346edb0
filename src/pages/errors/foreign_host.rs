//! The page under a host name that does not belong to the arena.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{requested_language, respond};
use crate::domain::language::Language;
use crate::render::i18n::pages::{ForeignHostTexts, page_texts};

/// Template without the frame of the other pages: the arena serves no style sheet under this name.
#[derive(Template)]
#[template(path = "foreign_host.html")]
struct ForeignHostPage {
    language: Language,
    words: &'static ForeignHostTexts,
}

/// Renders the page, which says how to reach the arena.
#[must_use]
pub fn foreign_host(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let language = requested_language(request);
    let words = &page_texts(language).refused.foreign_host;
    respond(request, status, &ForeignHostPage { language, words })
}
