//! Removes unfinished files and folders, including those of processes that were killed.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use crate::domain::time::Timestamp;

/// Milliseconds without a write after which an unfinished file belongs to no running process.
const ABANDONED_AFTER_MS: i64 = 24 * 3_600 * 1_000;

/// Prefix of the name of an unfinished database copy; see also [`COPY_SUFFIX`].
pub(crate) const COPY_PREFIX: &str = ".langya-";
/// Suffix of the name of an unfinished database copy.
pub(crate) const COPY_SUFFIX: &str = ".partial";

/// Whether a file name is that of an unfinished database copy.
pub(crate) fn is_unfinished_copy(name: &str) -> bool {
    name.starts_with(COPY_PREFIX) && name.ends_with(COPY_SUFFIX)
}

/// Removes an unused database, and SQLite's files beside it; missing files are no error.
pub(crate) fn remove_with_side_files(database: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        // Mostly only some of them exist, and a remaining one is harmless.
        let _ = fs::remove_file(database.with_file_name(name));
    }
}

/// Removes the files of a folder whose names are those of unfinished files and that were not written for a day before `now`: each may be as
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

/// Removes folders like [`remove_abandoned`]; one with anything written meanwhile stays.
pub fn remove_abandoned_folders(folder: &Path, now: Timestamp, is_unfinished: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_unfinished = entry.file_name().to_str().is_some_and(&is_unfinished);
        if is_unfinished && entry.metadata().is_ok_and(|found| found.is_dir()) && holds_abandoned(&entry.path(), now) {
            // A remaining one is checked again the next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder and its whole content were not written for a day. Unreadable entries count as written.
fn holds_abandoned(folder: &Path, now: Timestamp) -> bool {
    let is_old = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            entry.metadata().is_ok_and(|found| match found.is_dir() {
                true => holds_abandoned(&entry.path(), now),
                false => is_abandoned(&found, now),
            })
        })
    };
    let is_old_itself = folder.symlink_metadata().is_ok_and(|found| is_abandoned(&found, now));
    is_old_itself && fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_old))
}

/// Returns the missing ones of a folder and its ancestors, the lowest first.
fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && folder.symlink_metadata().is_err();
    folder.ancestors().take_while(is_missing).map(Path::to_owned).collect()
}

/// Folders created for future files. Dropping this removes those that are still empty.
#[derive(Debug)]
pub struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Creates a folder and its missing ancestors.
    ///
    /// # Errors
    /// Error of the system; folders created until then are removed. [`io::ErrorKind::AlreadyExists`] says what is in the place of a folder.
    pub fn make(folder: &Path) -> io::Result<Self> {
        let new = Self(missing_folders(folder));
        fs::create_dir_all(folder).map_err(|error| match error.kind() {
            // The system says only that something exists.
            io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), describe_obstacle(folder)),
            _ => error,
        })?;
        Ok(new)
    }
}

/// Describes what is in the place of a folder, or of its ancestor.
fn describe_obstacle(folder: &Path) -> String {
    let lost = folder.ancestors().find(|above| above.is_symlink() && !above.exists());
    match lost {
        Some(link) if link == folder => "it is a link to a folder that does not exist".to_owned(),
        Some(link) => format!("{} is a link to a folder that does not exist", link.display()),
        None => "it is a file".to_owned(),
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // One that cannot be removed is not empty, or is gone.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn is_abandoned(file: &fs::Metadata, now: Timestamp) -> bool {
    let written = file.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|at| i64::try_from(at.as_millis()).ok());
    written.is_some_and(|at| now.0.saturating_sub(at) > ABANDONED_AFTER_MS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_unfinished_files_that_nobody_has_written_for_a_day_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp(10 * ABANDONED_AFTER_MS);
        for (name, age) in [
            (".x-1.partial", ABANDONED_AFTER_MS + 1),
            (".x-2.partial", ABANDONED_AFTER_MS),
            ("x.db", ABANDONED_AFTER_MS + 1),
            (".x-3.part", ABANDONED_AFTER_MS + 1),
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

    #[test]
    fn an_unfinished_folder_goes_when_nothing_in_it_was_written_for_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp(10 * ABANDONED_AFTER_MS);
        let before = |age: i64| UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0 - age).unwrap());
        for (name, age) in [
            (".set-old", ABANDONED_AFTER_MS + 1),
            (".set-new", ABANDONED_AFTER_MS),
            ("set-old", ABANDONED_AFTER_MS + 1),
        ] {
            let inner = folder.path().join(name).join("data");
            fs::create_dir_all(&inner).unwrap();
            fs::File::create(inner.join("unfinished")).unwrap().set_modified(before(age)).unwrap();
            for made in [inner.as_path(), inner.parent().unwrap()] {
                fs::File::open(made).unwrap().set_modified(before(ABANDONED_AFTER_MS + 1)).unwrap();
            }
        }
        fs::write(folder.path().join(".set-file"), "").unwrap();
        remove_abandoned_folders(folder.path(), now, |name| name.starts_with(".set-"));
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort_unstable();
        assert_eq!(left, [".set-file", ".set-new", "set-old"]);
    }

    #[test]
    fn new_folders_go_with_their_owner_unless_something_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let (above, inner) = (folder.path().join("a"), folder.path().join("a/b"));
        assert_eq!(missing_folders(&inner), [inner.clone(), above.clone()]);
        drop(NewFolders::make(&inner).unwrap());
        assert!(!above.exists());
        let made = NewFolders::make(&inner).unwrap();
        fs::write(inner.join("kept"), "").unwrap();
        drop(made);
        assert!(inner.join("kept").exists());
        fs::remove_file(inner.join("kept")).unwrap();
        drop(NewFolders::make(&inner).unwrap());
        assert!(inner.exists(), "it was there before");
    }
}
