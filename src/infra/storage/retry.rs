//! Retries transient database errors: a lost connection, a restart of the server, a serialization conflict.
//!
//! One place for all statements: the macros that run them consult [`RetryPolicy`] after each failure. So every statement of this folder
//! must be safe to repeat if it is unknown whether its commit succeeded.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

use super::{Database, StoreError};
use crate::storage::outage::OutageKind;

/// Time after which no further attempt begins: enough for a server that restarts, and short of a visitor's patience.
const MAX_RETRY_TIME: Duration = Duration::from_secs(4);
/// First wait; doubled up to the maximum.
const INITIAL_RETRY_DELAY: Duration = Duration::from_millis(25);
const MAX_RETRY_DELAY: Duration = Duration::from_millis(800);
/// Time without failures after which a full disk, or a lack of connections, of a server counts as recovered.
const RECOVERY_PERIOD: Duration = Duration::from_secs(3);
/// A reload reaches a server's connections one after another, so checks may disagree: time without a failed check after which settings
/// count as recovered.
const RELOAD_RECOVERY_PERIOD: Duration = Duration::from_secs(1);
/// Connections broken by a server restart fail one by one: time after an outage during which no new one of the same kind is logged.
const LOG_COOLDOWN: Duration = Duration::from_secs(10);

/// Shared failure state of one database. The beginning and the end of an outage are logged once, not for each failed statement: callers
/// need not log it again (see [`StoreError::is_outage`]).
#[derive(Debug, Default)]
pub(super) struct Outage {
    state: Mutex<OutageState>,
    /// Whether there is an outage; checked after every statement.
    open: AtomicBool,
    waits: AtomicU32,
}

#[derive(Debug, Default)]
struct OutageState {
    /// Kind of the current outage.
    kind: Option<OutageKind>,
    /// Logged kinds; one outage may show in several ways.
    logged: Vec<OutageKind>,
    /// Logged kinds of the latest outage that has ended.
    logged_before: Vec<OutageKind>,
    met_at: Option<Instant>,
    ended_at: Option<Instant>,
    /// Whether it has failed a write.
    stops_writes: bool,
    /// Time at which the database last accepted a write after it had been read-only.
    writable_at: Option<Instant>,
}

impl Outage {
    /// Returns the kind of the current outage, if any.
    pub(super) fn kind(&self) -> Option<OutageKind> {
        if self.open.load(Ordering::Relaxed) { self.state().kind } else { None }
    }

    /// Records an outage detected without a failed statement.
    pub(super) fn note(&self, kind: OutageKind) {
        self.meets(kind, &kind);
    }

    fn meets(&self, kind: OutageKind, error: &dyn std::fmt::Display) {
        let mut state = self.state();
        // Outages after a corrupt file may end, but the corruption stays.
        state.kind = state.kind.filter(|former| former.needs_restart()).or(Some(kind));
        state.met_at = Some(Instant::now());
        self.open.store(true, Ordering::Relaxed);
        let is_recent = state.logged.is_empty() && state.ended_at.is_some_and(|at| at.elapsed() < LOG_COOLDOWN);
        let quiet = is_recent && state.logged_before.contains(&kind);
        if !quiet && !state.logged.contains(&kind) {
            state.logged.push(kind);
            tracing::error!(reason = %kind, error = %error, "the database fails: nothing is stored until it is repaired");
        }
    }

    /// Records a failed write: only a write can show the end of the outage.
    fn note_failed_write(&self) {
        let mut state = self.state();
        state.stops_writes = state.kind.is_some();
    }

    /// Whether a successful statement would have been affected by the outage: it began after the last failure, and it writes if writes
    /// fail.
    fn would_affect(&self, kind: OutageKind, writes: bool, tried_at: Instant) -> bool {
        let state = self.state();
        let reaches = writes || !(kind.stops_writes_only() || state.stops_writes);
        reaches && state.met_at.is_none_or(|met_at| met_at <= tried_at)
    }

