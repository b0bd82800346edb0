//! The latest checkpoint that an instance knows to be signed, in a file outside the database: a database that was restored from an older
//! backup would otherwise sign other entries at positions that were published already.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The file's name in the data folder.
const NAME: &str = "log-checkpoint";

/// The file.
#[derive(Debug, Clone)]
pub struct CheckpointFile {
    path: PathBuf,
}

impl CheckpointFile {
    /// The file of a data folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(NAME) }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The note that was kept last, if any.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a note in place of the last one. After a crash the file holds one of the two.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, note: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let beside = self.path.with_extension("new");
        let mut file = File::create(&beside)?;
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(names, [NAME]);
    }
}
