//! Latest signed checkpoint known to an instance, in a file outside the database: a database restored from an older backup would otherwise
//! sign different entries at positions that were published already.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::time::clock::{Clock, SystemClock};
use crate::unfinished_files::remove_abandoned;

/// Name of the file in the data folder.
const FILE_NAME: &str = "log-checkpoint";
/// Prefix of the name of a temporary file.
const UNFINISHED_PREFIX: &str = ".log-checkpoint-";
/// Permissions: readable by all, as the log has published its content.
const FILE_MODE: u32 = 0o644;

/// Checkpoint file of a data folder.
#[derive(Debug, Clone)]
pub struct CheckpointFile {
    path: PathBuf,
}

impl CheckpointFile {
    /// Returns the file of a data folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(FILE_NAME) }
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the latest note, if any.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the note. After a crash the file holds the old or the new one.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, note: &str) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        remove_abandoned(folder, SystemClock.now(), |name| name.starts_with(UNFINISHED_PREFIX));
        // A separate temporary file: instances that share a folder write at the same time, and none may rename what another one has half
        // written.
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED_PREFIX).permissions(fs::Permissions::from_mode(FILE_MODE));
        // Its random name in an error would make repeated failures look different.
        let mut beside = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        beside.as_file_mut().write_all(note.as_bytes())?;
        beside.as_file().sync_all()?;
        beside.persist(&self.path).map(drop).map_err(|failed| failed.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_whole_while_others_write_notes() {
        let folder = tempfile::tempdir().unwrap();
        let file = CheckpointFile::in_folder(folder.path());
        let notes = ["a", "b", "c", "d"].map(|letter| letter.repeat(100_000));
        file.write(&notes[0]).unwrap();
        std::thread::scope(|scope| {
            for note in &notes {
                let file = &file;
                scope.spawn(move || (0..50).for_each(|_| file.write(note).unwrap()));
            }
            for _ in 0..200 {
                let read = file.read().unwrap().unwrap();
                assert!(notes.contains(&read), "{} bytes", read.len());
            }
        });
    }

    #[test]
    fn a_write_removes_what_killed_writes_left_a_day_ago() {
        let folder = tempfile::tempdir().unwrap();
        for (name, is_old) in [(".log-checkpoint-old", true), (".log-checkpoint-new", false), ("log-checkpoints", true)]
        {
            let unfinished = fs::File::create(folder.path().join(name)).unwrap();
            if is_old {
                unfinished.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
        }
        CheckpointFile::in_folder(folder.path()).write("note").unwrap();
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort_unstable();
        assert_eq!(left, [".log-checkpoint-new", FILE_NAME, "log-checkpoints"]);
    }

    #[test]
    fn a_folder_that_takes_no_file_gives_the_same_error_each_time() {
        let file = CheckpointFile::in_folder(Path::new("/proc"));
        let failure = || file.write("note").unwrap_err().to_string();
        assert_eq!(failure(), failure());
    }

    #[test]
    fn the_last_note_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = CheckpointFile::in_folder(&folder.path().join("data"));
        assert_eq!(file.read().unwrap(), None);
        for note in ["one", "two"] {
            file.write(note).unwrap();
            assert_eq!(file.read().unwrap().as_deref(), Some(note));
        }
        let names: Vec<_> =
            fs::read_dir(folder.path().join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [FILE_NAME]);
    }
}
