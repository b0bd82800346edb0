//! Record of a database's latest backup, in a file of the data folder, for monitoring its age. The file is specific to one database, and
//! does not apply to another one that the arena is moved to.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::config::StorageSettings;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;

/// Name of an embedded database's file in the data folder; for a server a suffix is added.
const FILE_NAME: &str = "last-backup";
/// Number of hexadecimal digits in the suffix for a server's address.
const SUFFIX_HEX_DIGITS: usize = 12;

/// The latest backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBackup {
    /// Time of the backup.
    pub at: Timestamp,
    /// Path of the backup.
    pub path: PathBuf,
}

impl LastBackup {
    /// Reads the record of these settings' database, if any.
    #[must_use]
    pub fn read(settings: &StorageSettings) -> Option<Self> {
        let text = fs::read_to_string(file(settings)).ok()?;
        let (at, path) = text.strip_suffix('\n')?.split_once('\n')?;
        Some(Self { at: Timestamp(at.parse().ok()?), path: path.into() })
    }

    /// Records this backup as the latest one. If the folder cannot be written, the former record stays: the backup is valid all the same.
    pub(super) fn write(&self, settings: &StorageSettings) {
        let noted = fs::write(file(settings), format!("{}\n{}\n", self.at.0, self.path.display()));
        if let Err(error) = noted {
            tracing::warn!(%error, "the backup was made, but its time could not be written to the data folder: `langya doctor` will not see it");
        }
    }
}

/// Returns the file for the database of these settings.
fn file(settings: &StorageSettings) -> PathBuf {
    // The displayed address, without user and password: these may change.
    let of_server = || hex(&Sha256::digest(settings.database.to_string()))[..SUFFIX_HEX_DIGITS].to_owned();
    let name = if settings.is_postgres() { format!("{FILE_NAME}-{}", of_server()) } else { FILE_NAME.to_owned() };
    settings.data_dir.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_copy_of_each_database_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let settings = |database: &str| StorageSettings {
            data_dir: folder.path().into(),
            database: database.into(),
            ..StorageSettings::default()
        };
        let [embedded, server] = ["", "postgres://u:p@h/arena"].map(settings);
        assert_eq!(LastBackup::read(&embedded), None);
        let last = LastBackup { at: Timestamp(7), path: "/b/it's one".into() };
        last.write(&embedded);
        assert_eq!([LastBackup::read(&embedded), LastBackup::read(&server)], [Some(last.clone()), None]);
        let later = LastBackup { at: Timestamp(8), path: "/b/another".into() };
        later.write(&server);
        let renewed = settings("postgres://u:new@h/arena");
        assert_eq!([LastBackup::read(&embedded), LastBackup::read(&renewed)], [Some(last), Some(later)]);
        assert_eq!(LastBackup::read(&settings("postgres://u:p@h/other")), None);
    }
}
