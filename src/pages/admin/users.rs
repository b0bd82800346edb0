//! The list of admin users.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::oidc_account::RoleSource;
use crate::domain::admin::role::Role;
use crate::infra::storage::AdminUserRow;

/// Template of the list of admin users.
#[derive(Template)]
#[template(path = "admin/users.html")]
pub struct UsersPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub users: Vec<AdminUserRow>,
    /// New invitation link, shown once.
    pub link: Option<String>,
    /// Validity of the link in hours.
    pub hours: u32,
    /// Name of the identity provider.
    pub provider: String,
    /// Whether admin users sign in at the provider.
    pub adds_at_provider: bool,
}

impl UsersPage {
    /// Returns the sign-in method of a user; `None` for a passphrase.
    fn place(&self, user: &AdminUserRow) -> Option<String> {
        let (account, words) = (user.provider?, &self.page.t().admin.users);
        let words = if account.has_signed_in { words.at_provider } else { words.awaited };
        Some(words.replace("{name}", &self.provider))
    }

    /// Whether an OIDC claim determines the role.
    fn has_claimed_role(user: &AdminUserRow) -> bool {
        user.provider.is_some_and(|account| account.role_from == RoleSource::Claim)
    }
}
