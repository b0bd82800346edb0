//! Kinds of database outages, described with a remedy.

use std::path::Path;

use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

use crate::disk;

/// Kind of a database outage: unavailable, or read-only, until it is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutageKind {
    /// No connection, no response, or a server that is starting or stopping.
    #[error("it cannot be reached or does not answer: start its server, or look at its load")]
    Unreachable,
    /// `53300`
    #[error("its server has no connection left: raise its max_connections, or lower storage.max_connections")]
    NoConnection,
    /// The password was changed, or the user may no longer connect.
    #[error("it refuses the user or the password: correct them on the server or in storage.database")]
    Denied,
    /// `42501`: a privilege on some tables was revoked. The others can be used.
    #[error("its user lacks a right that the arena needs: GRANT it (`langya doctor` names it)")]
    NoPrivilege,
    /// A standby, or `default_transaction_read_only`.
    #[error("it is read-only: use the address of the primary server, or turn default_transaction_read_only off")]
    ReadOnly,
    /// A reload, or a failover to a server with other settings.
    #[error("its server runs with fsync = off and would lose votes in a crash: turn it on")]
    FsyncOff,
    /// A reload, or a failover to a server with other settings.
    #[error("its server runs with full_page_writes = off and could lose votes in a crash: turn it on")]
    FullPageWritesOff,
    /// `53100`
    #[error("the disk that holds it is full: free some space")]
    DiskFull,
    /// The embedded database, on a full disk.
    #[error("the disk that holds the data folder is full: free some space")]
    FolderFull,
    /// The embedded database, on a disk that fails or is read-only.
    #[error("the data folder cannot be read or written: check its disk and its permissions")]
    FolderUnusable,
    /// The embedded database: a write timed out waiting for the write lock.
    #[error(
        "another program holds its write lock: wait until that program ends, or end it (`fuser` on the file names it)"
    )]
    WriteLocked,
    /// `55P03`: some tables are locked. The others can be used.
    #[error("another session holds a lock that is needed: wait until the session that pg_locks names ends, or end it")]
    TableLocked,
    /// The embedded database: a corrupt page.
    #[error("its file is damaged: stop the arena, keep a copy of the data folder, and restore the newest backup")]
    Damaged,
    /// The embedded database: the path leads to a different file than the open one, or to none.
    #[error(
        "its file, or the one that ends in -wal, was removed or replaced: if it was deleted, copy both from /proc/PID/fd before you stop the arena; otherwise put it back and restart"
    )]
    FileReplaced,
}

