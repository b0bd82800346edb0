//! Access of this user to an embedded database's file: read-write, or read-only, as on a read-only disk or in another user's folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteConnectOptions;

use crate::disk;

/// Access of this user to a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::storage) enum FileAccess {
    /// Read-write, with a write-ahead log beside it.
    Write,
    /// Read-only; an arena of another user may write it meanwhile, or has left its write-ahead log.
    ReadOnly,
    /// Read-only and not in use: SQLite opens it as immutable, and creates nothing beside it.
    ReadImmutable,
}

impl FileAccess {
    /// Checks the file of a path, and its folder.
    pub(in crate::storage) fn of(database: &Path) -> Self {
        let file = resolved(database);
        let folder = file.parent().unwrap_or(Path::new("/"));
        // SQLite's files beside it can be created, or exist already.
        let takes_log = disk::is_writable(folder)
            || ["-wal", "-shm"].iter().all(|ending| disk::is_writable_file(&side_file(&file, ending)));
        if takes_log && disk::is_writable_file(&file) {
            Self::Write
        } else if is_in_use(database) {
            Self::ReadOnly
        } else {
            Self::ReadImmutable
        }
    }

    /// Returns the options of a read-only connection.
    pub(in crate::storage) fn reading(self, database: &Path) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new().filename(database).read_only(true);
        options.immutable(self == Self::ReadImmutable).busy_timeout(Duration::from_secs(10))
    }
}

/// State of a file that is read as immutable, at the time of opening.
#[derive(Debug, Clone)]
pub(in crate::storage) struct UnwrittenFile {
    path: PathBuf,
    written_at: Option<SystemTime>,
}

impl UnwrittenFile {
    pub(in crate::storage) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), written_at: written_at(path) }
    }

    /// Whether an arena, perhaps of another user, has begun to use the file: reads since then may mix two states.
    pub(in crate::storage) fn may_have_changed(&self) -> bool {
        is_in_use(&self.path) || written_at(&self.path) != self.written_at
    }
}

fn written_at(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|file| file.modified()).ok()
}

/// Whether a write-ahead log has content, or is shared with other connections. An empty log without a `-shm` file is a leftover.
fn is_in_use(database: &Path) -> bool {
    let file = resolved(database);
    let log = side_file(&file, "-wal").metadata();
    log.is_ok_and(|log| log.len() > 0 || side_file(&file, "-shm").exists())
}

/// Resolves symlinks: SQLite keeps the log beside the actual file.
fn resolved(database: &Path) -> PathBuf {
    database.canonicalize().unwrap_or_else(|_| database.to_owned())
}

fn side_file(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_in_use_by_what_its_log_holds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, "").unwrap();
        assert!(!is_in_use(&file));
        std::fs::write(side_file(&file, "-shm"), "").unwrap();
        assert!(!is_in_use(&file), "without a log, nothing is shared");
        std::fs::write(side_file(&file, "-wal"), "").unwrap();
        assert!(is_in_use(&file));
        std::fs::remove_file(side_file(&file, "-shm")).unwrap();
        assert!(!is_in_use(&file));
        std::fs::write(side_file(&file, "-wal"), "votes").unwrap();
        assert!(is_in_use(&file));
    }

    #[test]
    fn a_file_that_an_arena_begins_to_use_or_has_written_may_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, "").unwrap();
        let unwritten = UnwrittenFile::new(&file);
        assert!(!unwritten.may_have_changed());
        let logs = ["-wal", "-shm"].map(|ending| side_file(&file, ending));
        logs.iter().for_each(|log| std::fs::write(log, "").unwrap());
        assert!(unwritten.may_have_changed());
        logs.iter().for_each(|log| std::fs::remove_file(log).unwrap());
        assert!(!unwritten.may_have_changed());
        let written = std::fs::File::options().write(true).open(&file).unwrap();
        written.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(unwritten.may_have_changed());
    }
}