    /// Whether one successful statement shows the end. On a full disk a short one may succeed while longer ones fail, as may one on an
    /// existing connection while no new one is available: there the end needs a while without failures. Lost durability shows in no
    /// statement, so only another check of the settings ends it.
    fn may_be_over(&self, kind: OutageKind) -> bool {
        if kind.loses_commits() {
            return false;
        }
        let passes_some = matches!(kind, OutageKind::DiskFull | OutageKind::NoConnection);
        !passes_some || self.state().met_at.is_none_or(|at| at.elapsed() > RECOVERY_PERIOD)
    }

    /// Records that a check on one connection found the server's settings durable.
    pub(super) fn looks_durable(&self) {
        let settled = self.state().met_at.is_none_or(|at| at.elapsed() > RELOAD_RECOVERY_PERIOD);
        if settled && self.kind().is_some_and(|kind| kind.loses_commits() && !kind.needs_restart()) {
            self.ends();
        }
    }

    /// Whether a session of this age may still refuse writes: it began before the read-only database accepted them again.
    pub(super) fn may_refuse_writes(&self, age: Duration) -> bool {
        self.state().writable_at.is_some_and(|at| at.elapsed() < age)
    }

    fn ends(&self) {
        let (mut state, now) = (self.state(), Instant::now());
        if state.kind.take() == Some(OutageKind::ReadOnly) {
            state.writable_at = Some(now);
        }
        self.open.store(false, Ordering::Relaxed);
        (state.ended_at, state.stops_writes) = (Some(now), false);
        if !state.logged.is_empty() {
            state.logged_before = std::mem::take(&mut state.logged);
            tracing::info!("the database answers again");
        }
    }

    fn state(&self) -> MutexGuard<'_, OutageState> {
        // The state is valid after each statement, so a panic elsewhere does not spoil it.
        self.state.lock()
    }

    /// Spreads the waits of many callers evenly over a half to one and a half of `wait`, in steps of the golden ratio.
    fn spread(&self, wait: Duration) -> Duration {
        let step = self.waits.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id());
        wait / 2 + wait.mul_f64(f64::from(step.wrapping_mul(0x9E37_79B9)) / f64::from(u32::MAX))
    }
}

/// Retries of one statement.
pub(super) struct RetryPolicy<'a> {
    database: &'a Database,
    writes: bool,
    began: Instant,
    /// Start of the latest attempt.
    tried_at: Instant,
    wait: Duration,
}

impl<'a> RetryPolicy<'a> {
    /// Creates the policy of a statement that only reads.
    pub(super) fn reader(database: &'a Database) -> Self {
        let now = Instant::now();
        Self { database, writes: false, began: now, tried_at: now, wait: INITIAL_RETRY_DELAY }
    }

    /// Creates the policy of a statement that writes.
    pub(super) fn writer(database: &'a Database) -> Self {
        Self { writes: true, ..Self::reader(database) }
    }

    /// Decides whether to retry, and waits before it.
    pub(super) async fn wait_after(&mut self, error: &StoreError) -> bool {
        self.note_failure(error);
        if !self.database.is_transient(error) {
            return false;
        }
        let pause = self.database.outage().spread(self.wait);
        if self.began.elapsed() + pause > MAX_RETRY_TIME {
            return false;
        }
        sleep(pause).await;
        self.wait = (2 * self.wait).min(MAX_RETRY_DELAY);
        self.tried_at = Instant::now();
        true
    }

    /// Records a failed attempt in the outage state.
    pub(super) fn note_failure(&self, failure: &StoreError) {
        let outage = self.database.outage();
        if let StoreError::Database(error) = failure {
            match self.outage_kind(error) {
                Some(kind) if kind.is_of_tables() => {
                    if let Some(refusals) = self.database.refusals() {
                        refusals.note_refusal(kind, error);
                    }
                }
                // A reader is blocked by other locks than the write lock, and only a write shows that this one is free again.
                Some(OutageKind::WriteLocked) if !self.writes => {}
                Some(kind) => outage.meets(kind, error),
                None => {}
            }
        }
        if self.writes && failure.is_outage() {
            outage.note_failed_write();
        }
    }

