//! Webhook deliveries, including failed ones.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::webhook::WebhookEvent;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::config::WebhookSettings;
use crate::pages::admin::webhooks::{WebhookLine, WebhooksPage};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::services::webhooks::{WebhookRetryError, retry};

/// Maximum number of messages listed.
const MAX_LISTED_MESSAGES: u32 = 100;

/// `GET /admin/webhooks`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Webhooks);
    show(&call, StatusCode::OK, frame).await
}

/// `POST /admin/webhooks/retry`: `id` of a failed message.
pub(super) async fn send_again(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (app, id) = (&call.app, call.fields.one("id"));
    match retry(&app.store, &app.rng, app.clock.as_ref(), id, &call.actor()).await {
        Ok(()) => Ok(see_other("/admin/webhooks?done=1")),
        Err(WebhookRetryError::Store(error)) => Err(error.into()),
        Err(WebhookRetryError::Unknown(_)) => {
            let frame = call.frame_with(AdminTab::Webhooks, call.page().t().admin.webhooks.unknown);
            show(&call, StatusCode::CONFLICT, frame).await
        }
    }
}

async fn show(call: &SignedInRequest, status: StatusCode, frame: AdminFrame) -> Result<HttpResponse, PageError> {
    let sender = &call.app.webhooks;
    let wanted = |webhook: &WebhookSettings| {
        let events = WebhookEvent::ALL.into_iter().filter(|event| webhook.wants(*event));
        events.map(WebhookEvent::as_str).collect::<Vec<_>>().join(", ")
    };
    let webhooks = sender.webhooks().map(|webhook| WebhookLine {
        id: webhook.id.clone(),
        host: sender.host(&webhook.id).to_owned(),
        events: wanted(webhook),
    });
    let messages = call.app.store.webhook_messages(None, MAX_LISTED_MESSAGES).await?;
    let view = WebhooksPage { page: call.page(), frame, webhooks: webhooks.collect(), messages };
    Ok(respond(&call.request, status, &view))
}
