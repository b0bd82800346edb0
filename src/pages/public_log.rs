//! The public log of votes: its state, a voter's receipt, and how to check it.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::render::i18n::pages::PublicLogTexts;

/// What the page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicLogView {
    /// Address of the arena, without a slash at its end.
    pub address: String,
    /// Name of the log.
    pub origin: String,
    /// Its key.
    pub key: String,
    /// Keys of the witnesses that are asked to sign each checkpoint.
    pub witnesses: Vec<String>,
    /// The latest checkpoint.
    pub state: Option<LogState>,
    /// Whether votes wait longer for it than is promised.
    pub is_behind: bool,
    /// The vote that is looked up.
    pub vote: String,
    /// What the log knows of it.
    pub receipt: ReceiptView,
}

/// A signed state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogState {
    /// Number of entries.
    pub size: u64,
    /// Root hash.
    pub root: String,
    /// When it was signed.
    pub signed_at: String,
}

/// The receipt of a vote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReceiptView {
    /// No vote is asked for.
    #[default]
    NotAsked,
    /// There is no such vote.
    Unknown,
    /// It will be in the log by then.
    Promised(String),
    /// It waits, and nothing can be promised.
    Delayed,
    /// It is in the log.
    Logged(LoggedView),
}

/// A vote in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedView {
    /// Position of the entry.
    pub position: u64,
    /// Entries in the signed tree.
    pub size: u64,
    /// The entry.
    pub entry: String,
    /// The proof.
    pub proof: String,
}

#[derive(Template)]
#[template(path = "log.html")]
struct PublicLogPage<'a> {
    page: Page,
    words: &'static PublicLogTexts,
    view: &'a PublicLogView,
}

/// `GET /log`
#[must_use]
pub fn public_log(request: &HttpRequest, view: &PublicLogView) -> HttpResponse {
    let page = Page::new(request, Section::PublicLog);
    let words = &page.t().public_log;
    respond(request, StatusCode::OK, &PublicLogPage { words, view, page })
}
