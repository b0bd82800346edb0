//! What keeps votes out of the ratings, as a page and as JSON: the vote's number, the rule, the reason and the times. Who voted, and
//! who decided, stays in the database.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::PageError;
use crate::domain::time::Timestamp;
use crate::infra::storage::ExclusionRow;
use crate::pages;
use crate::pages::exclusions::{ExclusionLine, ExclusionsView};
use crate::pages::query_string::escaped;
use crate::state::AppState;

/// Exclusions on a page, and the most that JSON gives at once.
const PAGE: u32 = 100;
const MOST: u32 = 1_000;

/// The parameters as they stand in the address.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct ExclusionsQuery {
    /// Name of a rule.
    rule: String,
    /// The `next` of an answer: exclusions before those.
    before: String,
    /// Exclusions at most.
    limit: Option<u32>,
}

/// Exclusions, the latest first.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExclusionList {
    /// Withdrawn ones included.
    exclusions: Vec<PublishedExclusion>,
    /// For `before` of the next request; `null` at the end.
    next: Option<String>,
}

/// An exclusion as everybody may see it.
#[derive(Serialize, JsonSchema)]
struct PublishedExclusion {
    /// Number of the vote in the log.
    seq: i64,
    /// Name of the rule.
    rule: String,
    /// Why, in a sentence.
    reason: String,
    /// Milliseconds since 1970.
    excluded_at: i64,
    /// Milliseconds since 1970; `null` while it is in force.
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
/// answer before.
///
/// # Errors
/// [`PageError`] for parameters that cannot be, or without the database.
pub(super) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(list(&app, &query_of(&request)?).await?))
}

/// `GET /exclusions`
///
/// # Errors
/// As [`json`].
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
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
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MOST);
    let (time, id) = cursor(&query.before)?;
    let rule = Some(query.rule.as_str()).filter(|rule| !rule.is_empty());
    let mut rows = app.store.latest_exclusions(rule, (time, id), limit + 1).await?;
    let next = (rows.len() > limit as usize).then(|| {
        rows.truncate(limit as usize);
        rows.last().map(|row| format!("{}.{}", row.excluded_at.0, row.id))
    });
    Ok(ExclusionList { next: next.flatten(), exclusions: rows.into_iter().map(PublishedExclusion::from).collect() })
}

/// The time and id of the exclusion before which is asked; the end of time where nothing is said.
fn cursor(before: &str) -> Result<(Timestamp, &str), PageError> {
    if before.is_empty() {
        return Ok((Timestamp(i64::MAX), ""));
    }
    let found = before.split_once('.').and_then(|(time, id)| Some((Timestamp(time.parse().ok()?), id)));
    found
        .filter(|(_, id)| !id.contains('\0'))
        .ok_or_else(|| PageError::InvalidQuery("before is the \"next\" of an answer".into()))
}
