//! Exclusions of votes, as a page and as JSON: the vote's number, the rule, the reason and the times. The voter and the deciding user are
//! not published.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::request::error::PageError;
use crate::domain::time::Timestamp;
use crate::infra::storage::ExclusionRow;
use crate::pages;
use crate::pages::exclusions::{ExclusionLine, ExclusionsView};
use crate::pages::frame::query_string::escaped;
use crate::state::AppState;

/// Exclusions per page, and the maximum of a JSON response.
const PAGE_SIZE: u32 = 100;
const MAX_PAGE_SIZE: u32 = 1_000;

/// Query parameters of the exclusions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::http) struct ExclusionsQuery {
    /// Name of an exclusion rule.
    rule: String,
    /// Cursor: the `next` of the previous response.
    before: String,
    /// Maximum number of exclusions.
    limit: Option<u32>,
}

/// Page of exclusions, latest first.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ExclusionList {
    /// Exclusions of the page, including withdrawn ones.
    exclusions: Vec<PublishedExclusion>,
    /// Cursor for `before` of the next request; `null` at the end.
    next: Option<String>,
}

/// Exclusion as published.
#[derive(Serialize, JsonSchema)]
struct PublishedExclusion {
    /// Sequence number of the vote.
    seq: i64,
    /// Name of the exclusion rule.
    rule: String,
    /// Reason in a sentence.
    reason: String,
    /// Time of the exclusion in milliseconds since 1970.
    excluded_at: i64,
    /// Time of the withdrawal in milliseconds since 1970; `null` while in force.
    withdrawn_at: Option<i64>,
}

impl From<ExclusionRow> for PublishedExclusion {
    fn from(row: ExclusionRow) -> Self {
        Self {
            seq: row.vote_seq,
            rule: row.rule,
            reason: row.reason,
            excluded_at: row.excluded_at.0,
            withdrawn_at: row.withdrawn.map(|(_, at)| at.0),
        }
    }
}

/// `GET /api/v1/exclusions`: the latest first, withdrawn ones included; `rule`, `limit` up to 1,000, and `before` with the `next` of the
/// previous response.
///
/// # Errors
/// [`PageError`] for invalid parameters or if the database fails.
pub(in crate::http) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(list(&app, &query_of(&request)?).await?))
}

/// `GET /exclusions`
///
/// # Errors
/// As [`json`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let query = query_of(&request)?;
    let found = list(&app, &query).await?;
    let line = |row: PublishedExclusion| ExclusionLine {
        seq: row.seq,
        rule: row.rule,
        reason: row.reason,
        excluded_ms: row.excluded_at,
        withdrawn_ms: row.withdrawn_at,
    };
    let rule = if query.rule.is_empty() { String::new() } else { format!("rule={}&", escaped(&query.rule)) };
    let view = ExclusionsView {
        older: found.next.map(|next| format!("/exclusions?{rule}before={}", escaped(&next))),
        is_latest: query.before.is_empty(),
        lines: found.exclusions.into_iter().map(line).collect(),
    };
    Ok(pages::exclusions::exclusions(&request, &view))
}

fn query_of(request: &HttpRequest) -> Result<ExclusionsQuery, PageError> {
    let query = web::Query::<ExclusionsQuery>::from_query(request.query_string());
    let refused = || PageError::InvalidQuery("rule, before and limit are given once each; limit is a number".into());
    query.map(web::Query::into_inner).map_err(|_| refused())
}

async fn list(app: &AppState, query: &ExclusionsQuery) -> Result<ExclusionList, PageError> {
    let limit = query.limit.unwrap_or(PAGE_SIZE).clamp(1, MAX_PAGE_SIZE);
    let (time, id) = cursor(&query.before)?;
    let rule = Some(query.rule.as_str()).filter(|rule| !rule.is_empty());
    let mut rows = app.store.latest_exclusions(rule, (time, id), limit + 1).await?;
    let next = (rows.len() > limit as usize).then(|| {
        rows.truncate(limit as usize);
        rows.last().map(|row| format!("{}.{}", row.excluded_at.0, row.id))
    });
    Ok(ExclusionList { next: next.flatten(), exclusions: rows.into_iter().map(PublishedExclusion::from).collect() })
}

/// Parses the cursor to the time and id of an exclusion; by default the end of time.
fn cursor(before: &str) -> Result<(Timestamp, &str), PageError> {
    if before.is_empty() {
        return Ok((Timestamp(i64::MAX), ""));
    }
    let found = before.split_once('.').and_then(|(time, id)| Some((Timestamp(time.parse().ok()?), id)));
    found
        .filter(|(_, id)| !id.contains('\0'))
        .ok_or_else(|| PageError::InvalidQuery("before is the \"next\" of an answer".into()))
}
