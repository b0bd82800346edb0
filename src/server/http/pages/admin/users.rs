//! Who may run the arena.

use askama::Template;

use super::AdminFrame;
use crate::domain::admin::role::Role;
use crate::domain::language::Language;
use crate::infra::storage::AdminUserRow;
use crate::server::http::pages::{Page, Section};

/// The page.
#[derive(Template)]
#[template(path = "admin/users.html")]
pub(crate) struct UsersPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) users: Vec<AdminUserRow>,
    /// Shown once.
    pub(crate) link: Option<String>,
    /// After which it expires.
    pub(crate) hours: u32,
}