    fn outage_kind(&self, error: &sqlx::Error) -> Option<OutageKind> {
        match self.database {
            Database::Sqlite(pools) => OutageKind::of_embedded(error, &pools.folder),
            Database::Postgres(_) => OutageKind::from_error(error),
        }
    }

    /// Records a successful statement: an outage that would have affected it is over.
    pub(super) async fn on_success(self) {
        if let Some(refusals) = self.database.refusals() {
            refusals.note_success();
        }
        let outage = self.database.outage();
        let Some(kind) = outage.kind() else { return };
        let meets = || outage.would_affect(kind, self.writes, self.tried_at);
        // Other statements may fail during the disk check.
        if meets() && outage.may_be_over(kind) && self.database.has_room().await && meets() {
            outage.ends();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sqlx::Connection;
    use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

    use super::*;
    use crate::storage::IfMissing;
    use crate::storage::sqlite::SqlitePools;
    use crate::storage::test_log::logged_lines;

    #[test]
    fn waits_are_spread_evenly_around_their_middle() {
        let (outage, wait) = (Outage::default(), Duration::from_millis(100));
        let waits: Vec<u128> = (0..100).map(|_| outage.spread(wait).as_millis()).collect();
        assert!(waits.iter().all(|wait| (50..=150).contains(wait)), "{waits:?}");
        for tenth in (50..150).step_by(10) {
            let within = waits.iter().filter(|wait| (tenth..tenth + 10).contains(*wait)).count();
            assert!((8..=12).contains(&within), "{within} of 100 waits from {tenth} ms: {waits:?}");
        }
    }

    /// Returns SQLite's error for a lock that another connection holds.
    async fn busy(folder: &Path) -> StoreError {
        let options = SqliteConnectOptions::new().filename(folder.join("busy.db")).create_if_missing(true);
        let options = options.busy_timeout(Duration::ZERO);
        let mut holder = SqliteConnection::connect_with(&options).await.unwrap();
        let mut other = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut holder).await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap_err().into()
    }

    #[tokio::test]
    async fn only_a_write_shows_that_the_write_lock_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let pools = SqlitePools::open(folder.path().join("langya.db"), IfMissing::Create).await.unwrap();
        let (database, busy) = (Database::Sqlite(pools), busy(folder.path()).await);
        assert!(RetryPolicy::reader(&database).wait_after(&busy).await, "it reads again");
        assert_eq!(database.outage().kind(), None);
        assert!(RetryPolicy::writer(&database).wait_after(&busy).await, "it writes again");
        assert_eq!(database.outage().kind(), Some(OutageKind::WriteLocked));
    }

