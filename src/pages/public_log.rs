//! The public vote log page: checkpoint, a voter's receipt, and verification instructions.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::render::i18n::pages::PublicLogTexts;

/// Data of the vote log page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicLogView {
    /// Base address of the arena, without a trailing slash.
    pub address: String,
    /// Origin (name) of the log.
    pub origin: String,
    /// Public key of the log.
    pub key: String,
    /// Public keys of the witnesses that cosign each checkpoint.
    pub witnesses: Vec<String>,
    /// Latest checkpoint.
    pub state: Option<LogState>,
    /// Whether votes have waited longer than the promised delay.
    pub is_behind: bool,
    /// Vote to look up.
    pub vote: String,
    /// Receipt of that vote.
    pub receipt: ReceiptView,
}

/// Signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogState {
    /// Number of entries.
    pub size: u64,
    /// Root hash of the tree.
    pub root: String,
    /// Time of the signature.
    pub signed_at: String,
}

/// Receipt of a vote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReceiptView {
    /// No vote is looked up.
    #[default]
    NotAsked,
    /// No such vote exists.
    Unknown,
    /// Entry is promised by this time.
    Promised(String),
    /// Entry is pending without a promised time.
    Delayed,
    /// Entry is in the log.
    Logged(LoggedView),
}

/// Logged vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedView {
    /// Position of the entry.
    pub position: u64,
    /// Number of entries in the signed tree.
    pub size: u64,
    /// Entry as text.
    pub entry: String,
    /// Inclusion proof.
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