impl OutageKind {
    /// Classifies an error; `None` if the statement is at fault, or concurrent ones.
    pub(super) fn from_error(error: &sqlx::Error) -> Option<Self> {
        match error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => Some(Self::Unreachable),
            sqlx::Error::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
                Some(error) => Self::of_sqlstate(error.code()),
                None => Self::of_sqlite(error.try_downcast_ref::<SqliteError>()?),
            },
            _ => None,
        }
    }

    /// Classifies an error like [`Self::from_error`], of the embedded database at a path, or in that folder: checks whether its disk is
    /// full.
    pub(super) fn of_embedded(error: &sqlx::Error, place: &Path) -> Option<Self> {
        let code = match error {
            sqlx::Error::Database(error) => error.try_downcast_ref::<SqliteError>().and_then(sqlite_code),
            _ => None,
        };
        // If the disk cannot be queried, it may have space.
        let free = || disk::space(place).map_or(u64::MAX, |disk| disk.free);
        code.map_or_else(|| Self::from_error(error), |code| Self::of_sqlite_code_on_disk(code, free))
    }

    fn of_sqlstate(code: &str) -> Option<Self> {
        match code {
            "57P01" | "57P02" | "57P03" => Some(Self::Unreachable),
            "53300" => Some(Self::NoConnection),
            "28P01" | "28000" => Some(Self::Denied),
            NO_PRIVILEGE => Some(Self::NoPrivilege),
            "25006" => Some(Self::ReadOnly),
            "53100" => Some(Self::DiskFull),
            "55P03" => Some(Self::TableLocked),
            // The class of all connection errors.
            _ => code.starts_with("08").then_some(Self::Unreachable),
        }
    }

    fn of_sqlite(error: &SqliteError) -> Option<Self> {
        Self::of_sqlite_code(sqlite_code(error)?)
    }

    /// SQLite has one code for a full disk and for a failing one when it enlarges the file that ends in `-shm`. `free` returns the number
    /// of bytes that this user may still write.
    fn of_sqlite_code_on_disk(code: u32, free: impl Fn() -> u64) -> Option<Self> {
        if code == SHARED_MEMORY_SIZE && free() < SHARED_MEMORY_BYTES {
            return Some(Self::FolderFull);
        }
        Self::of_sqlite_code(code)
    }

    /// Extended codes contain the primary code in their last byte.
    fn of_sqlite_code(code: u32) -> Option<Self> {
        match code & 0xff {
            BUSY => Some(Self::WriteLocked),
            FULL => Some(Self::FolderFull),
            READ_ONLY | IO_ERROR | CANNOT_OPEN => Some(Self::FolderUnusable),
            CORRUPT | NOT_A_DATABASE => Some(Self::Damaged),
            _ => None,
        }
    }

    /// Whether only some tables are affected, while others can be used.
    pub(super) fn is_of_tables(self) -> bool {
        matches!(self, Self::TableLocked | Self::NoPrivilege)
    }

    /// Whether reads still succeed, so that only a write detects the end.
    #[must_use]
    pub fn stops_writes_only(self) -> bool {
        self.loses_commits()
            || matches!(
                self,
                Self::ReadOnly | Self::DiskFull | Self::FolderFull | Self::FolderUnusable | Self::WriteLocked
            )
    }

    /// Whether statements succeed although their writes may be lost.
    #[must_use]
    pub fn loses_commits(self) -> bool {
        matches!(self, Self::FsyncOff | Self::FullPageWritesOff) || self.needs_restart()
    }

    /// Whether it lasts until the arena is restarted.
    #[must_use]
    pub fn needs_restart(self) -> bool {
        matches!(self, Self::Damaged | Self::FileReplaced)
    }
}

/// Whether the database's message contains this text.
pub(super) fn message_contains(error: &sqlx::Error, part: &str) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains(part))
}

/// Returns SQLite's extended error code.
fn sqlite_code(error: &SqliteError) -> Option<u32> {
    error.code()?.parse().ok()
}

/// Whether a statement always fails: it violates a constraint, or is itself invalid. Everything else may be transient: another transaction
/// that holds a lock, a timeout, a disk, a connection.
pub(super) fn always_fails(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => is_lasting_sqlstate(error.code()),
            None => error.code().is_some_and(|code| always_fails_in_sqlite(&code)),
        },
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => false,
        _ => true,
    }
}

/// The privilege may be granted again.
const NO_PRIVILEGE: &str = "42501";

fn is_lasting_sqlstate(code: &str) -> bool {
    /// Unsupported, cardinality, data, constraints, syntax and names, program limits, and errors raised by triggers.
    const LASTING_CLASSES: [&str; 7] = ["0A", "21", "22", "23", "42", "54", "P0"];
    code != NO_PRIVILEGE && LASTING_CLASSES.iter().any(|class| code.starts_with(class))
}

fn always_fails_in_sqlite(code: &str) -> bool {
    /// Too big, constraint (and errors raised by triggers), mismatch, misuse, range. A plain error (1) is not included: a commit on a
    /// connection that has lost its transaction is one, and the next write has another connection.
    const LASTING_CODES: [u32; 5] = [18, 19, 20, 21, 25];
    code.parse::<u32>().is_ok_and(|code| LASTING_CODES.contains(&(code & 0xff)))
}

