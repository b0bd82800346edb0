//! When the database was copied last, in a file of the data folder: for those who ask how old the newest copy is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::domain::time::Timestamp;

/// The file's name in the data folder.
const NAME: &str = "last-backup";

/// The copy that was made last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBackup {
    /// When.
    pub at: Timestamp,
    /// Where.
    pub path: PathBuf,
}

impl LastBackup {
    /// What a data folder says, if anything.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(NAME)).ok()?;
        let (at, path) = text.strip_suffix('\n')?.split_once('\n')?;
        Some(Self { at: Timestamp(at.parse().ok()?), path: path.into() })
    }

    /// Notes this copy as the last one. A folder that cannot be written keeps its former note: the copy is made all the same.
    pub(super) fn write(&self, folder: &Path) {
        let noted = fs::write(folder.join(NAME), format!("{}\n{}\n", self.at.0, self.path.display()));
        if let Err(error) = noted {
            tracing::warn!(%error, "the backup was made, but its time could not be written to the data folder: `langya doctor` will not see it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_copy_is_known() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(LastBackup::read(folder.path()), None);
        let last = LastBackup { at: Timestamp(7), path: "/b/it's one".into() };
        last.write(folder.path());
        assert_eq!(LastBackup::read(folder.path()), Some(last));
    }
}
