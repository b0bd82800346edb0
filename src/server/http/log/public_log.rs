//! The public vote log: checkpoint, tiles and entries as C2SP tlog-tiles, receipts of votes, and the page about it.

use std::time::Duration;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::request::error::PageError;
use super::super::request::hosts::public_address;
use crate::domain::public_log::promised_vote::included_within;
use crate::domain::public_log::recount::RatingRules;
use crate::domain::public_log::tile::TileKind;
use crate::infra::config::RatingSettings;
use crate::infra::time::clock::Clock as _;
use crate::pages;
use crate::pages::frame::time::time_text;
use crate::pages::public_log::{LogState, LoggedView, PublicLogView, ReceiptView};
use crate::services::public_log::reader::{LoggedVoteReceipt, PublicLogLookup};
use crate::state::AppState;

/// Suffix of a proof's address.
const PROOF_SUFFIX: &str = ".tlog-proof";

/// Query parameters of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PublicLogQuery {
    /// Id of a vote.
    vote: String,
}

/// Name, key and state of the public log, with the rating rules that derive the leaderboard from it.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct LogDescription<'a> {
    /// Origin of the log, as in its checkpoints.
    origin: &'a str,
    /// Verifier key, in the format of signed notes.
    key: String,
    /// Number of entries; 0 before the first checkpoint.
    size: u64,
    /// Root hash of the tree in Base64; `null` before the first checkpoint.
    root: Option<String>,
    /// Time of the checkpoint in milliseconds since 1970.
    signed_at: Option<i64>,
    /// Maximum delay in seconds until a vote is in the log.
    included_within: u64,
    /// Keys of the witnesses that cosign each checkpoint.
    witnesses: Vec<&'a str>,
    /// Rating rules of the leaderboard.
    rating: RatingRules,
}

/// Receipt of a vote in the public log.
#[derive(Default, Serialize, JsonSchema)]
pub(in crate::http) struct ReceiptJson<'a> {
    /// Id of the vote.
    vote: &'a str,
    /// `logged`, `promised`, or `delayed` while the log is behind and no time can be promised.
    state: &'static str,
    /// Latest time of inclusion, in milliseconds since 1970; for a promised vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    included_by: Option<i64>,
    /// Position in the log, from 0; this and all following fields are for a logged vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    /// Entry as logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// Salt that opens the commitments of the entry, for the voter.
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    /// Inclusion proof in the format of C2SP `tlog-proof`.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// `GET /log/checkpoint`: the latest checkpoint.
///
/// # Errors
/// [`PageError`] if the database fails, and before the first checkpoint.
pub(in crate::http) async fn checkpoint(app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let missing = || PageError::Missing("the log has no checkpoint yet: try again in a moment".into());
    let latest = app.public_log.latest().await?.ok_or_else(missing)?;
    let mut response = HttpResponse::Ok();
    response.content_type("text/plain; charset=utf-8").insert_header((header::CACHE_CONTROL, "no-cache"));
    Ok(response.body(latest.note))
}

/// `GET /log/tile/…`: a tile of hashes, or a bundle of entries. Content never changes once served.
///
/// # Errors
/// [`PageError`] for a tile outside of the signed tree.
pub(in crate::http) async fn tile(
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let missing = || PageError::Missing("the log has no such tile: read /log/checkpoint first".into());
    let kind = TileKind::parse(&format!("tile/{path}")).ok_or_else(missing)?;
    let bytes = app.public_log.tile(kind).await?.ok_or_else(missing)?;
    let mut response = HttpResponse::Ok();
    response.content_type("application/octet-stream");
    response.insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"));
    Ok(response.body(bytes))
}

/// `GET /api/v1/log`: name, key and state of the log, and the rating rules.
///
/// # Errors
/// [`PageError`] if the database fails.
pub(in crate::http) async fn json(app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let (latest, key) = (app.public_log.latest().await?, app.public_log.key().verifier());
    let settings = app.settings.now();
    Ok(HttpResponse::Ok().json(LogDescription {
        origin: key.name(),
        key: key.to_string(),
        size: latest.as_ref().map_or(0, |latest| latest.head.size),
        root: latest.as_ref().map(|latest| latest.head.root.to_base64()),
        signed_at: latest.as_ref().map(|latest| latest.signed_at.0),
        included_within: promised_delay(&app).as_secs(),
        witnesses: settings.public_log.witnesses.iter().map(|witness| witness.key.as_str()).collect(),
        rating: rules(&settings.rating),
    }))
}

