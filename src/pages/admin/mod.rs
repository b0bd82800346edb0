//! Admin pages and their shared frame.

pub mod account;
pub mod audit;
pub mod bench_plans;
pub mod bench_runs;
pub mod campaigns;
pub mod deletion_requests;
pub mod keys;
pub mod model_list;
pub mod models;
pub mod moderation;
pub mod operations;
pub mod overview;
pub mod pairing;
pub mod reviews;
pub mod sign_in;
pub mod users;
pub mod votes;
pub mod webhooks;

use askama::Template;

use super::Page;
use crate::domain::admin::role::Role;
use crate::render::i18n::pages::AdminTexts;

/// Entry of the admin navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminTab {
    Overview,
    Models,
    Voters,
    Votes,
    Leaks,
    Labels,
    Account,
    Audit,
    Users,
    Operations,
    Benchmarks,
    Campaigns,
    Requests,
    Moderation,
    Keys,
    Webhooks,
}

impl AdminTab {
    pub const ALL: [Self; 16] = [
        Self::Overview,
        Self::Operations,
        Self::Models,
        Self::Voters,
        Self::Votes,
        Self::Leaks,
        Self::Labels,
        Self::Moderation,
        Self::Requests,
        Self::Benchmarks,
        Self::Campaigns,
        Self::Users,
        Self::Keys,
        Self::Webhooks,
        Self::Audit,
        Self::Account,
    ];

    pub fn path(self) -> &'static str {
        match self {
            Self::Overview => "/admin",
            Self::Models => "/admin/models",
            Self::Leaks => "/admin/leaks",
            Self::Labels => "/admin/labels",
            Self::Voters => "/admin/voters",
            Self::Votes => "/admin/votes",
            Self::Account => "/admin/account",
            Self::Audit => "/admin/audit",
            Self::Users => "/admin/users",
            Self::Operations => "/admin/operations",
            Self::Benchmarks => "/admin/benchmarks",
            Self::Campaigns => "/admin/campaigns",
            Self::Requests => "/admin/requests",
            Self::Moderation => "/admin/moderation",
            Self::Keys => "/admin/keys",
            Self::Webhooks => "/admin/webhooks",
        }
    }

    /// Returns the navigation entry of an admin address.
    pub(crate) fn of_address(address: &str) -> Self {
        let is_of = |tab: &Self| {
            address.strip_prefix(tab.path()).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        };
        Self::ALL.into_iter().filter(is_of).max_by_key(|tab| tab.path().len()).unwrap_or(Self::Overview)
    }

    pub fn name(self, words: &'static AdminTexts) -> &'static str {
        match self {
            Self::Overview => words.overview.title,
            Self::Models => words.models.title,
            Self::Leaks => words.reviews.leaks_title,
            Self::Labels => words.reviews.labels_title,
            Self::Voters => words.votes.voters_title,
            Self::Votes => words.votes.title,
            Self::Account => words.account.title,
            Self::Audit => words.audit.title,
            Self::Users => words.users.title,
            Self::Operations => words.operations.title,
            Self::Benchmarks => words.bench_runs.title,
            Self::Campaigns => words.campaigns.title,
            Self::Requests => words.requests.title,
            Self::Moderation => words.moderation.title,
            Self::Keys => words.keys.title,
            Self::Webhooks => words.webhooks.title,
        }
    }
}

/// Frame of an admin page.
#[derive(Debug, Clone)]
pub struct AdminFrame {
    /// Name of the signed-in user.
    pub name: String,
    /// Role of the signed-in user.
    pub role: Role,
    /// CSRF token of the forms.
    pub token: String,
    /// Navigation entries that the user may open.
    pub tabs: Vec<AdminTab>,
    /// Current navigation entry.
    pub tab: AdminTab,
    /// Whether the last request made a change.
    pub done: bool,
    /// Reason why a change was refused.
    pub problem: Option<String>,
}

/// Template of the navigation, account and outcome of the last change, above an admin page.
#[derive(Template)]
#[template(path = "_parts/admin_bar.html")]
pub(crate) struct AdminBar<'f> {
    frame: &'f AdminFrame,
    admin: &'static AdminTexts,
    colon: &'static str,
}

impl AdminFrame {
    pub(crate) fn bar(&self, page: &Page) -> AdminBar<'_> {
        AdminBar { frame: self, admin: &page.t().admin, colon: page.t().colon }
    }
}
