//! The consent text. The battle page shows the marked part of this page before the first battle.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::render::i18n::fill;
use crate::render::i18n::pages::{ConsentText, ConsentTexts};

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    page: Page,
    words: &'static ConsentTexts,
    version: &'a str,
    text: &'a ConsentText,
}

impl ConsentPage<'_> {
    /// Returns a paragraph before, in and after the address of the privacy page; the latter two are empty if it does not name it.
    fn split_at_privacy_link<'p>(&self, paragraph: &'p str) -> [&'p str; 3] {
        let address = self.page.site.privacy.as_str();
        let found = paragraph.find(address).filter(|_| !address.is_empty());
        let Some(at) = found else { return [paragraph, "", ""] };
        let (before, rest) = paragraph.split_at(at);
        let (address, after) = rest.split_at(address.len());
        [before, address, after]
    }

    fn version_explained(&self) -> String {
        fill(self.words.version, &[("version", self.version)])
    }
}

/// Renders the consent page.
#[must_use]
pub fn consent(request: &HttpRequest, version: &str, text: &ConsentText) -> HttpResponse {
    let page = Page::new(request, Section::About);
    let words = &page.t().consent;
    respond(request, StatusCode::OK, &ConsentPage { page, words, version, text })
}
