//! The studies printed in the papers, recomputed from the papers' tables.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use crate::domain::benchmark::paper_claims::{BilingualText, Claim, ClaimVerdict};
use crate::domain::language::Language;
use crate::render::i18n::pages::CorrelationTexts;
use crate::render::i18n::reports::task_spelled_out;
use crate::{Page, Section, respond};

#[derive(Template)]
#[template(path = "correlation_papers.html")]
struct PapersPage<'a> {
    page: Page,
    words: &'static CorrelationTexts,
    claims: &'a [Claim],
}

/// `GET /correlation/papers`
#[must_use]
pub fn papers(request: &HttpRequest, claims: &[Claim]) -> HttpResponse {
    let page = Page::new(request, Section::Correlation);
    respond(request, StatusCode::OK, &PapersPage { words: &page.t().correlation, page, claims })
}

impl PapersPage<'_> {
    fn text<'t>(&self, text: &'t BilingualText) -> &'t str {
        match self.page.language {
            Language::English => &text.en,
            Language::Chinese => &text.zh,
        }
    }

    /// Returns the name of a number; tasks of MT-Bench-101 are spelled out.
    fn number(&self, name: &BilingualText) -> String {
        task_spelled_out(self.text(name), self.page.language)
    }

    fn verdict(&self, claim: &Claim) -> &'static str {
        self.words.verdicts[claim.verdict as usize]
    }
}
