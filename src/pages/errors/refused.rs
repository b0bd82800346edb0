//! The page for a refused request or one that cannot be answered at the moment.

use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::admin::AdminTab;
use super::super::{Page, Section, respond};
use crate::domain::admin::role::Role;
use crate::domain::language::Language;
use crate::render::i18n::pages::{InvalidField, MissingObject, RefusedText};

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    page: Page,
    words: &'static RefusedText,
    code: u16,
    /// Specific reason; empty if the text suffices.
    reason: &'a str,
    /// Whether the reason is an English error message.
    reason_is_english: bool,
    /// Target address of the button.
    button_href: &'a str,
    /// Label of the button.
    action: &'static str,
    /// Whether a script keeps the typed fields of the refused form.
    is_admin: bool,
}

/// Renders the page for a form that has expired, or was sent from another site.
#[must_use]
pub fn refused_form(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let words = &page.t().refused.form;
    respond(request, status, &RefusedPage::with_home_button(request, page, words, status))
}

/// Renders the page for a visitor who has to sign in first.
#[must_use]
pub fn sign_in_required(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let words = &page.t().refused.sign_in;
    respond(request, status, &RefusedPage::with_home_button(request, page, words, status).with_button_target(SIGN_IN))
}

/// Renders the page for a link to something that does not exist.
#[must_use]
pub fn missing(request: &HttpRequest, status: StatusCode, thing: MissingObject) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let home = RefusedPage::with_home_button(request, page, &texts.missing, status);
    respond(request, status, &RefusedPage { reason: texts.missing_thing(thing), ..home })
}

/// Renders the page for an invalid form field. Its button leads to the page of the form, since the form's target address would refuse a
/// request without the fields.
#[must_use]
pub fn invalid_field(request: &HttpRequest, status: StatusCode, field: InvalidField) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let text = texts.invalid_field(field);
    let view =
        RefusedPage::with_home_button(request, page, &texts.field, status).with_button_target(usable_page(request));
    respond(request, status, &RefusedPage { reason: &text, ..view })
}

/// Renders the page for an admin user who lacks a role.
#[must_use]
pub fn role_required(request: &HttpRequest, status: StatusCode, role: Role) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = page.t();
    let reason = texts.refused.role_required(texts.admin.role(role));
    let home = RefusedPage::with_home_button(request, page, &texts.refused.forbidden, status);
    respond(request, status, &RefusedPage { reason: &reason, ..home })
}

/// Renders the page. Its button retries if that may help; otherwise it leads to a page without the refused parameters.
#[must_use]
pub fn refused(request: &HttpRequest, status: StatusCode, reason: &str) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let texts = &page.t().refused;
    let is_admin = is_of_admin(request);
    let (words, button_href) = match status {
        StatusCode::BAD_REQUEST if is_form(request) => (&texts.field, Some(usable_page(request))),
        StatusCode::BAD_REQUEST => (&texts.address, Some(usable_page(request))),
        StatusCode::NOT_FOUND => (&texts.missing, None),
        StatusCode::UNAUTHORIZED if is_admin => (&texts.sign_in, Some("/admin/sign-in")),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (&texts.forbidden, None),
        StatusCode::SERVICE_UNAVAILABLE => (&texts.later, Some("")),
        _ => (&texts.failed, Some("")),
    };
    let says_as_much = status.is_server_error() && page.language != Language::English && !is_admin;
    let reason = if says_as_much { "" } else { reason };
    let home = RefusedPage::with_home_button(request, page, words, status);
    let view = match button_href {
        Some(button_href) => home.with_button_target(button_href),
        None => home,
    };
    respond(request, status, &RefusedPage { reason, reason_is_english: true, ..view })
}

impl<'a> RefusedPage<'a> {
    /// Creates the page without a reason; its button leads to the arena, or within the admin to the overview.
    fn with_home_button(request: &HttpRequest, page: Page, words: &'static RefusedText, status: StatusCode) -> Self {
        let (is_admin, code) = (is_of_admin(request), status.as_u16());
        let (button_href, action) = if is_admin { ("/admin", page.t().refused.to_admin) } else { ("/", words.action) };
        Self { page, words, code, reason: "", reason_is_english: false, button_href, action, is_admin }
    }

    /// Sets the target address of the button.
    fn with_button_target(self, button_href: &'a str) -> Self {
        Self { button_href, action: self.words.action, ..self }
    }
}

/// Page whose form is sent to its own address.
const SIGN_IN: &str = "/sign-in";

/// Returns the address, without parameters, of the page of a refused request: for the admin the navigation entry, for a form the address
/// above the form's target unless that is a page itself, otherwise the same page.
fn usable_page(request: &HttpRequest) -> &str {
    let path = request.path();
    match path.rsplit_once('/') {
        _ if is_of_admin(request) => AdminTab::of_address(path).path(),
        Some((above, _)) if is_form(request) && !above.is_empty() => above,
        _ if is_form(request) && path != SIGN_IN => "/",
        _ => path,
    }
}

fn is_form(request: &HttpRequest) -> bool {
    request.method() == Method::POST
}

/// Whether an address belongs to the admin.
pub(super) fn is_of_admin(request: &HttpRequest) -> bool {
    request.path() == "/admin" || request.path().starts_with("/admin/")
}
