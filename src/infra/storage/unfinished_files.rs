//! Unfinished databases and copies, and how they go away: also those of processes that were killed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// An unfinished file that was not written for so long has lost its process.
const ABANDONED: Duration = Duration::from_secs(24 * 3_600);

/// Removes a database that nobody uses, and what SQLite has made beside it; what is not there is no error.
pub(super) fn remove_with_side_files(database: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        let _ = std::fs::remove_file(database.with_file_name(name));
    }
}

/// Removes the files of a folder whose names begin and end so and that nobody has written for a day: each may be as large as the database.
/// What cannot be looked at or removed stays.
pub(super) fn remove_abandoned(folder: &Path, prefix: &str, suffix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_unfinished = name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix));
        if is_unfinished && entry.metadata().is_ok_and(|file| file.is_file() && is_abandoned(&file)) {
            remove_with_side_files(&entry.path());
        }
    }
}

fn is_abandoned(file: &fs::Metadata) -> bool {
    let written = file.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    written.is_some_and(|age| age > ABANDONED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_files_that_nobody_has_written_for_a_day_go() {
        let folder = tempfile::tempdir().unwrap();
        let yesterday = SystemTime::now() - ABANDONED - Duration::from_secs(60);
        for (name, is_old) in [(".x-1.partial", true), (".x-2.partial", false), ("x.db", true), (".x-3.part", true)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_modified(yesterday).unwrap();
            }
        }
        remove_abandoned(folder.path(), ".x-", ".partial");
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort_unstable();
        assert_eq!(left, [".x-2.partial", ".x-3.part", "x.db"]);
    }
}
