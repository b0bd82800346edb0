//! The page for a request that the arena cannot answer as it was asked, or not now.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::admin::role::Role;
use crate::domain::language::Language;
use crate::render::i18n::pages::{InvalidField, MissingThing, RefusedText};

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    page: Page,
    words: &'static RefusedText,
    code: u16,
    /// What exactly is wrong; empty where the text says as much.
    reason: &'a str,
    /// Whether the reason is the error's own text, which is English.
    reason_is_english: bool,
    /// Where the button leads.
    way_out: &'a str,
    /// Whether a script keeps what was typed into the form that is refused.
    is_admin: bool,
}

/// Renders the page of a form that has expired, or comes from elsewhere.
#[must_use]
pub fn refused_form(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let (words, is_admin) = (&page.t().refused.form, is_of_admin(request));
    let way_out = if is_admin { "/admin" } else { "/" };
    respond(request, status, &RefusedPage { way_out, is_admin, ..RefusedPage::new(page, words, status) })
}

/// Renders the page for a visitor who has to sign in first.
#[must_use]
pub fn sign_in_required(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let words = &page.t().refused.sign_in;
    respond(request, status, &RefusedPage { way_out: "/sign-in", ..RefusedPage::new(page, words, status) })
}

/// Renders the page for a link that leads to what is not there.
#[must_use]
pub fn missing(request: &HttpRequest, status: StatusCode, thing: MissingThing) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let (reason, is_admin) = (texts.missing_thing(thing), is_of_admin(request));
    respond(request, status, &RefusedPage { reason, is_admin, ..RefusedPage::new(page, &texts.missing, status) })
}

/// Renders the page for a form of the admin with a field that cannot be used.
#[must_use]
pub fn invalid_field(request: &HttpRequest, status: StatusCode, field: InvalidField) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let (text, way_out, is_admin) = (texts.invalid_field(field), request.path(), is_of_admin(request));
    let new = RefusedPage::new(page, &texts.address, status);
    respond(request, status, &RefusedPage { reason: &text, way_out, is_admin, ..new })
}

/// Renders the page for somebody of the admin who lacks a role.
#[must_use]
pub fn role_required(request: &HttpRequest, status: StatusCode, role: Role) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = page.t();
    let reason = texts.refused.role_required(texts.admin.role(role));
    let new = RefusedPage::new(page, &texts.refused.forbidden, status);
    respond(request, status, &RefusedPage { reason: &reason, is_admin: true, ..new })
}

/// Renders the page. Where trying again may help, its button does; otherwise it leads to the same page without what was asked of it.
#[must_use]
pub fn refused(request: &HttpRequest, status: StatusCode, reason: &str) -> HttpResponse {
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
    let says_as_much = status.is_server_error() && page.language != Language::English && !is_admin;
    let reason = if says_as_much { "" } else { reason };
    let view =
        RefusedPage { reason, reason_is_english: true, way_out, is_admin, ..RefusedPage::new(page, words, status) };
    respond(request, status, &view)
}

impl RefusedPage<'_> {
    /// The page without a reason; its button leads to the arena.
    fn new(page: Page, words: &'static RefusedText, status: StatusCode) -> Self {
        let code = status.as_u16();
        Self { page, words, code, reason: "", reason_is_english: false, way_out: "/", is_admin: false }
    }
}

/// Whether an address is one of the admin.
pub(super) fn is_of_admin(request: &HttpRequest) -> bool {
    request.path() == "/admin" || request.path().starts_with("/admin/")
}
