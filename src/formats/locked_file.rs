//! Files with an exclusive or shared lock.

use std::fs::{File, TryLockError};
use std::ops::Deref;

/// An open file with an exclusive or shared lock. Dropping it releases the lock at once, even while a child process before its `exec`
/// still holds a copy of the handle, which alone would keep the lock.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another handle has the lock, or the error of the file system.
    pub fn lock(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(file))
    }

    /// Takes a shared lock, which excludes exclusive ones.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] where another handle has the exclusive lock, or the error of the file system.
    pub fn lock_shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared()?;
        Ok(Self(file))
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // A lock that cannot be released here is released with the last handle.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_handle_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("lock")).unwrap();
        let locked = LockedFile::lock(open()).unwrap();
        let copy = locked.try_clone().unwrap();
        assert!(matches!(LockedFile::lock(open()), Err(TryLockError::WouldBlock)));
        drop(locked);
        LockedFile::lock(open()).unwrap();
        drop(copy);
    }

    #[test]
    fn a_shared_lock_keeps_an_exclusive_one_away_and_the_other_way_round() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "").unwrap();
        let open = || File::open(&path).unwrap();
        let shared = LockedFile::lock_shared(open()).unwrap();
        let other = LockedFile::lock_shared(open()).unwrap();
        assert!(matches!(LockedFile::lock(open()), Err(TryLockError::WouldBlock)));
        drop((shared, other));
        let _exclusive = LockedFile::lock(open()).unwrap();
        assert!(matches!(LockedFile::lock_shared(open()), Err(TryLockError::WouldBlock)));
    }
}
