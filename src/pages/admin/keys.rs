//! The API keys page.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::key_scope::MAX_LIFETIME_DAYS;
use crate::domain::admin::key_scope::{KeyScope, MAX_NAME_CHARS};
use crate::domain::time::Timestamp;
use crate::frame::time::time_text;
use crate::infra::storage::ApiKeyRow;

/// Template of the API keys page.
#[derive(Template)]
#[template(path = "admin/keys.html")]
pub struct KeysPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub keys: Vec<ApiKeyRow>,
    /// New key, shown once.
    pub key: Option<String>,
    pub now: Timestamp,
}

impl KeysPage {
    fn scopes(&self, key: &ApiKeyRow) -> String {
        let words = &self.page.t().admin.keys;
        key.scopes.iter().map(|scope| words.scope(*scope)).collect::<Vec<_>>().join(words.and)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, time: &Timestamp) -> String {
        time_text(time.0)
    }

    fn expires(&self, key: &ApiKeyRow) -> String {
        key.expires_at.map_or_else(|| self.page.t().admin.keys.never.to_owned(), |time| time_text(time.0))
    }

    /// Formats the day of last use; the time of day is not stored.
    fn used(&self, key: &ApiKeyRow) -> String {
        let day = |time: Timestamp| time_text(time.0).chars().take("2026-11-25".len()).collect();
        key.used_day.map_or_else(|| self.page.t().admin.keys.never.to_owned(), day)
    }

    fn is_in_force(&self, key: &ApiKeyRow) -> bool {
        key.is_in_force(self.now)
    }

    fn state(&self, key: &ApiKeyRow) -> &'static str {
        let words = &self.page.t().admin.keys;
        match key.revoked_at {
            Some(_) => words.revoked,
            None if self.is_in_force(key) => words.in_force,
            None => words.expired,
        }
    }
}
