//! The review queues: one question at a time.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::battle::ModelId;
use crate::domain::labeling::scheme::Scheme;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::storage::LeakDecision;
use crate::infra::time::clock::Clock;
use crate::pages::admin::AdminTab;
use crate::pages::admin::reviews::{LabelsPage, LeaksPage};
use crate::pages::respond;
use crate::render::i18n::pages::MissingObject;
use crate::services::admin::leak_and_label_reviews::Reviews;
use crate::services::exclusions::leak_check::leak_check_state;

fn reviews(call: &SignedInRequest) -> Reviews<'_> {
    let clock: &dyn Clock = call.app.clock.as_ref();
    Reviews { store: &call.app.store, rng: &call.app.rng, clock, actor: call.actor() }
}

/// `GET /admin/leaks`: `after` skips votes up to that number.
pub(super) async fn leaks(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let after = call.fields.given("after").and_then(|text| text.parse().ok()).unwrap_or(0);
    let review = reviews(&call).next_leak(after).await?;
    let name = |id: &ModelId| call.app.models.card(id).name;
    let models = review.as_ref().and_then(|review| review.record.as_ref()).map(|record| {
        let [a, b] = &record.battle.models;
        [name(a), name(b)]
    });
    let judge = call.app.settings.now().integrity.leak_judge.clone();
    let check = leak_check_state(&call.app.store, &judge, call.app.clock.now()).await?;
    let (page, frame) = (call.page(), call.frame(AdminTab::Leaks));
    Ok(respond(&call.request, StatusCode::OK, &LeaksPage { page, frame, check, review, models }))
}

/// `POST /admin/leaks`: `vote`, and `decision` confirm or withdraw.
pub(super) async fn decide_leak(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let vote: i64 = call.fields.one("vote").parse().map_err(|_| invalid("vote is a number"))?;
    let decision = match call.fields.one("decision") {
        "confirm" => LeakDecision::Confirm,
        "withdraw" => LeakDecision::Withdraw,
        _ => return Err(invalid("decision is confirm or withdraw")),
    };
    // A repeated click finds the decision already made.
    let is_done =
        reviews(&call).decide_leak(vote, decision).await? || call.app.store.decided_leak(vote).await? == Some(decision);
    if is_done {
        return Ok(see_other("/admin/leaks?done=1"));
    }
    Err(PageError::MissingObject(MissingObject::LeakToReview))
}

/// `GET /admin/labels`: `scheme`.
pub(super) async fn labels(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let scheme = Scheme::parse(call.fields.one("scheme")).unwrap_or(Scheme::Superclue);
    let queued = reviews(&call).next_label(scheme).await?;
    let (page, frame) = (call.page(), call.frame(AdminTab::Labels));
    let labels = scheme.labels().collect();
    Ok(respond(&call.request, StatusCode::OK, &LabelsPage { page, frame, scheme, queued, labels }))
}

/// `POST /admin/labels`: `scheme`, `query` and `label`.
pub(super) async fn decide_label(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let scheme = Scheme::parse(call.fields.one("scheme")).ok_or_else(|| invalid("no scheme has this name"))?;
    let label = scheme.position(call.fields.one("label")).ok().and_then(|position| scheme.label(position));
    let label = label.ok_or_else(|| invalid("no label has this name"))?;
    let query = call.fields.one("query");
    if query.contains('\0') || !call.app.store.has_query(query).await? {
        return Err(PageError::MissingObject(MissingObject::PromptToLabel));
    }
    reviews(&call).decide_label(scheme, query, label).await?;
    Ok(see_other(&format!("/admin/labels?scheme={}&done=1", scheme.as_str())))
}

fn invalid(text: &str) -> PageError {
    PageError::InvalidQuery(text.to_owned())
}
