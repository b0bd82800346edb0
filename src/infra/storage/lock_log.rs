//! Logs that other sessions of a server hold locks which statements need: one line when the first statement is refused, and one when
//! none has been for a while. It says nothing of votes, whose refusals `write_queue` counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Database;

/// Locks count as free when for so long no statement was refused: statements on other tables come through all the while.
const FREE_AFTER: Duration = Duration::from_secs(30);

/// The statements that locks keep out.
#[derive(Debug, Default)]
pub(super) struct LockLog {
    /// Whether there are any; asked after every statement.
    open: AtomicBool,
    refused: Mutex<Option<RefusedStatements>>,
}

#[derive(Debug)]
struct RefusedStatements {
    count: u64,
    latest: Instant,
}

impl LockLog {
    /// A statement has waited for a lock until its time was up.
    pub(super) fn note_refusal(&self, error: &sqlx::Error) {
        let (mut refused, now) = (self.refused.lock(), Instant::now());
        let refused = refused.get_or_insert_with(|| {
            tracing::warn!(error = %error, "statements are refused while another session holds a lock that they need: pg_locks names it");
            RefusedStatements { count: 0, latest: now }
        });
        (refused.count, refused.latest) = (refused.count + 1, now);
        self.open.store(true, Ordering::Relaxed);
    }

    /// A statement came through.
    pub(super) fn note_success(&self) {
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        let mut refused = self.refused.lock();
        let ended = refused.take_if(|refused| refused.latest.elapsed() > FREE_AFTER);
        if let Some(RefusedStatements { count, .. }) = ended {
            self.open.store(false, Ordering::Relaxed);
            tracing::info!(statements.refused = count, "statements no longer time out waiting for a lock");
        }
    }
}

impl Database {
    /// Where refused statements are logged; `None` for the embedded database, which has one lock, and for votes.
    pub(super) fn locks(&self) -> Option<&LockLog> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(postgres) => postgres.locks.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::test_log::logged_lines;

    #[tokio::test(start_paused = true)]
    async fn a_lock_is_logged_once_and_so_is_its_end_when_nothing_was_refused_for_a_while() {
        let (locks, refusal) = (LockLog::default(), sqlx::Error::PoolTimedOut);
        let refuse = || locks.note_refusal(&refusal);
        let begun = logged_lines(|| (0..3).for_each(|_| refuse()));
        assert!(begun.len() == 1 && begun[0].contains("statements are refused while another session"), "{begun:?}");
        tokio::time::advance(FREE_AFTER).await;
        assert!(logged_lines(|| locks.note_success()).is_empty(), "another table is not locked");
        assert!(logged_lines(refuse).is_empty(), "it is the same lock");
        tokio::time::advance(2 * FREE_AFTER).await;
        let ended = logged_lines(|| locks.note_success());
        assert!(ended.len() == 1 && ended[0].contains("statements.refused=4"), "{ended:?}");
        assert!(logged_lines(|| locks.note_success()).is_empty());
        assert_eq!(logged_lines(refuse).len(), 1, "the next lock");
    }
}
