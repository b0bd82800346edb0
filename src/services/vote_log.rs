//! The votes of the database as columns, for fits that look at more than the published leaderboard does.

use crate::rating::vote_log::VoteLog;
use crate::storage::{ComparisonRow, Store};

use super::leaderboard::RefitError;

/// Votes read at a time.
const PAGE: u32 = 20_000;
/// How votes are counted that no rule is named for.
const UNNAMED_RULE: &str = "not_rated";

/// Reads the whole log of votes. Votes that are not rated are counted and left out.
///
/// # Errors
/// [`RefitError`].
pub async fn read_log(store: &Store) -> Result<VoteLog, RefitError> {
    let mut log = VoteLog::default();
    let mut last = 0;
    loop {
        let page = store.comparisons_after(last, PAGE).await?;
        for row in &page {
            add(&mut log, row)?;
            last = row.seq;
        }
        if page.len() < PAGE as usize {
            return Ok(log);
        }
    }
}

fn add(log: &mut VoteLog, row: &ComparisonRow) -> Result<(), RefitError> {
    if row.rated {
        log.push(&row.models[0], &row.models[1], row.outcome)?;
    } else {
        *log.excluded.entry(UNNAMED_RULE.into()).or_default() += 1;
    }
    Ok(())
}
