//! Campaigns: progress, annotators, exclusion of annotators, and state changes.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::campaign::MAX_LINK_DAYS;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::state::{CampaignState, StateChange};
use crate::http::campaign_report::{DocumentBody, document_body};
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::http::request::hosts::public_address;
use crate::infra::storage::{CampaignRow, Store, StoreError, is_storable};
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::campaigns::{CampaignLine, CampaignPage, CampaignReportPage, CampaignsPage, MAX_INVITES};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;
use crate::render::i18n::pages::MissingObject;
use crate::render::report::campaign::Audience;
use crate::services::campaign::administration::{AnnotatorInvites, CampaignAdmin, CampaignAdminError};

/// `GET /admin/campaigns`
pub(super) async fn list(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let mut campaigns = Vec::new();
    for row in call.app.store.campaigns().await? {
        campaigns.push(line(&call.app.store, row).await?);
    }
    let (page, frame) = (call.page(), call.frame(AdminTab::Campaigns));
    Ok(respond(&call.request, StatusCode::OK, &CampaignsPage { page, frame, campaigns }))
}

/// `GET /admin/campaigns/one`: the campaign with this `id`.
pub(super) async fn one(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Campaigns);
    show(&call, StatusCode::OK, frame, Vec::new()).await
}

/// `GET /admin/campaigns/report`: report on all annotators of the campaign with this `id` so far.
pub(super) async fn report(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let row = call.app.store.campaign(campaign_id(&call)?).await?.ok_or_else(unknown)?;
    let page = call.page();
    let DocumentBody { title, body } = document_body(&call.app, &row, Audience::Operators, page.language).await?;
    let frame = call.frame(AdminTab::Campaigns);
    let view = CampaignReportPage { page, frame, id: row.id, title, body };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// `POST /admin/campaigns/state`: `id`, `change` open, pause or close, and `from` with the state that the form showed, to detect concurrent
/// changes.
pub(super) async fn change(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let id = campaign_id(&call)?;
    let change = match call.fields.one("change") {
        "open" => StateChange::Open,
        "pause" => StateChange::Pause,
        "close" => StateChange::Close,
        _ => return Err(invalid("change is open, pause or close")),
    };
    let shown = CampaignState::ALL.into_iter().find(|state| state.as_str() == call.fields.one("from"));
    let done = admin(&call).set_state(id, change, shown).await;
    after_change(&call, id, done).await
}

/// `POST /admin/campaigns/invite`: `id`, `count`, `quota`, `days`, and `shared` for a single link for all annotators. The links appear in
/// this response only; their tokens are in the fragment (`#`), so that no server and no log sees them.
pub(super) async fn invite(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let id = campaign_id(&call)?;
    let Some(invites) = typed_invites(&call) else {
        let frame = call.frame_with(AdminTab::Campaigns, &call.page().t().admin.campaigns.invite_numbers(MAX_INVITES));
        return show(&call, StatusCode::BAD_REQUEST, frame, Vec::new()).await;
    };
    let (parameter, tokens) = match call.fields.given("shared") {
        None => ("invite", admin(&call).invite(id, invites).await.map_err(refused)?),
        Some(_) => ("join", vec![admin(&call).share(id, invites).await.map_err(refused)?]),
    };
    let arena = public_address(&call.request, &call.app);
    let links = tokens.iter().map(|token| format!("{arena}/campaign/{id}#{parameter}={token}")).collect();
    show(&call, StatusCode::OK, call.frame(AdminTab::Campaigns), links).await
}

/// Parses the requested invites; `None` if a number is invalid.
fn typed_invites(call: &SignedInRequest) -> Option<AnnotatorInvites> {
    let number = |name: &str, least: u32, most: u32| {
        call.fields.one(name).trim().parse::<u32>().ok().filter(|number| (least..=most).contains(number))
    };
    let quota = match call.fields.given("quota") {
        None => None,
        Some(_) => Some(number("quota", 1, u32::MAX)?),
    };
    Some(AnnotatorInvites { count: number("count", 1, MAX_INVITES)?, quota, days: number("days", 0, MAX_LINK_DAYS)? })
}

/// `POST /admin/campaigns/revoke`: `id` and `annotator`.
pub(super) async fn revoke(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, annotator) = (campaign_id(&call)?, annotator_of(&call)?);
    let done = admin(&call).revoke(id, annotator).await;
    after_change(&call, id, done).await
}

