//! The first page of the admin.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::integrity::voter_check_state::VoterCheckState;
use crate::infra::storage::AdminOverview;
use crate::time::time_text;

/// A model that is active or paused.
pub struct OverviewModel {
    pub name: String,
    /// Pairing weight; 0 pauses.
    pub weight: f64,
    /// Whether its breaker lets requests through.
    pub healthy: bool,
    /// Failures in a row.
    pub failures: u32,
}

/// A step on the way to an arena in use.
pub struct FirstStep {
    pub is_done: bool,
    /// Where it is done.
    pub path: &'static str,
    pub text: &'static str,
    pub hint: &'static str,
}

impl OverviewModel {
    fn is_paused(&self) -> bool {
        self.weight <= 0.0
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/overview.html")]
pub struct OverviewPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub overview: AdminOverview,
    /// None where the arena is in use.
    pub first_steps: Vec<FirstStep>,
    pub models: Vec<OverviewModel>,
    /// Rated votes of the leaderboard.
    pub rated: u64,
    pub fitted_ms: Option<i64>,
    /// Whether something is known to be wrong with the database.
    pub database_outage: bool,
    /// How the checks of voters are doing; `None` where flagged voters are only listed.
    pub voter_check: Option<VoterCheckState>,
    /// Since when the moderation service does not answer.
    pub moderation_failing_since: Option<String>,
}

impl OverviewPage {
    fn fitted(&self) -> String {
        self.fitted_ms.map_or_else(|| "–".to_owned(), time_text)
    }

    fn checked(&self) -> Option<String> {
        let checked_at = self.voter_check?.checked_at;
        Some(checked_at.map_or_else(|| "–".to_owned(), |time| time_text(time.0)))
    }

    fn check_failing_since(&self) -> Option<String> {
        self.voter_check?.failing_since.map(|time| time_text(time.0))
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, milliseconds: &i64) -> String {
        time_text(*milliseconds)
    }
}