    #[tokio::test]
    async fn an_outage_ends_with_what_failed_and_not_with_what_began_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let pools = SqlitePools::open(folder.path().join("langya.db"), IfMissing::Create).await.unwrap();
        let (database, failure) = (Database::Sqlite(pools), StoreError::from(sqlx::Error::PoolTimedOut));
        let is_over = || database.outage().kind().is_none();
        let early = RetryPolicy::writer(&database);
        RetryPolicy::reader(&database).note_failure(&failure);
        early.on_success().await;
        assert!(!is_over(), "that write began before the failure");
        RetryPolicy::reader(&database).on_success().await;
        assert!(is_over(), "only reads had failed");
        RetryPolicy::writer(&database).note_failure(&failure);
        RetryPolicy::reader(&database).on_success().await;
        assert!(!is_over(), "reads go on where writes fail");
        RetryPolicy::writer(&database).on_success().await;
        assert!(is_over());
        RetryPolicy::reader(&database).note_failure(&failure);
        RetryPolicy::reader(&database).on_success().await;
        assert!(is_over(), "the next outage is not that of writes");
    }

    #[tokio::test]
    async fn an_outage_does_not_end_where_another_statement_fails_while_the_disk_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let pools = SqlitePools::open(folder.path().join("langya.db"), IfMissing::Create).await.unwrap();
        let (database, failure) = (Database::Sqlite(pools), StoreError::from(sqlx::Error::PoolTimedOut));
        RetryPolicy::reader(&database).note_failure(&failure);
        let success = RetryPolicy::reader(&database).on_success();
        tokio::join!(success, async { RetryPolicy::reader(&database).note_failure(&failure) });
        assert_eq!(database.outage().kind(), Some(OutageKind::Unreachable));
        RetryPolicy::reader(&database).on_success().await;
        assert_eq!(database.outage().kind(), None);
    }

    /// Returns the log lines of this operation.
    fn logged(happening: impl FnOnce(&Outage)) -> Vec<String> {
        logged_lines(|| happening(&Outage::default()))
    }

    #[test]
    fn an_outage_is_logged_once_in_each_of_its_ways_and_so_is_its_end() {
        let lines = logged(|outage| {
            for kind in [OutageKind::DiskFull, OutageKind::Unreachable, OutageKind::DiskFull, OutageKind::Unreachable] {
                outage.meets(kind, &sqlx::Error::PoolTimedOut);
                assert_eq!(outage.kind(), Some(kind));
            }
            outage.ends();
            assert_eq!(outage.kind(), None);
        });
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("is full: free some space") && lines[1].contains("start its server"), "{lines:?}");
        assert!(lines[2].contains("answers again"), "{lines:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_disk_is_not_over_with_the_first_statement_that_comes_through() {
        let outage = Outage::default();
        for kind in [OutageKind::Unreachable, OutageKind::DiskFull, OutageKind::NoConnection] {
            outage.meets(kind, &sqlx::Error::PoolTimedOut);
            assert_eq!(outage.may_be_over(kind), kind == OutageKind::Unreachable);
        }
        tokio::time::advance(2 * RECOVERY_PERIOD).await;
        assert!(outage.may_be_over(OutageKind::DiskFull) && outage.may_be_over(OutageKind::NoConnection));
    }

    #[tokio::test(start_paused = true)]
    async fn only_sessions_from_before_a_read_only_database_took_writes_again_may_refuse_them() {
        let (outage, second) = (Outage::default(), Duration::from_secs(1));
        for kind in [OutageKind::Unreachable, OutageKind::ReadOnly] {
            outage.note(kind);
            outage.ends();
            tokio::time::advance(2 * second).await;
            assert_eq!(outage.may_refuse_writes(3 * second), kind == OutageKind::ReadOnly);
            assert!(!outage.may_refuse_writes(second));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn settings_that_one_connection_shows_mended_are_so_only_when_none_shows_otherwise() {
        let outage = Outage::default();
        outage.note(OutageKind::FsyncOff);
        outage.looks_durable();
        assert_eq!(outage.kind(), Some(OutageKind::FsyncOff));
        tokio::time::advance(2 * RELOAD_RECOVERY_PERIOD).await;
        outage.looks_durable();
        assert_eq!(outage.kind(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_right_after_an_outage_belongs_to_it() {
        let meets = |outage: &Outage| outage.meets(OutageKind::Unreachable, &sqlx::Error::PoolTimedOut);
        let (first, second) = (Outage::default(), Outage::default());
        let lines = logged(|_| {
            meets(&first);
            first.ends();
            meets(&first);
            first.ends();
        });
        assert_eq!(lines.len(), 2, "{lines:?}");
        meets(&second);
        second.ends();
        tokio::time::advance(LOG_COOLDOWN).await;
        assert_eq!(logged(|_| meets(&second)).len(), 1);
    }

    #[test]
    fn what_fails_in_another_way_right_after_an_outage_is_logged() {
        let meets = |outage: &Outage, kind| outage.meets(kind, &sqlx::Error::PoolTimedOut);
        let lines = logged(|outage| {
            for kind in [OutageKind::Unreachable, OutageKind::ReadOnly, OutageKind::ReadOnly] {
                meets(outage, kind);
                outage.ends();
            }
        });
        let said: Vec<bool> = lines.iter().map(|line| line.contains("it is read-only")).collect();
        assert_eq!(said, [false, false, true, false], "each with its end, and the second of a kind silent: {lines:?}");
    }
}
