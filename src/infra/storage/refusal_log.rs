//! Logs that a server refuses statements on some tables, because of locks of other sessions or missing privileges: one line when the first
//! statement is refused, and one when votes are stored again or nothing has been refused for a while. Other tables can still be used, so
//! this is not an outage of the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{Database, Store};
use crate::storage::outage::OutageKind;

/// Time without refused statements after which refusals count as over: meanwhile statements on other tables succeed.
const RECOVERY_PERIOD: Duration = Duration::from_secs(30);

/// Refused statements by kind.
#[derive(Debug, Default)]
pub(super) struct RefusalLog {
    /// Whether there are any; checked after every statement.
    open: AtomicBool,
    /// One entry for each kind.
    refused: Mutex<Vec<RefusedStatements>>,
}

#[derive(Debug)]
struct RefusedStatements {
    kind: OutageKind,
    count: u64,
    /// Number of votes that could not be stored.
    votes: usize,
    latest: Instant,
}

impl RefusalLog {
    /// Records a refused statement.
    pub(super) fn note_refusal(&self, kind: OutageKind, error: &sqlx::Error) {
        let (mut refused, now) = (self.refused.lock(), Instant::now());
        self.open.store(true, Ordering::Relaxed);
        if let Some(known) = refused.iter_mut().find(|known| known.kind == kind) {
            (known.count, known.latest) = (known.count + 1, now);
            return;
        }
        log_begin(kind, error);
        refused.push(RefusedStatements { kind, count: 1, votes: 0, latest: now });
    }

    /// Records a refused group of this many votes.
    pub(super) fn note_refused_votes(&self, kind: OutageKind, votes: usize) {
        if let Some(known) = self.refused.lock().iter_mut().find(|known| known.kind == kind) {
            known.votes += votes;
        }
    }

    /// Records a successful statement.
    pub(super) fn note_success(&self) {
        self.end_matching("statements are no longer refused", |refused| refused.latest.elapsed() > RECOVERY_PERIOD);
    }

    /// Records that votes were stored.
    pub(super) fn note_stored_votes(&self) {
        self.end_matching("votes are stored again", |refused| refused.votes > 0);
    }

    /// Returns the reason why votes are refused, if they are.
    pub(super) fn of_votes(&self) -> Option<OutageKind> {
        self.refused.lock().iter().find(|refused| refused.votes > 0).map(|refused| refused.kind)
    }

    fn end_matching(&self, message: &str, is_over: impl Fn(&RefusedStatements) -> bool) {
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        let mut refused = self.refused.lock();
        refused.retain(|known| {
            let is_over = is_over(known);
            if is_over {
                log_end(known, message);
            }
            !is_over
        });
        self.open.store(!refused.is_empty(), Ordering::Relaxed);
    }
}

fn log_begin(kind: OutageKind, error: &sqlx::Error) {
    if kind == OutageKind::NoPrivilege {
        tracing::error!(error = %error, "statements are refused because the database's user lacks a right: `langya doctor` names it");
    } else {
        tracing::warn!(error = %error, "statements are refused while another session holds a lock that they need: pg_locks names it");
    }
}

fn log_end(refused: &RefusedStatements, message: &str) {
    let (statements, votes) = (refused.count, refused.votes);
    let cause = if refused.kind == OutageKind::NoPrivilege { "a missing right" } else { "a lock" };
    tracing::info!(cause, statements.refused = statements, votes.refused = votes, "{message}");
}

impl Database {
    /// Returns the log of refused statements; `None` for the embedded database, which has one lock and no users.
    pub(super) fn refusals(&self) -> Option<&RefusalLog> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(postgres) => Some(&postgres.refusals),
        }
    }
}

impl Store {
    /// Returns why a server refuses votes while other tables can be used: a lock of another session, or a missing privilege. `None` also
    /// once no statement has been refused for half a minute.
    #[must_use]
    pub fn refuses_votes(&self) -> Option<OutageKind> {
        self.database.refusals()?.of_votes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::test_log::logged_lines;

    #[tokio::test(start_paused = true)]
    async fn a_lock_is_logged_once_and_so_is_its_end_when_nothing_was_refused_for_a_while() {
        let (refusals, refusal) = (RefusalLog::default(), sqlx::Error::PoolTimedOut);
        let refuse = || refusals.note_refusal(OutageKind::TableLocked, &refusal);
        let begun = logged_lines(|| (0..3).for_each(|_| refuse()));
        assert!(begun.len() == 1 && begun[0].contains("statements are refused while another session"), "{begun:?}");
        tokio::time::advance(RECOVERY_PERIOD).await;
        assert!(logged_lines(|| refusals.note_success()).is_empty(), "another table is not locked");
        assert!(logged_lines(refuse).is_empty(), "it is the same lock");
        tokio::time::advance(2 * RECOVERY_PERIOD).await;
        let ended = logged_lines(|| refusals.note_success());
        assert!(ended.len() == 1 && ended[0].contains("statements.refused=4"), "{ended:?}");
        assert!(logged_lines(|| refusals.note_success()).is_empty());
        assert_eq!(logged_lines(refuse).len(), 1, "the next lock");
    }

    #[tokio::test(start_paused = true)]
    async fn votes_are_not_said_to_be_stored_where_none_was_sent_for_a_while() {
        let refusals = RefusalLog::default();
        refusals.note_refusal(OutageKind::TableLocked, &sqlx::Error::PoolTimedOut);
        refusals.note_refused_votes(OutageKind::TableLocked, 1);
        tokio::time::advance(2 * RECOVERY_PERIOD).await;
        let ended = logged_lines(|| refusals.note_success());
        assert!(ended.len() == 1 && ended[0].contains("statements are no longer refused"), "{ended:?}");
    }

    #[test]
    fn refused_votes_are_known_until_one_is_stored_and_add_no_line() {
        let (refusals, refusal) = (RefusalLog::default(), sqlx::Error::PoolTimedOut);
        let kinds = [OutageKind::TableLocked, OutageKind::NoPrivilege];
        let begun = logged_lines(|| {
            for kind in kinds {
                refusals.note_refusal(kind, &refusal);
                refusals.note_refusal(kind, &refusal);
            }
            assert_eq!(refusals.of_votes(), None);
            refusals.note_refused_votes(OutageKind::NoPrivilege, 3);
        });
        assert!(begun.len() == 2 && begun[1].contains("lacks a right: `langya doctor` names it"), "{begun:?}");
        assert_eq!(refusals.of_votes(), Some(OutageKind::NoPrivilege));
        let ended = logged_lines(|| (0..2).for_each(|_| refusals.note_stored_votes()));
        assert!(ended.len() == 1 && ended[0].contains("votes are stored again"), "the lock is not over: {ended:?}");
        assert!(ended[0].contains("a missing right") && ended[0].contains("votes.refused=3"), "{ended:?}");
        assert_eq!(refusals.of_votes(), None);
    }
}
