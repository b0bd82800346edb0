//! The model register page.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::domain::model_register::changes::ChangeAuthor;
use crate::domain::model_register::days::{Period, RECENT_DAYS};
use crate::domain::model_register::report::{
    EntryChange, EntryState, OrganizationEntries, PairingPeriod, RecentFailures, Register, RegisterEntry,
};
use crate::frame::query_string::escaped;
use crate::frame::time::{ShownTime, time_text};
use crate::render::i18n::pages::RegisterTexts;

/// Maximum number of changes listed; `/api/v1/models` has all.
const MAX_LISTED_CHANGES: usize = 60;

#[derive(Template)]
#[template(path = "models.html")]
struct ModelsPage<'a> {
    page: Page,
    words: &'static RegisterTexts,
    sentence: String,
    counted: String,
    periods: Vec<PeriodLink>,
    labels: Vec<&'a str>,
    organizations: Vec<OrganizationRow>,
    models: Vec<ModelRow>,
    changes: Vec<ChangeRow>,
    shown_changes: String,
    pairing: Vec<PairingRow>,
}

/// Link to another period length.
struct PeriodLink {
    name: &'static str,
    text: &'static str,
    is_shown: bool,
}

struct OrganizationRow {
    name: String,
    /// Numbers of models: registered, in battles, distinct provider models, on the leaderboard, active.
    counts: [u64; 5],
    /// Whether more models were in battles than the leaderboard shows.
    has_hidden: bool,
}

struct ModelRow {
    name: String,
    href: String,
    id: String,
    organization: String,
    practice: bool,
    state: &'static str,
    weight: String,
    on_leaderboard: &'static str,
    days: [String; 2],
    battles: u64,
    imported: u64,
    share: String,
    /// Recent failure rate, with the numbers of failed and of all battles; `None` without battles.
    failed: Option<[String; 2]>,
    same: Vec<String>,
    shares: Vec<String>,
}

struct ChangeRow {
    at: ShownTime,
    name: String,
    what: String,
    reason: String,
    by_command: bool,
}

struct PairingRow {
    from: String,
    until: String,
    policy: String,
    version: u32,
    parameters: String,
}

/// `GET /models`
#[must_use]
pub fn models(request: &HttpRequest, register: &Register) -> HttpResponse {
    let page = Page::new(request, Section::Register);
    let words = &page.t().register;
    // A phone shows few columns; all periods are in the JSON.
    let from = register.periods.len().saturating_sub(if register.period == Period::Day { 14 } else { 12 });
    let (changes, all_changes) = changes(register, words);
    let content = ModelsPage {
        words,
        sentence: sentence(register, words),
        counted: register.counted_through.as_ref().map_or_else(
            || words.nothing_counted.to_owned(),
            |day| words.counted(day, register.battles, register.imported_battles),
        ),
        periods: Period::ALL.map(|period| period_link(period, register.period, words)).into(),
        labels: register.periods[from..].iter().map(|period| period.label.as_str()).collect(),
        organizations: register.organizations.iter().map(|one| organization(one, words)).collect(),
        models: register.models.iter().map(|entry| model(entry, from, words)).collect(),
        shown_changes: words.shown_changes(changes.len(), all_changes),
        changes,
        pairing: register.pairing.iter().rev().map(|period| pairing(period, words)).collect(),
        page,
    };
    respond(request, StatusCode::OK, &content)
}

impl ModelsPage<'_> {
    /// Returns the heading of the failure column.
    fn failed_head(&self) -> String {
        self.words.failed(RECENT_DAYS)
    }
}

fn sentence(register: &Register, words: &RegisterTexts) -> String {
    let count = |state| register.models.iter().filter(|entry| entry.state == state).count();
    let states = [EntryState::Active, EntryState::Paused, EntryState::Retired].map(count);
    let ever: u64 = register.organizations.iter().map(|one| one.in_battles).sum();
    let shown: u64 = register.organizations.iter().map(|one| one.on_leaderboard).sum();
    words.sentence(register.models.len(), states, ever, shown)
}

fn period_link(period: Period, shown: Period, words: &RegisterTexts) -> PeriodLink {
    PeriodLink { name: period.as_str(), text: words.period(period), is_shown: period == shown }
}

fn organization(entries: &OrganizationEntries, words: &RegisterTexts) -> OrganizationRow {
    let OrganizationEntries { organization, entries, in_battles, provider_models, on_leaderboard, active } = entries;
    OrganizationRow {
        name: if organization.is_empty() { words.no_organization.to_owned() } else { organization.clone() },
        counts: [*entries, *in_battles, *provider_models, *on_leaderboard, *active],
        has_hidden: in_battles > on_leaderboard,
    }
}

fn model(entry: &RegisterEntry, from: usize, words: &RegisterTexts) -> ModelRow {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    ModelRow {
        name: entry.name.clone(),
        href: format!("/models/{}", escaped(&entry.id)),
        id: entry.id.clone(),
        organization: entry.organization.clone(),
        practice: entry.practice,
        state: words.state(entry.state),
        weight: entry.weight.map_or_else(|| "–".to_owned(), |weight| weight.to_string()),
        on_leaderboard: if entry.on_leaderboard { words.yes } else { words.no },
        days: [or_dash(&entry.first_day), or_dash(&entry.last_day)],
        battles: entry.battles,
        imported: entry.imported_battles,
        share: entry.share.map_or_else(|| "–".to_owned(), percent),
        failed: failed(entry.recent_failures),
        same: words.same_as(&entry.same_provider_model_as),
        shares: entry.by_period[from..].iter().map(|period| share_or_dash(period.battles, period.share)).collect(),
    }
}

fn failed(RecentFailures { drawn, failed, share }: RecentFailures) -> Option<[String; 2]> {
    Some([percent(share?), format!("{failed} / {drawn}")])
}

fn share_or_dash(battles: u64, share: f64) -> String {
    if battles == 0 { "–".to_owned() } else { percent(share) }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns the latest changes of all models, latest first, and their total number.
fn changes(register: &Register, words: &RegisterTexts) -> (Vec<ChangeRow>, usize) {
    let all = register.models.iter().flat_map(|entry| entry.changes.iter().map(move |change| (entry, change)));
    let mut all: Vec<_> = all.collect();
    let count = all.len();
    all.sort_by(|(one, left), (other, right)| {
        right.changed_at.cmp(&left.changed_at).then_with(|| one.id.cmp(&other.id))
    });
    let latest = all.into_iter().take(MAX_LISTED_CHANGES).map(|(entry, change)| change_row(entry, change, words));
    (latest.collect(), count)
}

fn change_row(entry: &RegisterEntry, change: &EntryChange, words: &RegisterTexts) -> ChangeRow {
    ChangeRow {
        at: ShownTime::new(change.changed_at),
        name: entry.name.clone(),
        what: words.change(change),
        reason: change.reason.clone(),
        by_command: change.author == ChangeAuthor::Command,
    }
}

fn pairing(period: &PairingPeriod, words: &RegisterTexts) -> PairingRow {
    PairingRow {
        from: time_text(period.from),
        until: period.until.map_or_else(|| words.in_force.to_owned(), time_text),
        policy: words.policy(&period.policy).to_owned(),
        version: period.policy_version,
        parameters: words.parameters(period),
    }
}
