//! Robustness of the published leaderboard, and the cost of rigging it.

use super::background_report::{BackgroundReport, ReportError, VotesVersion, on_one_thread};
use crate::domain::integrity::rigging::rigging_report::{RiggingReport, rigging_report};
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::robustness::{OverallRobustness, RobustnessOptions, overall_robustness};
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::domain::time::Timestamp;
use crate::infra::storage::Store;
use crate::infra::stored_votes::vote_log::{LogQuery, read_log};
use crate::infra::time::clock::Clock;

/// Robustness report with its time.
#[derive(Debug, Default)]
pub struct RobustnessReport {
    /// Time of the report; `None` before the first.
    pub computed_at: Option<Timestamp>,
    /// Robustness of the leaderboard.
    pub overall: OverallRobustness,
    /// Cost of rigging, and signs of it.
    pub rigging: RiggingReport,
}

impl BackgroundReport<RobustnessReport> {
    /// Makes a new report if an input of the latest one changed. Returns whether it did.
    ///
    /// # Errors
    /// [`ReportError`]; the previous report stays.
    pub async fn refresh(&self, clock: &dyn Clock) -> Result<bool, ReportError> {
        self.refresh_by(|version| compute_report(&self.store, version, clock)).await
    }
}

async fn compute_report(
    store: &Store,
    version: VotesVersion,
    clock: &dyn Clock,
) -> Result<RobustnessReport, ReportError> {
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    let log = read_log(store, LogQuery { columns, range: version.range(), concurrency: 1 }, |_, _| {}).await?;
    let LeaderboardOptions { scoring, confidence, .. } = version.rating;
    let options = RobustnessOptions { scoring, confidence, ..RobustnessOptions::default() };
    let reports = move || Ok((overall_robustness(&log, options)?, rigging_report(&log, options.seed)?));
    let (overall, rigging) = on_one_thread(reports).await?;
    Ok(RobustnessReport { computed_at: Some(clock.now()), overall, rigging })
}