fn rules(settings: &RatingSettings) -> RatingRules {
    RatingRules {
        confidence: settings.confidence,
        interval: settings.interval,
        min_votes: settings.min_votes,
        equal_within: settings.equal_within,
        optimal_at_battles: settings.optimal_at_battles,
    }
}

/// `GET /api/v1/log/votes/ID`: the receipt of a vote, for anyone who knows its id; with the suffix `.tlog-proof`, the proof alone.
///
/// # Errors
/// [`PageError`] for an unknown vote, or one that is not in the log yet.
pub(in crate::http) async fn receipt(
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let (vote, only_proof) = match path.strip_suffix(PROOF_SUFFIX) {
        Some(vote) => (vote, true),
        None => (path.as_str(), false),
    };
    let missing = || PageError::Missing("there is no vote with this id".into());
    match find(&app, vote).await?.ok_or_else(missing)? {
        PublicLogLookup::Promised(_) if only_proof => {
            Err(PageError::Missing("this vote waits for the next checkpoint: try again in a minute".into()))
        }
        PublicLogLookup::Promised(time) => {
            let (state, included_by) = if is_behind(&app) { ("delayed", None) } else { ("promised", Some(time.0)) };
            Ok(HttpResponse::Ok().json(ReceiptJson { vote, state, included_by, ..ReceiptJson::default() }))
        }
        PublicLogLookup::Logged(found) if only_proof => {
            Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(found.logged.to_text()))
        }
        PublicLogLookup::Logged(found) => Ok(HttpResponse::Ok().json(ReceiptJson {
            vote,
            state: "logged",
            included_by: None,
            index: Some(found.logged.index),
            entry: Some(entry_text(&found)),
            proof: Some(found.logged.to_text()),
            salt: found.salt,
        })),
    }
}

fn entry_text(found: &LoggedVoteReceipt) -> String {
    String::from_utf8_lossy(&found.logged.entry).into_owned()
}

/// Looks up a vote; `None` also for an invalid id.
async fn find(app: &AppState, vote: &str) -> Result<Option<PublicLogLookup>, PageError> {
    if vote.is_empty() || vote.len() > 64 || vote.contains(char::is_control) {
        return Ok(None);
    }
    Ok(app.public_log.receipt(vote, promised_delay(app)).await?)
}

/// Returns the promised maximum delay between a vote and its log entry.
fn promised_delay(app: &AppState) -> Duration {
    included_within(app.settings.now().rating.leaderboards_every())
}

/// Whether a vote has waited longer than promised, more votes wait than can be logged in time, or the log cannot be continued.
pub(in crate::http) fn is_behind(app: &AppState) -> bool {
    app.public_log.is_behind(app.clock.now(), promised_delay(app))
}

/// `GET /log`
///
/// # Errors
/// [`PageError`] for invalid parameters or if the database fails.
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let query = web::Query::<PublicLogQuery>::from_query(request.query_string());
    let PublicLogQuery { vote } = query.map_err(|_| PageError::InvalidQuery("vote is given once".into()))?.into_inner();
    let vote = vote.trim().to_owned();
    let (latest, key) = (app.public_log.latest().await?, app.public_log.key().verifier());
    let size = latest.as_ref().map_or(0, |latest| latest.head.size);
    let is_behind = is_behind(&app);
    let receipt = match (vote.as_str(), find(&app, &vote).await?) {
        ("", _) => ReceiptView::NotAsked,
        (_, None) => ReceiptView::Unknown,
        (_, Some(PublicLogLookup::Promised(_))) if is_behind => ReceiptView::Delayed,
        (_, Some(PublicLogLookup::Promised(time))) => ReceiptView::Promised(time_text(time.0)),
        (_, Some(PublicLogLookup::Logged(found))) => ReceiptView::Logged(LoggedView {
            position: found.logged.index,
            size,
            entry: entry_text(&found),
            proof: found.logged.to_text(),
        }),
    };
    let state = latest.map(|latest| LogState {
        size,
        root: latest.head.root.to_base64(),
        signed_at: time_text(latest.signed_at.0),
    });
    let (origin, key, address) = (key.name().to_owned(), key.to_string(), public_address(&request, &app));
    let witnesses = app.settings.now().public_log.witnesses.iter().map(|witness| witness.key.clone()).collect();
    Ok(pages::public_log::public_log(
        &request,
        &PublicLogView { address, origin, key, witnesses, state, is_behind, vote, receipt },
    ))
}
