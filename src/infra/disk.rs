//! How much space a disk has.

use std::io;
use std::path::Path;

/// Space of the disk that a folder is on, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// What this user may still write.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

/// Asks the system. Of a folder that does not exist yet, the nearest one above it that does.
///
/// # Errors
/// No folder above it can be asked.
pub fn space(folder: &Path) -> io::Result<DiskSpace> {
    let absolute = std::path::absolute(folder)?;
    let there = absolute.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let found = rustix::fs::statvfs(there)?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(DiskSpace { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_space_of_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let (here, below) = (space(folder.path()).unwrap(), space(&folder.path().join("a/b")).unwrap());
        assert_eq!(here.total, below.total);
        assert!(here.free <= here.total && here.total > 0);
    }
}
