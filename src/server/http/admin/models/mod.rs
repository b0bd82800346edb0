//! Models in the admin: state, pausing and resuming, and editing a model's settings.

pub(super) mod adding;
mod editing;
pub(super) mod pairing;
mod settings_refusals;
mod viewing;

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::action::AdminAction;
use crate::domain::battle::ModelId;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::config::edit::change::Change;
use crate::infra::llm::model_check_result::CheckedModel;
use crate::pages::admin::models::{AdminModelPage, AdminModelsPage};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;
use crate::render::i18n::pages::MissingObject;
use crate::services::model_check::check_one;
use crate::services::model_settings::values_version;
use editing::edit;
pub(super) use viewing::settings_file_problem;
use viewing::{ModelViews, file_entry, file_state, today};

/// `GET /admin/models`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Models);
    show_all(&call, StatusCode::OK, frame).await
}

/// `POST /admin/models/pause`: `model`, and `change` with `pause` or `resume`.
pub(super) async fn pause(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let id = model_of(&call)?;
    let weight = match call.fields.one("change") {
        "pause" => 0.0,
        "resume" => ModelViews::read(&call.app).await?.health.last_weight(&id),
        _ => return Err(PageError::InvalidQuery("change is pause or resume".to_owned())),
    };
    match edit(&call, &id, &Change::Weight(weight), None).await? {
        Ok(()) => Ok(see_other("/admin/models?done=1")),
        Err(refusal) => {
            let frame = call.frame_with(AdminTab::Models, &refusal.text(&call.page().t().admin.models));
            show_all(&call, StatusCode::CONFLICT, frame).await
        }
    }
}

/// `GET /admin/models/change`: one `model`.
pub(super) async fn show_change_form(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, frame) = (model_of(&call)?, call.frame(AdminTab::Models));
    show_one(&call, StatusCode::OK, &id, frame, None).await
}

/// `POST /admin/models/change`: the values of one `model`, and the `version` that the form showed, to detect concurrent changes.
pub(super) async fn change(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let id = model_of(&call)?;
    let done = match editing::values(&call) {
        Ok(values) => edit(&call, &id, &Change::Values(values), call.fields.given("version")).await?,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => Ok(see_other(&format!("/admin/models/change?model={}&done=1", escaped(id.as_str())))),
        Err(refusal) => {
            let frame = call.frame_with(AdminTab::Models, &refusal.text(&call.page().t().admin.models));
            show_one(&call, StatusCode::CONFLICT, &id, frame, None).await
        }
    }
}

/// `POST /admin/models/test`: sends one `model` a test prompt, bypassing its circuit breaker. The audit entry is written first, because the
/// request may cost money.
pub(super) async fn test(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, roster) = (model_of(&call)?, call.app.models.current());
    let model = roster.get(&id).ok_or_else(unknown)?;
    let (app, subject) = (&call.app, format!("model {}", id.as_str()));
    let entry = call.actor().entry(&app.rng, app.clock.as_ref(), AdminAction::TestModel, &subject);
    app.store.add_audit_entry(&entry).await?;
    // The seed only affects delays between retries, of which there are none here.
    let alone = model.without_retries(ChaCha8Rng::seed_from_u64(0));
    let checked = check_one(Arc::new(alone), roster.entry(&id)).await;
    show_one(&call, StatusCode::OK, &id, call.frame(AdminTab::Models), Some(checked)).await
}

fn model_of(call: &SignedInRequest) -> Result<ModelId, PageError> {
    let id = call.fields.given("model").ok_or_else(|| PageError::InvalidQuery("name a model".to_owned()))?;
    Ok(ModelId::new(id))
}

fn unknown() -> PageError {
    PageError::MissingObject(MissingObject::Model)
}

async fn show_all(call: &SignedInRequest, status: StatusCode, frame: AdminFrame) -> Result<HttpResponse, PageError> {
    let views = ModelViews::read(&call.app).await?;
    let (page, file) = (call.page(), file_state(call).await);
    let view = AdminModelsPage { page, frame, lines: views.lines(), currency: views.currency(), file };
    Ok(respond(&call.request, status, &view))
}

async fn show_one(
    call: &SignedInRequest,
    status: StatusCode,
    id: &ModelId,
    frame: AdminFrame,
    checked: Option<CheckedModel>,
) -> Result<HttpResponse, PageError> {
    let views = ModelViews::read(&call.app).await?;
    let line = views.line(id).ok_or_else(unknown)?;
    let entry = file_entry(&call.app, id).await.or_else(|| views.entry(id));
    let view = AdminModelPage {
        page: call.page(),
        frame,
        line,
        version: entry.as_ref().map(values_version).unwrap_or_default(),
        entry,
        failures: views.health.failures_of(id).cloned().collect(),
        checked,
        currency: views.currency(),
        file: file_state(call).await,
        today: today(&call.app).to_string(),
    };
    Ok(respond(&call.request, status, &view))
}
