//! The audit log page.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::action::AdminAction;
use crate::frame::time::time_text;
use crate::infra::storage::{AuditFilter, AuditRow};

/// Template of the audit log page.
#[derive(Template)]
#[template(path = "admin/audit.html")]
pub struct AuditPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub filter: AuditFilter,
    pub entries: Vec<AuditRow>,
    /// Address of the next page.
    pub older: Option<String>,
    /// Names of all accounts.
    pub users: Vec<String>,
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