const BUSY: u32 = 5;
const READ_ONLY: u32 = 8;
const IO_ERROR: u32 = 10;
/// The file that ends in `-shm`, which the first connection creates, could not be resized.
const SHARED_MEMORY_SIZE: u32 = IO_ERROR | (19 << 8);
/// Size by which it grows.
const SHARED_MEMORY_BYTES: u64 = 32 * 1024;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANNOT_OPEN: u32 = 14;
const NOT_A_DATABASE: u32 = 26;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_codes_are_told_apart() {
        for (code, expected) in [
            ("08006", Some(OutageKind::Unreachable)),
            ("57P03", Some(OutageKind::Unreachable)),
            ("53300", Some(OutageKind::NoConnection)),
            ("28P01", Some(OutageKind::Denied)),
            ("42501", Some(OutageKind::NoPrivilege)),
            ("25006", Some(OutageKind::ReadOnly)),
            ("53100", Some(OutageKind::DiskFull)),
            ("55P03", Some(OutageKind::TableLocked)),
            ("40001", None),
            ("23505", None),
        ] {
            assert_eq!(OutageKind::of_sqlstate(code), expected, "{code}");
        }
    }

    #[test]
    fn a_full_disk_is_known_by_each_of_its_codes() {
        for (code, expected) in [
            (13, Some(OutageKind::FolderFull)),
            (4_874, Some(OutageKind::FolderUnusable)),
            (10, Some(OutageKind::FolderUnusable)),
            (522, Some(OutageKind::FolderUnusable)),
            (1, None),
        ] {
            assert_eq!(OutageKind::of_sqlite_code(code), expected, "{code}");
        }
    }

    #[test]
    fn shared_memory_without_its_size_means_a_full_disk_only_where_the_disk_has_no_space() {
        for (code, free, expected) in [
            (4_874, 0, OutageKind::FolderFull),
            (4_874, 32 * 1024, OutageKind::FolderUnusable),
            (4_874, u64::MAX, OutageKind::FolderUnusable),
            (522, 0, OutageKind::FolderUnusable),
            (13, u64::MAX, OutageKind::FolderFull),
        ] {
            assert_eq!(OutageKind::of_sqlite_code_on_disk(code, || free), Some(expected), "{code} {free}");
        }
    }

    #[test]
    fn what_another_transaction_causes_passes_and_a_broken_rule_does_not() {
        // Constraint of a unique key, of a trigger; a text that is too long.
        for lasting in ["2067", "1811", "18"] {
            assert!(always_fails_in_sqlite(lasting), "{lasting}");
        }
        // Busy, busy with a snapshot, locked, full; no transaction to commit.
        for passing in ["5", "517", "6", "13", "1"] {
            assert!(!always_fails_in_sqlite(passing), "{passing}");
        }
        assert!(always_fails(&sqlx::Error::RowNotFound) && !always_fails(&sqlx::Error::WorkerCrashed));
    }

    #[test]
    fn the_servers_codes_that_last_are_those_of_the_statement() {
        for lasting in ["23505", "23514", "22021", "42P01", "P0001"] {
            assert!(is_lasting_sqlstate(lasting), "{lasting}");
        }
        // Lock timeout, cancelled, a revoked privilege, disk, deadlock, serialization, standby, connections.
        for passing in ["55P03", "57014", "42501", "58030", "40P01", "40001", "25006", "53300", "08006", "XX000"] {
            assert!(!is_lasting_sqlstate(passing), "{passing}");
        }
    }

    #[test]
    fn what_somebody_has_to_mend_is_distinguished_from_what_a_statement_did_wrong() {
        assert_eq!(OutageKind::from_error(&sqlx::Error::PoolTimedOut), Some(OutageKind::Unreachable));
        assert_eq!(OutageKind::from_error(&sqlx::Error::RowNotFound), None);
        assert!(OutageKind::FolderFull.stops_writes_only() && !OutageKind::Unreachable.stops_writes_only());
    }
}
