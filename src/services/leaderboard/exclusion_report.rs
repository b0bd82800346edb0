//! What exclusions change on the published leaderboard. Without exclusions it costs nothing; otherwise all votes are fitted once
//! for each rule in force.

use std::sync::Arc;

use super::background_report::{BackgroundReport, InputVersion, ReportError, on_one_thread};
use super::vote_log::{LogQuery, read_cast_votes};
use crate::domain::integrity::board_change::BoardChange;
use crate::domain::integrity::cast_votes::CastVotes;
use crate::domain::integrity::exclusions_in_force::ExclusionsInForce;
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::ranking::rank_log;
use crate::domain::rating::vote_log::ColumnSet;
use crate::infra::storage::Store;

/// What the votes of each rule would change if they were rated.
#[derive(Debug, Default)]
pub struct ExclusionReport {
    /// By rule, in alphabetical order.
    pub rules: Vec<RuleEffect>,
}

/// What would change without a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleEffect {
    /// Name of the rule.
    pub rule: String,
    /// Votes that would be rated.
    pub votes: u64,
    /// Models whose rank would change.
    pub ranks_changed: usize,
    /// The largest change of a rating, in points; `None` where no model has a rating on both leaderboards.
    pub largest_change: Option<f64>,
}

impl ExclusionReport {
    /// What would change without a rule, once that is known.
    #[must_use]
    pub fn effect_of(&self, rule: &str) -> Option<&RuleEffect> {
        self.rules.iter().find(|effect| effect.rule == rule)
    }
}

impl BackgroundReport<ExclusionReport> {
    /// Makes a new report if anything changed that the latest one depends on. Returns whether it did.
    ///
    /// # Errors
    /// [`ReportError`]; the previous report stays.
    pub async fn refresh(&self) -> Result<bool, ReportError> {
        self.refresh_by(|version| make(&self.store, version)).await
    }
}

async fn make(store: &Store, version: InputVersion) -> Result<ExclusionReport, ReportError> {
    let range = version.range();
    let in_force = store.exclusions_in_force(range).await?;
    if in_force.rules().is_empty() {
        return Ok(ExclusionReport::default());
    }
    let options = version.rating;
    let columns = ColumnSet { voters: options.interval.reads_voters(), ..ColumnSet::default() };
    let cast = read_cast_votes(store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
    let rules = on_one_thread(move || effects(&cast, &in_force, &options)).await?;
    Ok(ExclusionReport { rules })
}

fn effects(
    cast: &CastVotes,
    in_force: &ExclusionsInForce,
    options: &LeaderboardOptions,
) -> Result<Vec<RuleEffect>, FitError> {
    let board = rank_log(&cast.rated(in_force), options)?;
    let effect = |rule: &Arc<str>| {
        let without = rank_log(&cast.rated(&in_force.clone().without_rule(rule)), options)?;
        let change = BoardChange::between(&board, &without);
        Ok(RuleEffect {
            rule: rule.to_string(),
            votes: change.votes_after - change.votes_before,
            ranks_changed: change.ranks_changed,
            largest_change: change.largest_change,
        })
    };
    in_force.rules().iter().map(effect).collect()
}
