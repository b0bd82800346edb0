//! The server-rendered pages. Each file holds one page: its template's data and a thin handler or `render`.
//!
//! Templates are in `web/`, all texts in [`i18n`](crate::render::i18n). Pages work in every language of [`Language`]; the visitor's is
//! taken from `?lang=`, then from the cookie that `?lang=` left, then from what the browser asks for.

pub mod about;
pub(crate) mod admin;
pub mod battle;
pub mod benchmark;
pub(crate) mod campaign;
pub(crate) mod campaign_report;
pub mod charts;
pub(crate) mod consent;
pub(crate) mod correlation;
pub(crate) mod docs;
pub(crate) mod embed;
pub mod exclusions;
pub(crate) mod feed;
pub(crate) mod history;
pub(crate) mod judges;
pub mod language;
pub mod leaderboard;
pub mod leaderboard_controls;
pub(crate) mod model;
pub(crate) mod models;
pub mod not_found;
pub mod public_log;
pub(crate) mod refused;
pub mod robustness_details;
pub(crate) mod sign_in;
mod site_frame;
pub(crate) mod time;
pub(crate) mod unavailable;
pub mod value;

use crate::domain::language::Language;
use crate::infra::config::SiteSettings;
use crate::render::i18n::pages::{PageTexts, page_texts};
use actix_web::body::MessageBody;
use actix_web::http::header::HeaderValue;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use flate2::Compression;

use crate::state::AppState;
pub use language::requested_language;

use super::{gzip, static_files};

/// An entry of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Battle,
    Leaderboard,
    Benchmarks,
    Correlation,
    Register,
    History,
    PublicLog,
    About,
    Docs,
    None,
}

/// What the frame around every page needs.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) language: Language,
    pub(crate) section: Section,
    path: String,
    /// The rest of the address, so that another language shows the same.
    query: String,
    /// What the operator calls the arena, and its links.
    pub(crate) site: SiteSettings,
}

impl Page {
    pub(crate) fn new(request: &HttpRequest, section: Section) -> Self {
        let others = request.query_string().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("lang="));
        let query = others.map(|pair| format!("{pair}&")).collect();
        let app = request.app_data::<web::Data<AppState>>();
        let site = app.map(|app| app.settings.now().site.clone()).unwrap_or_default();
        Self { language: requested_language(request), section, path: request.path().to_owned(), query, site }
    }

    pub(crate) fn t(&self) -> &'static PageTexts {
        page_texts(self.language)
    }

    /// The address of this page in another language.
    pub(crate) fn in_language(&self, language: &Language) -> String {
        format!("{}?{}lang={}", self.path, self.query, language.code())
    }

    pub(crate) fn is(&self, section: Section) -> bool {
        self.section == section
    }

    /// Whether the navigation has this page in its menu.
    pub(crate) fn is_in_menu(&self) -> bool {
        !matches!(self.section, Section::Battle | Section::Leaderboard | Section::None)
    }

    /// The name in titles.
    pub(crate) fn site_name(&self) -> &str {
        if self.site.name.is_empty() { "琅琊 Langya" } else { &self.site.name }
    }

    /// Whether the operator's picture stands in place of the seal.
    pub(crate) fn has_logo(&self) -> bool {
        !self.site.logo.as_os_str().is_empty()
    }

    /// The address of the accent colour's style sheet; `None` for the arena's own colours.
    pub(crate) fn accent(&self) -> Option<String> {
        let digits = self.site.accent.strip_prefix('#')?;
        Some(format!("/site/accent.css?v={digits}"))
    }

    /// Contact, imprint and privacy, as far as the operator gives them.
    pub(crate) fn site_links(&self) -> Vec<(&'static str, &str)> {
        let words = &self.t().arena;
        let all = [
            (words.contact, self.site.contact.as_str()),
            (words.imprint, self.site.imprint.as_str()),
            (words.privacy, self.site.privacy.as_str()),
        ];
        all.into_iter().filter(|(_, href)| !href.is_empty()).collect()
    }

    /// The address of a static file.
    #[expect(clippy::unused_self, reason = "templates call it on the page")]
    pub(crate) fn file(&self, path: &str) -> String {
        static_files::url(path)
    }
}

/// Longer pages would take a request too long to compress well.
const MOST_BYTES_TO_SHRINK: usize = 64 * 1024;

/// Renders a page as a response; remembers the language where the visitor chose one.
pub(crate) fn respond(request: &HttpRequest, status: StatusCode, page: &impl Template) -> HttpResponse {
    match page.render() {
        Ok(html) if html.len() <= MOST_BYTES_TO_SHRINK && gzip::is_accepted(request.headers()) => {
            respond_gzip(request, status, gzip::compressed(html.as_bytes(), Compression::default()))
        }
        Ok(html) => respond_html(request, status, html),
        Err(error) => {
            tracing::error!(page.path = request.path(), error = %error, "a page could not be rendered");
            HttpResponse::InternalServerError().body("this page could not be made: reload it\n")
        }
    }
}

/// A rendered page that is already compressed, for clients that accept that.
pub(crate) fn respond_gzip(
    request: &HttpRequest,
    status: StatusCode,
    html: impl MessageBody + 'static,
) -> HttpResponse {
    let mut response = respond_html(request, status, html);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// A rendered page as a response, with the headers of every page.
pub(crate) fn respond_html(
    request: &HttpRequest,
    status: StatusCode,
    html: impl MessageBody + 'static,
) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::VARY, "accept-language, cookie"));
    if let Some(cookie) = language::chosen(request) {
        response.cookie(cookie);
    }
    response.body(html)
}

#[cfg(test)]
mod tests;
