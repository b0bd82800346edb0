//! Removes unfinished files, including those of processes that were killed.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::domain::time::Timestamp;

/// An unfinished file that was not written for this many milliseconds belongs to no running process.
const ABANDONED: i64 = 24 * 3_600 * 1_000;

/// How the name of an unfinished copy of a database begins and ends.
pub(crate) const COPY_PREFIX: &str = ".langya-";
/// See [`COPY_PREFIX`].
pub(crate) const COPY_SUFFIX: &str = ".partial";

/// Whether a file of this name is an unfinished copy of a database.
pub(crate) fn is_unfinished_copy(name: &str) -> bool {
    name.starts_with(COPY_PREFIX) && name.ends_with(COPY_SUFFIX)
}

/// Removes a database that nobody uses, and what SQLite has made beside it; what is not there is no error.
pub(crate) fn remove_with_side_files(database: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        // Mostly only some of them are there, and one that stays does no harm.
        let _ = fs::remove_file(database.with_file_name(name));
    }
}

/// Removes the files of a folder whose names belong to unfinished files and that were not written for a day before `now`: each may be as
/// large as the database. A file that cannot be read or removed stays.
pub fn remove_abandoned(folder: &Path, now: Timestamp, is_unfinished: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_unfinished = entry.file_name().to_str().is_some_and(&is_unfinished);
        if is_unfinished && entry.metadata().is_ok_and(|file| file.is_file() && is_abandoned(&file, now)) {
            remove_with_side_files(&entry.path());
        }
    }
}

fn is_abandoned(file: &fs::Metadata, now: Timestamp) -> bool {
    let written = file.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|at| i64::try_from(at.as_millis()).ok());
    written.is_some_and(|at| now.0.saturating_sub(at) > ABANDONED)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_unfinished_files_that_nobody_has_written_for_a_day_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp(10 * ABANDONED);
        for (name, age) in [
            (".x-1.partial", ABANDONED + 1),
            (".x-2.partial", ABANDONED),
            ("x.db", ABANDONED + 1),
            (".x-3.part", ABANDONED + 1),
        ] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            let written = Duration::from_millis(u64::try_from(now.0 - age).unwrap());
            file.set_modified(UNIX_EPOCH + written).unwrap();
        }
        remove_abandoned(folder.path(), now, |name| name.starts_with(".x-") && name.ends_with(".partial"));
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort_unstable();
        assert_eq!(left, [".x-2.partial", ".x-3.part", "x.db"]);
    }
}
