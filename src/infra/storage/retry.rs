//! Retries transient database errors: a lost connection, a restart of the server, a serialization conflict.
//!
//! One place for all statements: the macros that run them ask [`RetryPolicy`] after each failure. So every statement of this
//! folder is safe to send again when nobody knows whether its commit came through.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

use super::{Database, StoreError};
use crate::storage::outage::OutageKind;

/// No further try begins after this long: enough for a server that restarts, and short of a visitor's patience.
const LONGEST: Duration = Duration::from_secs(4);
/// The first wait; doubled up to the longest one.
const FIRST_WAIT: Duration = Duration::from_millis(25);
const LONGEST_WAIT: Duration = Duration::from_millis(800);
/// A server's disk that was full, and a server that had no connection left, count as recovered when for so long nothing has failed of it.
const SETTLED: Duration = Duration::from_secs(3);
/// A reload reaches a server's connections one after another, so one look may still show, or no longer show, what another
/// one found: settings count as recovered when for so long no look has found them otherwise.
const RELOADED: Duration = Duration::from_secs(1);
/// Connections that a restarted server has forgotten fail one by one: for so long after an end no new outage of the same kind is logged.
const QUIET: Duration = Duration::from_secs(10);

/// What all statements on one database know of its failures. An outage is logged once, and so is its end, not for each
/// statement that meets it: the caller need not log it again (see [`StoreError::is_outage`]).
#[derive(Debug, Default)]
pub(super) struct Outage {
    state: Mutex<OutageState>,
    /// Whether there is one; asked after every statement.
    open: AtomicBool,
    waits: AtomicU32,
}

#[derive(Debug, Default)]
struct OutageState {
    /// What is wrong at the moment.
    kind: Option<OutageKind>,
    /// What the log has of it; one outage may show in several ways.
    logged: Vec<OutageKind>,
    /// The same of the latest outage that was logged and has ended.
    logged_before: Vec<OutageKind>,
    met_at: Option<Instant>,
    ended_at: Option<Instant>,
    /// Whether a write has failed of it.
    stops_writes: bool,
    /// When the database last took a write after it had been read-only.
    writable_at: Option<Instant>,
}

impl Outage {
    /// What is wrong with the database, if anything.
    pub(super) fn kind(&self) -> Option<OutageKind> {
        if self.open.load(Ordering::Relaxed) { self.state().kind } else { None }
    }

    /// Records what was found out without a failed statement.
    pub(super) fn note(&self, kind: OutageKind) {
        self.meets(kind, &kind);
    }

    fn meets(&self, kind: OutageKind, error: &dyn std::fmt::Display) {
        let mut state = self.state();
        // What comes after a damaged file ends, and the damage does not.
        state.kind = state.kind.filter(|former| former.lasts()).or(Some(kind));
        state.met_at = Some(Instant::now());
        self.open.store(true, Ordering::Relaxed);
        let is_recent = state.logged.is_empty() && state.ended_at.is_some_and(|at| at.elapsed() < QUIET);
        let quiet = is_recent && state.logged_before.contains(&kind);
        if !quiet && !state.logged.contains(&kind) {
            state.logged.push(kind);
            tracing::error!(reason = %kind, error = %error, "the database fails: nothing is stored until it is repaired");
        }
    }

    /// A write has failed: only a write shows the end of what is wrong.
    fn note_failed_write(&self) {
        let mut state = self.state();
        state.stops_writes = state.kind.is_some();
    }

    /// Whether a statement that came through would have met the outage: it began after the last failure, and it writes where
    /// writes fail.
    fn would_meet(&self, kind: OutageKind, writes: bool, tried_at: Instant) -> bool {
        let state = self.state();
        let reaches = writes || !(kind.stops_writes_only() || state.stops_writes);
        reaches && state.met_at.is_none_or(|met_at| met_at <= tried_at)
    }

    /// Whether one statement that came through shows the end. On a full disk a short one may come through where longer
    /// ones fail, and on a connection from before where no new one is to be had, so there it shows it only when nothing has
    /// failed for a while. That a server loses commits shows in no statement, so only another look at its settings ends it.
    fn may_be_over(&self, kind: OutageKind) -> bool {
        if kind.loses_commits() {
            return false;
        }
        let passes_some = matches!(kind, OutageKind::DiskFull | OutageKind::NoConnection);
        !passes_some || self.state().met_at.is_none_or(|at| at.elapsed() > SETTLED)
    }

    /// The server's settings were looked at on one connection, and keep commits.
    pub(super) fn looks_durable(&self) {
        let settled = self.state().met_at.is_none_or(|at| at.elapsed() > RELOADED);
        if settled && self.kind().is_some_and(|kind| kind.loses_commits() && !kind.lasts()) {
            self.ends();
        }
    }

    /// Whether a session of this age may still refuse writes: it began before the database, which was read-only, took them again.
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

/// The further tries of one statement.
pub(super) struct RetryPolicy<'a> {
    database: &'a Database,
    writes: bool,
    began: Instant,
    /// When the latest try began.
    tried_at: Instant,
    wait: Duration,
}

impl<'a> RetryPolicy<'a> {
    /// For a statement that only reads.
    pub(super) fn reader(database: &'a Database) -> Self {
        let now = Instant::now();
        Self { database, writes: false, began: now, tried_at: now, wait: FIRST_WAIT }
    }

    /// For a statement that writes.
    pub(super) fn writer(database: &'a Database) -> Self {
        Self { writes: true, ..Self::reader(database) }
    }

    /// Whether to try once more, after a pause.
    pub(super) async fn wait_after(&mut self, error: &StoreError) -> bool {
        self.note_failure(error);
        if !self.database.is_transient(error) {
            return false;
        }
        let pause = self.database.outage().spread(self.wait);
        if self.began.elapsed() + pause > LONGEST {
            return false;
        }
        sleep(pause).await;
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        self.tried_at = Instant::now();
        true
    }

    /// Records what a failed try shows of the database.
    pub(super) fn note_failure(&self, failure: &StoreError) {
        let outage = self.database.outage();
        if let StoreError::Database(error) = failure {
            match self.outage_kind(error) {
                Some(kind) if kind.is_of_tables() => {
                    if let Some(refusals) = self.database.refusals() {
                        refusals.note_refusal(kind, error);
                    }
                }
                // A reader meets other locks than that of writes, and only a write shows that this one is free again.
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

    /// The statement came through: an outage that it would have met is over.
    pub(super) async fn on_success(self) {
        if let Some(refusals) = self.database.refusals() {
            refusals.note_success();
        }
        let outage = self.database.outage();
        let Some(kind) = outage.kind() else { return };
        let meets = || outage.would_meet(kind, self.writes, self.tried_at);
        // Other statements may fail while the disk is tried.
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

    /// How SQLite refuses a lock that another connection holds.
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

    /// What the log holds after this.
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
        tokio::time::advance(2 * SETTLED).await;
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
        tokio::time::advance(2 * RELOADED).await;
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
        tokio::time::advance(QUIET).await;
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
