//! Messages to webhooks.

use askama::Template;

use super::AdminFrame;
use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::domain::webhook::DeliveryState;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::infra::storage::WebhookMessageRow;

/// A webhook of the settings.
pub(crate) struct WebhookLine {
    pub(crate) id: String,
    /// Where its messages go.
    pub(crate) host: String,
    /// Names of events.
    pub(crate) events: String,
}

/// The page.
#[derive(Template)]
#[template(path = "admin/webhooks.html")]
pub(crate) struct WebhooksPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) webhooks: Vec<WebhookLine>,
    pub(crate) messages: Vec<WebhookMessageRow>,
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