/// `POST /admin/campaigns/leave-out`: `id`, `annotator` and `reason`.
pub(super) async fn leave_out(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, annotator) = (campaign_id(&call)?, annotator_of(&call)?);
    let done = admin(&call).leave_out(id, annotator, call.fields.one("reason")).await;
    after_change(&call, id, done).await
}

/// `POST /admin/campaigns/readmit`: `id` and `annotator`.
pub(super) async fn readmit(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, annotator) = (campaign_id(&call)?, annotator_of(&call)?);
    let done = admin(&call).readmit(id, annotator).await;
    after_change(&call, id, done).await
}

/// Redirects to the campaign, or shows why nothing was changed.
async fn after_change(
    call: &SignedInRequest,
    id: &str,
    done: Result<(), CampaignAdminError>,
) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin.campaigns;
    let reason_needed = words.reason_needed();
    let (status, problem) = match done {
        Ok(()) => return Ok(see_other(&format!("/admin/campaigns/one?id={}&done=1", escaped(id)))),
        Err(CampaignAdminError::StateChanged(_)) => (StatusCode::CONFLICT, words.state_changed),
        Err(CampaignAdminError::UnknownAnnotator { .. }) => (StatusCode::CONFLICT, words.unknown_annotator),
        Err(CampaignAdminError::NotCounted { .. }) => (StatusCode::CONFLICT, words.not_counted),
        Err(CampaignAdminError::NotLeftOut { .. }) => (StatusCode::CONFLICT, words.not_left_out),
        Err(CampaignAdminError::Reason) => (StatusCode::BAD_REQUEST, reason_needed.as_str()),
        Err(error) => return Err(refused(error)),
    };
    show(call, status, call.frame_with(AdminTab::Campaigns, problem), Vec::new()).await
}

fn admin(call: &SignedInRequest) -> CampaignAdmin<'_> {
    let app = &call.app;
    CampaignAdmin { store: &app.store, rng: &app.rng, clock: app.clock.as_ref(), actor: call.actor() }
}

async fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    links: Vec<String>,
) -> Result<HttpResponse, PageError> {
    let store = &call.app.store;
    let row = store.campaign(campaign_id(call)?).await?.ok_or_else(unknown)?;
    let annotators = store.annotators(&row.id).await?;
    let shared = store.shared_links(&row.id).await?;
    let now = call.app.clock.now();
    let campaign = line(store, row).await?;
    let view = CampaignPage { page: call.page(), frame, campaign, annotators, shared, links, now };
    Ok(respond(&call.request, status, &view))
}

fn campaign_id(call: &SignedInRequest) -> Result<&str, PageError> {
    let id = call.fields.one("id");
    is_storable(id).then_some(id).ok_or_else(unknown)
}

fn annotator_of(call: &SignedInRequest) -> Result<&str, PageError> {
    let annotator = call.fields.one("annotator");
    is_storable(annotator).then_some(annotator).ok_or_else(|| invalid("annotator is plain text"))
}

fn unknown() -> PageError {
    PageError::MissingObject(MissingObject::Campaign)
}

async fn line(store: &Store, row: CampaignRow) -> Result<CampaignLine, StoreError> {
    let plan = serde_json::from_str::<CampaignPlan>(&row.plan).ok();
    let (judged, is_all_judged) = match plan.as_ref().map(|plan| plan.judgements_per_item) {
        Some(needed) if row.judgements > 0 => {
            (store.judged_of_due(&row.id, needed).await?, store.is_all_judged(&row.id, needed).await?)
        }
        _ => (0, false),
    };
    Ok(CampaignLine { plan, judged, is_all_judged, row })
}

fn refused(error: CampaignAdminError) -> PageError {
    match error {
        CampaignAdminError::Store(error) => error.into(),
        CampaignAdminError::UnknownCampaign(_) => unknown(),
        error => PageError::Missing(error.to_string()),
    }
}

fn invalid(text: &str) -> PageError {
    PageError::InvalidQuery(text.to_owned())
}
