//! The audit log.

use askama::Template;

use super::AdminFrame;
use crate::domain::admin::action::AdminAction;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::infra::storage::{AuditFilter, AuditRow};

/// The page.
#[derive(Template)]
#[template(path = "admin/audit.html")]
pub(crate) struct AuditPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) filter: AuditFilter,
    pub(crate) entries: Vec<AuditRow>,
    /// Address of the next page.
    pub(crate) older: Option<String>,
    /// Names of all accounts.
    pub(crate) users: Vec<String>,
}

impl AuditPage {
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, entry: &AuditRow) -> String {
        time_text(entry.acted_at)
    }

    fn is_actor(&self, name: &str) -> bool {
        self.filter.actor.as_deref() == Some(name)
    }

    fn is_action(&self, name: &str) -> bool {
        self.filter.action.as_deref() == Some(name)
    }
}
