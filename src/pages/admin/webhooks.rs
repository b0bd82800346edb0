//! The webhook delivery page.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::domain::webhook::DeliveryState;
use crate::frame::time::time_text;
use crate::infra::storage::WebhookMessageRow;

/// Row of a configured webhook.
pub struct WebhookLine {
    pub id: String,
    /// Host of the target address.
    pub host: String,
    /// Names of the subscribed events.
    pub events: String,
}

/// Template of the webhook delivery page.
#[derive(Template)]
#[template(path = "admin/webhooks.html")]
pub struct WebhooksPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub webhooks: Vec<WebhookLine>,
    pub messages: Vec<WebhookMessageRow>,
}

impl WebhooksPage {
    fn may_retry(&self, message: &WebhookMessageRow) -> bool {
        self.frame.role.covers(Role::Operator) && message.state == DeliveryState::Dead
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, time: &Timestamp) -> String {
        time_text(time.0)
    }

    fn next(&self, message: &WebhookMessageRow) -> String {
        if message.state == DeliveryState::Waiting { self.time(&message.next_at) } else { "–".to_owned() }
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn class(&self, message: &WebhookMessageRow) -> &'static str {
        if message.state == DeliveryState::Delivered { "ok" } else { "other" }
    }
}
