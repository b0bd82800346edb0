//! The first page of the admin.

use askama::Template;

use super::AdminFrame;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::services::admin::overview::Overview;
use crate::services::exclusions::voter_check::CheckState;

/// A model that takes part.
pub(crate) struct OverviewModel {
    pub(crate) name: String,
    /// Pairing weight; 0 pauses.
    pub(crate) weight: f64,
    /// Whether its breaker lets requests through.
    pub(crate) healthy: bool,
    /// Failures in a row.
    pub(crate) failures: u32,
}

/// A step on the way to an arena in use.
pub(crate) struct FirstStep {
    pub(crate) is_done: bool,
    /// Where it is done.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    pub(crate) hint: &'static str,
}

impl OverviewModel {
    fn is_paused(&self) -> bool {
        self.weight <= 0.0
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/overview.html")]
pub(crate) struct OverviewPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) overview: Overview,
    /// None where the arena is in use.
    pub(crate) first_steps: Vec<FirstStep>,
    pub(crate) models: Vec<OverviewModel>,
    /// Rated votes of the leaderboard.
    pub(crate) rated: u64,
    pub(crate) fitted_ms: Option<i64>,
    /// Whether something is known to be wrong with the database.
    pub(crate) database_outage: bool,
    /// How the checks of voters are doing; `None` where flagged voters are only listed.
    pub(crate) voter_check: Option<CheckState>,
    /// Since when the moderation service does not answer.
    pub(crate) moderation_failing_since: Option<String>,
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
