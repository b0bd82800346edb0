//! When a database was copied last, in a file of the data folder: for those who ask how old the newest copy is. The file of one
//! database says nothing of another, such as the one that an arena was moved into.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::config::StorageSettings;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;

/// The name of an embedded database's file in the data folder; that of another one goes on.
const NAME: &str = "last-backup";
/// Hexadecimal digits that stand for the address of a database.
const DIGITS: usize = 12;

/// The copy that was made last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBackup {
    /// When.
    pub at: Timestamp,
    /// Where.
    pub path: PathBuf,
}

impl LastBackup {
    /// What the data folder says of the database of these settings, if anything.
    #[must_use]
    pub fn read(settings: &StorageSettings) -> Option<Self> {
        let text = fs::read_to_string(file(settings)).ok()?;
        let (at, path) = text.strip_suffix('\n')?.split_once('\n')?;
        Some(Self { at: Timestamp(at.parse().ok()?), path: path.into() })
    }

    /// Notes this copy as the last one. A folder that cannot be written keeps its former note: the copy is made all the same.
    pub(super) fn write(&self, settings: &StorageSettings) {
        let noted = fs::write(file(settings), format!("{}\n{}\n", self.at.0, self.path.display()));
        if let Err(error) = noted {
            tracing::warn!(%error, "the backup was made, but its time could not be written to the data folder: `langya doctor` will not see it");
        }
    }
}

/// The file for the database of these settings.
fn file(settings: &StorageSettings) -> PathBuf {
    // The address as it is shown, without its user and password: these may change.
    let of_server = || hex(&Sha256::digest(settings.database.to_string()))[..DIGITS].to_owned();
    let name = if settings.is_postgres() { format!("{NAME}-{}", of_server()) } else { NAME.to_owned() };
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
