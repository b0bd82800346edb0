//! Signing in, and following a link.

use askama::Template;

use crate::Page;

/// The page on which people sign in to the admin.
#[derive(Template)]
#[template(path = "admin/sign_in.html")]
pub struct AdminSignInPage {
    pub page: Page,
    pub name: String,
    /// Whether there is nobody who could sign in.
    pub no_owner: bool,
    pub token: String,
    /// Where signing in leads.
    pub next: String,
    pub problem: Option<String>,
    /// What the provider is called, where people sign in at one.
    pub provider: Option<String>,
}

/// The page on which a sign-in at the provider ends: it leads on by itself, as one of the arena's own pages, because a browser keeps
/// the session's cookie back from an address that another site has led to.
#[derive(Template)]
#[template(path = "admin/signed_in.html")]
pub struct SignedInPage {
    pub page: Page,
    /// Where it leads.
    pub next: String,
}

/// The page that a link leads to.
#[derive(Template)]
#[template(path = "admin/welcome.html")]
pub struct WelcomePage {
    pub page: Page,
    pub link: String,
    pub name: String,
    /// Whose account it is, where the link is for a new passphrase.
    pub account: Option<String>,
    pub token: String,
    pub problem: Option<&'static str>,
}

impl WelcomePage {
    fn title(&self) -> &'static str {
        let words = &self.page.t().admin.welcome;
        if self.account.is_some() { words.reset_title } else { words.title }
    }

    fn lead(&self) -> String {
        let words = &self.page.t().admin.welcome;
        self.account.as_ref().map_or_else(|| words.lead.to_owned(), |name| words.reset_lead.replace("{name}", name))
    }

    fn button(&self) -> &'static str {
        let words = &self.page.t().admin.welcome;
        if self.account.is_some() { words.reset_button } else { words.button }
    }
}
