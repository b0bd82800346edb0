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
    /// What the error itself says, in English; empty where the text says as much.
    reason: &'a str,
    /// Where the button leads.
    way_out: &'a str,
    /// Whether a script keeps what was typed into the form that is refused.
    is_admin: bool,
}

/// Renders the page of a form that has expired, or comes from elsewhere.
#[must_use]
pub(crate) fn refused_form(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let (words, is_admin) = (&page.t().refused.form, is_of_admin(request));
    let way_out = if is_admin { "/admin" } else { "/" };
    respond(request, status, &RefusedPage { words, code: status.as_u16(), reason: "", way_out, is_admin, page })
}

/// Renders the page. Where trying again may help, its button does; otherwise it leads to the same page without what was asked of it.
#[must_use]
pub(crate) fn refused(request: &HttpRequest, status: StatusCode, reason: &str) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let is_admin = is_of_admin(request);
    let (words, way_out) = match status {
        StatusCode::BAD_REQUEST => (&texts.address, request.path()),
        StatusCode::NOT_FOUND => (&texts.missing, "/"),
        StatusCode::UNAUTHORIZED if is_admin => (&texts.sign_in, "/admin/sign-in"),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (&texts.forbidden, "/"),
        StatusCode::SERVICE_UNAVAILABLE => (&texts.later, ""),
        _ => (&texts.failed, ""),
    };
    respond(request, status, &RefusedPage { words, code: status.as_u16(), reason, way_out, is_admin, page })
}

/// Whether an address is one of the admin.
pub(super) fn is_of_admin(request: &HttpRequest) -> bool {
    request.path() == "/admin" || request.path().starts_with("/admin/")
}
