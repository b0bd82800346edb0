//! Signing in, and following a link.

use askama::Template;

use crate::domain::language::Language;
use crate::server::http::pages::{Page, Section};

/// The page on which people sign in to the admin.
#[derive(Template)]
#[template(path = "admin/sign_in.html")]
pub(crate) struct AdminSignInPage {
    pub(crate) page: Page,
    pub(crate) name: String,
    /// Whether there is nobody who could sign in.
    pub(crate) no_owner: bool,
    pub(crate) token: String,
    /// Where signing in leads.
    pub(crate) next: String,
    pub(crate) problem: Option<String>,
}

/// The page that a link leads to.
#[derive(Template)]
#[template(path = "admin/welcome.html")]
pub(crate) struct WelcomePage {
    pub(crate) page: Page,
    pub(crate) link: String,
    pub(crate) name: String,
    pub(crate) token: String,
    pub(crate) problem: Option<&'static str>,
}
