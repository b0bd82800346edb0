//! Admin sign-in, and acceptance of invitation links.

use askama::Template;

use crate::Page;

/// Template of the admin sign-in page.
#[derive(Template)]
#[template(path = "admin/sign_in.html")]
pub struct AdminSignInPage {
    pub page: Page,
    pub name: String,
    /// Whether the arena has no owner account yet.
    pub no_owner: bool,
    pub token: String,
    /// Target address after signing in.
    pub next: String,
    pub problem: Option<String>,
    /// Name of the identity provider, if one is configured.
    pub provider: Option<String>,
}

/// Template of the page after a sign-in at the provider. It redirects from one of the arena's own pages because browsers withhold the
/// session cookie on a navigation from another site.
#[derive(Template)]
#[template(path = "admin/signed_in.html")]
pub struct SignedInPage {
    pub page: Page,
    /// Target address.
    pub next: String,
}

/// Template of the page that an invitation link opens.
#[derive(Template)]
#[template(path = "admin/welcome.html")]
pub struct WelcomePage {
    pub page: Page,
    pub link: String,
    pub name: String,
    /// Name of the account, if the link resets a passphrase.
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
