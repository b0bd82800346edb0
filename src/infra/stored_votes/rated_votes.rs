//! Rated votes with their voters in memory, for leave-one-voter-out intervals.
//!
//! A vote takes 13 bytes and a voter about a hundred, so two million votes of 200,000 voters take 50 MB.

use std::sync::Arc;

use super::vote_log::{LogQuery, ReadLogError, read_log};
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::storage::{Store, VoteRange};

/// Rated votes, and the position in the log.
#[derive(Debug, Default)]
pub struct RatedVotes {
    log: Arc<VoteLog>,
    last_seq: i64,
    exclusion_changes: i64,
}

impl RatedVotes {
    /// Reads the votes after the present ones, up to `upto`; all of them again if exclusions changed since.
    ///
    /// # Errors
    /// [`ReadLogError`]; the present votes stay, unless exclusions changed: then the next call reads all of them.
    pub async fn catch_up(
        &mut self,
        store: &Store,
        upto: i64,
        exclusion_changes: i64,
    ) -> Result<Arc<VoteLog>, ReadLogError> {
        let columns = ColumnSet { voters: true, ..ColumnSet::default() };
        if self.last_seq == 0 || self.exclusion_changes != exclusion_changes {
            *self = Self { log: Arc::new(VoteLog::with_columns(columns)), last_seq: 0, exclusion_changes };
        }
        if self.last_seq < upto {
            let range = VoteRange { after: self.last_seq, upto, ..VoteRange::ALL };
            let mut new = read_log(store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
            // The leaderboard's tally counts these.
            new.excluded.clear();
            Arc::make_mut(&mut self.log).append(&new);
            self.last_seq = upto;
        }
        Ok(Arc::clone(&self.log))
    }
}
