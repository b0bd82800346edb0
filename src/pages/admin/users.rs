//! Who may run the arena.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::oidc_account::RoleFrom;
use crate::domain::admin::role::Role;
use crate::infra::storage::AdminUserRow;

/// The page.
#[derive(Template)]
#[template(path = "admin/users.html")]
pub struct UsersPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub users: Vec<AdminUserRow>,
    /// Shown once.
    pub link: Option<String>,
    /// After which it expires.
    pub hours: u32,
    /// What the provider is called.
    pub provider: String,
    /// Whether people who run the arena sign in there.
    pub adds_at_provider: bool,
}

impl UsersPage {
    /// How a user signs in, where that is not by a passphrase.
    fn place(&self, user: &AdminUserRow) -> Option<String> {
        let (account, words) = (user.provider?, &self.page.t().admin.users);
        let words = if account.has_come { words.at_provider } else { words.awaited };
        Some(words.replace("{name}", &self.provider))
    }

    /// Whether a claim gives the role.
    fn has_claimed_role(user: &AdminUserRow) -> bool {
        user.provider.is_some_and(|account| account.role_from == RoleFrom::Claim)
    }
}
