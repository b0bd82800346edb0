//! Effect of exclusions on the published leaderboard. Without exclusions nothing is computed; otherwise all votes are fitted once for each
//! rule in force.

use super::background_report::{BackgroundReport, ReportError, VotesVersion, on_one_thread};
use crate::domain::integrity::exclusions::exclusion_report::ExclusionReport;
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::infra::storage::Store;
use crate::infra::stored_votes::vote_log::{LogQuery, read_cast_votes};

impl BackgroundReport<ExclusionReport> {
    /// Makes a new report if an input of the latest one changed. Returns whether it did.
    ///
    /// # Errors
    /// [`ReportError`]; the previous report stays.
    pub async fn refresh(&self) -> Result<bool, ReportError> {
        self.refresh_by(|version| compute_exclusion_report(&self.store, version)).await
    }
}

async fn compute_exclusion_report(store: &Store, version: VotesVersion) -> Result<ExclusionReport, ReportError> {
    let range = version.range();
    let in_force = store.exclusions_in_force(range).await?;
    if in_force.rules().is_empty() {
        return Ok(ExclusionReport::default());
    }
    let options = version.rating;
    let columns = ColumnSet { voters: options.interval.reads_voters(), ..ColumnSet::default() };
    let cast = read_cast_votes(store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
    on_one_thread(move || ExclusionReport::new(&cast, &in_force, &options)).await
}
