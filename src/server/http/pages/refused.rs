//! The page for a request that the arena cannot answer as it was asked, or not now.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::render::i18n::pages::RefusedText;

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    page: Page,
    words: &'static RefusedText,
    code: u16,
    /// What the error itself says.
    reason: &'a str,
    /// Where the button leads.
    way_out: &'a str,
}

/// Renders the page. Where trying again may help, its button does; otherwise it leads to the same page without what was asked of it.
#[must_use]
pub(crate) fn refused(request: &HttpRequest, status: StatusCode, reason: &str) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let (words, way_out) = match status {
        StatusCode::BAD_REQUEST => (&texts.address, request.path()),
        StatusCode::NOT_FOUND => (&texts.missing, "/"),
        StatusCode::UNAUTHORIZED if request.path().starts_with("/admin") => (&texts.sign_in, "/admin/sign-in"),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (&texts.forbidden, "/"),
        StatusCode::SERVICE_UNAVAILABLE => (&texts.later, ""),
        _ => (&texts.failed, ""),
    };
    respond(request, status, &RefusedPage { words, code: status.as_u16(), reason, way_out, page })
}
