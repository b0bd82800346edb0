//! Disk space and file permissions.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// Space of a folder's disk in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Space available to this user.
    pub free: u64,
    /// Total space.
    pub total: u64,
}

/// Returns the space of the disk. If the folder does not exist yet, uses its nearest existing ancestor.
///
/// # Errors
/// No ancestor can be queried.
pub fn space(folder: &Path) -> io::Result<DiskSpace> {
    let found = rustix::fs::statvfs(&nearest_existing_folder(folder)?)?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(DiskSpace { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
}

/// Whether an error means that the disk, or this user's quota, is full.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Whether this user can create files in a folder, or create a missing folder. Changes nothing.
#[must_use]
pub fn is_writable(folder: &Path) -> bool {
    let allowed = Access::WRITE_OK | Access::EXEC_OK;
    nearest_existing_folder(folder).is_ok_and(|there| there.is_dir() && rustix::fs::access(&there, allowed).is_ok())
}

/// Whether this user can read an existing file.
#[must_use]
pub fn is_readable_file(file: &Path) -> bool {
    rustix::fs::access(file, Access::READ_OK).is_ok()
}

/// Whether this user can write an existing file.
#[must_use]
pub fn is_writable_file(file: &Path) -> bool {
    rustix::fs::access(file, Access::WRITE_OK).is_ok()
}

/// Returns the folder, or its nearest existing ancestor.
fn nearest_existing_folder(folder: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(folder)?;
    Ok(absolute.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/")).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_can_be_made_in_a_folder_and_not_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(is_writable(folder.path()) && is_writable(&folder.path().join("a/b")));
        assert!(!is_writable(&file) && !is_writable(&file.join("data")));
        for is_usable in [is_readable_file, is_writable_file] {
            assert!(is_usable(&file) && !is_usable(&file.join("data")));
        }
    }

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_space_of_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let (here, below) = (space(folder.path()).unwrap(), space(&folder.path().join("a/b")).unwrap());
        assert_eq!(here.total, below.total);
        assert!(here.free <= here.total && here.total > 0);
    }
}
