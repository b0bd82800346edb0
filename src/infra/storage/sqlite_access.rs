//! How this user can open the file of an embedded database: to write it, or only to read it, as on a read-only disk or in the folder of
//! another user.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteConnectOptions;

use crate::disk;

/// How this user can open a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAccess {
    /// To read and write, with a write-ahead log beside it.
    Write,
    /// To read, and an arena of another user may write it meanwhile, or one has left its write-ahead log.
    ReadOnly,
    /// To read, and nobody has it open: SQLite reads it as a file that nobody writes, and makes nothing beside it.
    ReadImmutable,
}

impl FileAccess {
    /// Looks at the file to which a path leads, and at its folder.
    pub(super) fn of(database: &Path) -> Self {
        let file = resolved(database);
        let folder = file.parent().unwrap_or(Path::new("/"));
        // What SQLite writes beside the file is made, or is there already.
        let takes_log = disk::is_writable(folder)
            || ["-wal", "-shm"].iter().all(|ending| disk::is_writable_file(&beside(&file, ending)));
        if takes_log && disk::is_writable_file(&file) {
            Self::Write
        } else if is_in_use(database) {
            Self::ReadOnly
        } else {
            Self::ReadImmutable
        }
    }

    /// Options of a connection that only reads.
    pub(super) fn reading(self, database: &Path) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new().filename(database).read_only(true);
        options.immutable(self == Self::ReadImmutable).busy_timeout(Duration::from_secs(10))
    }
}

/// A file that is read as one that nobody writes, as it was before.
#[derive(Debug, Clone)]
pub(super) struct UnwrittenFile {
    path: PathBuf,
    written_at: Option<SystemTime>,
}

impl UnwrittenFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), written_at: written_at(path) }
    }

    /// Whether an arena, of another user perhaps, has begun to use it: what was read since may mix two states.
    pub(super) fn may_have_changed(&self) -> bool {
        is_in_use(&self.path) || written_at(&self.path) != self.written_at
    }
}

fn written_at(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|file| file.modified()).ok()
}

/// Whether a write-ahead log holds something, or is shared with other connections. An empty log without a `-shm` file is a leftover.
fn is_in_use(database: &Path) -> bool {
    let file = resolved(database);
    let log = beside(&file, "-wal").metadata();
    log.is_ok_and(|log| log.len() > 0 || beside(&file, "-shm").exists())
}

/// The file behind a path that may be a link: SQLite keeps the log beside that one.
fn resolved(database: &Path) -> PathBuf {
    database.canonicalize().unwrap_or_else(|_| database.to_owned())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
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
        std::fs::write(beside(&file, "-shm"), "").unwrap();
        assert!(!is_in_use(&file), "without a log, nothing is shared");
        std::fs::write(beside(&file, "-wal"), "").unwrap();
        assert!(is_in_use(&file));
        std::fs::remove_file(beside(&file, "-shm")).unwrap();
        assert!(!is_in_use(&file));
        std::fs::write(beside(&file, "-wal"), "votes").unwrap();
        assert!(is_in_use(&file));
    }

    #[test]
    fn a_file_that_an_arena_begins_to_use_or_has_written_may_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, "").unwrap();
        let unwritten = UnwrittenFile::new(&file);
        assert!(!unwritten.may_have_changed());
        let logs = ["-wal", "-shm"].map(|ending| beside(&file, ending));
        logs.iter().for_each(|log| std::fs::write(log, "").unwrap());
        assert!(unwritten.may_have_changed());
        logs.iter().for_each(|log| std::fs::remove_file(log).unwrap());
        assert!(!unwritten.may_have_changed());
        let written = std::fs::File::options().write(true).open(&file).unwrap();
        written.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(unwritten.may_have_changed());
    }
}
