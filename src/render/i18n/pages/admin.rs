//! Texts of the admin pages.

mod bench_plans;
mod bench_runs;
mod campaigns;
mod chinese;
mod english;
mod failure_reasons;
mod keys;
mod models;
mod moderation;
mod operations;
mod plan_refusals;
mod requests;
mod settings_refusals;
mod settings_rules;
mod webhooks;

use std::borrow::Borrow;

use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::account::AccountError;
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::role::Role;
use crate::i18n::fill;

pub use bench_plans::BenchPlanTexts;
pub use bench_runs::BenchRunTexts;
pub use campaigns::CampaignAdminTexts;
pub(super) use chinese::CHINESE;
pub(super) use english::ENGLISH;
pub use failure_reasons::{FailureWords, failure_words};
use keys::KeyTexts;
pub use models::{ModelAddTexts, ModelAdminTexts, PairingAdminTexts};
use moderation::ModerationTexts;
use operations::OperationTexts;
pub use plan_refusals::{PlanErrorTexts, PlanRefusalTexts};
use requests::RequestTexts;
pub use settings_refusals::SettingsRefusalTexts;
use webhooks::WebhookTexts;

/// Its texts.
pub struct AdminTexts {
    pub title: &'static str,
    pub navigation: &'static str,
    pub signed_in_as: &'static str,
    pub sign_out: &'static str,
    pub done: &'static str,
    pub none: &'static str,
    pub when: &'static str,
    pub sign_in: AdminSignInTexts,
    pub welcome: WelcomeTexts,
    pub account: AccountTexts,
    pub votes: VoteAdminTexts,
    pub overview: OverviewTexts,
    pub models: ModelAdminTexts,
    pub reviews: ReviewTexts,
    pub users: UserTexts,
    pub operations: OperationTexts,
    pub bench_runs: BenchRunTexts,
    pub campaigns: CampaignAdminTexts,
    pub requests: RequestTexts,
    pub moderation: ModerationTexts,
    pub keys: KeyTexts,
    pub webhooks: WebhookTexts,
    pub audit: AuditTexts,
    pub roles: [&'static str; 4],
    pub role_duties: [&'static str; 4],
    pub actions: [&'static str; AdminAction::ALL.len()],
    pub name_rule: &'static str,
    pub too_short: &'static str,
    pub too_long: &'static str,
    pub too_easy: &'static str,
}

/// Signing in.
pub struct AdminSignInTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub no_owner: &'static str,
    pub name: &'static str,
    pub passphrase: &'static str,
    pub code: &'static str,
    pub code_hint: &'static str,
    pub button: &'static str,
    pub wrong: &'static str,
    pub too_fast: &'static str,
    pub busy: &'static str,
    pub or: &'static str,
    pub provider: &'static str,
    pub provider_hint: &'static str,
    pub provider_down: &'static str,
    pub provider_denied: &'static str,
    pub foreign: &'static str,
    pub no_role: &'static str,
    pub signed_in: &'static str,
    pub go_on: &'static str,
}

/// The page of an invitation or reset link.
pub struct WelcomeTexts {
    pub title: &'static str,
    pub lead: &'static str,
    /// Title and lead of a link for a new passphrase.
    pub reset_title: &'static str,
    pub reset_lead: &'static str,
    pub reset_button: &'static str,
    pub link_code: &'static str,
    pub link_code_hint: &'static str,
    pub name: &'static str,
    pub name_hint: &'static str,
    pub passphrase: &'static str,
    pub passphrase_hint: &'static str,
    pub button: &'static str,
    pub void_link: &'static str,
    pub name_taken: &'static str,
}

/// The page of the user's own account.
pub struct AccountTexts {
    pub title: &'static str,
    pub sessions: &'static str,
    pub sessions_lead: &'static str,
    pub since: &'static str,
    pub seen: &'static str,
    pub ends: &'static str,
    pub from: &'static str,
    pub this_one: &'static str,
    pub end_session: &'static str,
    pub passphrase: &'static str,
    pub passphrase_lead: &'static str,
    pub former: &'static str,
    pub latter: &'static str,
    pub change: &'static str,
    pub wrong_passphrase: &'static str,
    pub factor: &'static str,
    pub factor_off: &'static str,
    pub factor_begin: &'static str,
    /// With `{n}` for the minutes until it expires.
    pub factor_pending: &'static str,
    pub factor_qr: &'static str,
    pub factor_secret: &'static str,
    pub factor_link: &'static str,
    pub factor_confirm: &'static str,
    pub factor_code: &'static str,
    pub wrong_code: &'static str,
    pub factor_expired: &'static str,
    pub factor_on: &'static str,
    pub factor_disable: &'static str,
    pub at_provider: &'static str,
    pub recovery: &'static str,
    pub recovery_lead: &'static str,
}

/// Votes, voters and decisions.
pub struct VoteAdminTexts {
    pub title: &'static str,
    pub voters_title: &'static str,
    pub voters_lead: &'static str,
    pub tested: &'static str,
    pub none_flagged: &'static str,
    pub withheld: &'static str,
    pub voter: &'static str,
    pub votes: &'static str,
    pub evidence: &'static str,
    pub votes_for: &'static str,
    pub votes_against: &'static str,
    pub no_model: &'static str,
    pub q: &'static str,
    pub q_explained: &'static str,
    pub is_flagged: &'static str,
    pub not_flagged: &'static str,
    pub model: &'static str,
    pub any_model: &'static str,
    pub excluded_by: &'static str,
    pub any_rule: &'static str,
    pub cluster: &'static str,
    pub battle: &'static str,
    pub find: &'static str,
    pub count: &'static str,
    pub latest: &'static str,
    pub seq: &'static str,
    pub outcome: &'static str,
    pub decide: &'static str,
    pub decide_lead: &'static str,
    pub by: &'static str,
    pub reason: &'static str,
    pub reason_hint: &'static str,
    pub preview_exclude: &'static str,
    pub preview_include: &'static str,
    pub preview_title: &'static str,
    pub would_exclude: &'static str,
    pub would_include: &'static str,
    pub exclude: &'static str,
    pub include: &'static str,
    pub leaderboard: &'static str,
    pub rank_before: &'static str,
    pub rank_after: &'static str,
    pub rating_before: &'static str,
    pub rating_after: &'static str,
    pub battles_before: &'static str,
    pub battles_after: &'static str,
    pub export: &'static str,
    pub export_lead: &'static str,
    pub export_format: &'static str,
    pub export_csv: &'static str,
    pub export_jsonl: &'static str,
    pub export_button: &'static str,
}

impl VoteAdminTexts {
    /// Display name of a field of the filter.
    pub fn field(&self, name: &str) -> &'static str {
        match name {
            "voter" => self.voter,
            "model" => self.model,
            "rule" => self.excluded_by,
            "battle" => self.battle,
            _ => self.cluster,
        }
    }
}

/// The first page.
pub struct OverviewTexts {
    pub title: &'static str,
    pub database_outage: &'static str,
    pub votes_of_day: &'static str,
    pub last_vote: &'static str,
    pub rated: &'static str,
    pub fitted: &'static str,
    pub voters_checked: &'static str,
    pub check_failing: &'static str,
    pub open_leaks: &'static str,
    pub models: &'static str,
    pub state: &'static str,
    pub healthy: &'static str,
    pub breaker_open: &'static str,
    pub paused: &'static str,
    pub weight: &'static str,
    pub failures_in_a_row: &'static str,
    pub failures: &'static str,
    /// Translates a stored reason of a failure; `None` if it is shown as stored.
    translated_failure: fn(&str) -> Option<String>,
    pub no_failures: &'static str,
    pub times: &'static str,
    pub last_at: &'static str,
    pub first_steps: &'static str,
    pub first_steps_lead: &'static str,
    pub step_done: &'static str,
    pub step_open: &'static str,
    pub add_models: &'static str,
    pub add_models_hint: &'static str,
    pub invite_people: &'static str,
    pub invite_people_hint: &'static str,
    pub first_vote: &'static str,
    pub first_vote_hint: &'static str,
}

/// The review queues.
pub struct ReviewTexts {
    pub leaks_title: &'static str,
    pub leaks_lead: &'static str,
    pub leaks_checked: &'static str,
    pub labels_title: &'static str,
    pub labels_lead: &'static str,
    pub review_keys: &'static str,
    pub all_done: &'static str,
    pub waiting: &'static str,
    pub confirm: &'static str,
    pub withdraw: &'static str,
    pub skip: &'static str,
    pub question: &'static str,
    pub scheme: &'static str,
    /// The sets of labels, in the order of `Scheme::ALL`.
    pub schemes: [&'static str; 2],
    pub suggested: &'static str,
}

/// Accounts.
pub struct UserTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub name: &'static str,
    pub role: &'static str,
    pub factor: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    pub state: &'static str,
    pub active: &'static str,
    pub disabled: &'static str,
    pub waiting: &'static str,
    pub change_role: &'static str,
    pub role_of: &'static str,
    pub disable: &'static str,
    pub enable: &'static str,
    pub reset: &'static str,
    pub invite: &'static str,
    pub invite_lead: &'static str,
    pub invite_button: &'static str,
    pub link: &'static str,
    pub link_lead: &'static str,
    pub last_owner: &'static str,
    pub unknown: &'static str,
    pub duties: &'static str,
    pub at_provider: &'static str,
    pub awaited: &'static str,
    pub by_claim: &'static str,
    pub add: &'static str,
    pub add_lead: &'static str,
    pub email: &'static str,
    pub subject: &'static str,
    pub add_button: &'static str,
    pub name_taken: &'static str,
    pub no_identity: &'static str,
    pub identity_taken: &'static str,
    pub managed_there: &'static str,
}

/// The audit log.
pub struct AuditTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub caption: &'static str,
    pub who: &'static str,
    pub what: &'static str,
    pub subject: &'static str,
    pub former: &'static str,
    pub latter: &'static str,
    pub via: &'static str,
    pub page: &'static str,
    pub command: &'static str,
    pub anybody: &'static str,
    pub anything: &'static str,
    pub filter: &'static str,
    pub older: &'static str,
    pub newest: &'static str,
}

impl OverviewTexts {
    /// Reason of a failed reply in this language; `None` if the stored English reason is shown.
    pub fn failure(&self, reason: &str) -> Option<String> {
        (self.translated_failure)(reason)
    }
}

impl AdminTexts {
    /// Display name of a role.
    pub fn role(&self, role: impl Borrow<Role>) -> &'static str {
        let at = Role::ALL.iter().position(|other| other == role.borrow());
        at.map_or("", |at| self.roles[at])
    }

    /// Display name of an action; its name if unknown.
    pub fn action<'n>(&self, name: &'n str) -> &'n str {
        let at = AdminAction::ALL.iter().position(|action| action.as_str() == name);
        at.map_or(name, |at| self.actions[at])
    }

    /// Message for a refused name or passphrase.
    pub fn account_problem(&self, error: AccountError) -> &'static str {
        match error {
            AccountError::Name => self.name_rule,
            AccountError::Short => self.too_short,
            AccountError::Long => self.too_long,
            AccountError::Easy => self.too_easy,
        }
    }
}

/// Replaces `{n}` by the maximum characters of a reason.
fn within_longest_reason(text: &str) -> String {
    fill(text, &[("n", &MAX_REASON_CHARS.to_string())])
}
