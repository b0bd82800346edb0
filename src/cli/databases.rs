//! The databases that a command opens. They are closed when it has ended, however it has ended: only the last connection that closes an
//! embedded database removes its write-ahead log, and a process that ends first leaves the log beside the file.

use std::cell::RefCell;
use std::time::Duration;

use tokio::time::timeout;

use crate::infra::config::StorageSettings;
use crate::infra::storage::{IfMissing, Store, StoreError};

/// Maximum wait for a database to close: an interrupted command may have left a statement that still runs.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

thread_local! {
    /// Those that are open. Commands run on the main thread.
    static OPENED: RefCell<Vec<Store>> = const { RefCell::new(Vec::new()) };
}

/// As [`Store::open`], of a database that is closed when the command has ended.
///
/// # Errors
/// As [`Store::open`].
pub async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Store, StoreError> {
    let store = Store::open(settings, if_missing).await?;
    OPENED.with_borrow_mut(|opened| opened.push(store.clone()));
    Ok(store)
}

/// Closes all databases that were opened, also those that their command has closed already.
pub(super) async fn close_all() {
    for store in OPENED.take() {
        // A database that does not close in time keeps its log, which does no harm.
        let _ = timeout(CLOSE_TIMEOUT, store.close()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn what_a_command_opened_leaves_no_write_ahead_log() {
        let folder = tempfile::tempdir().unwrap();
        let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
        // As in a command: the store is still open when the command returns.
        let store = open(&settings, IfMissing::Create).await.unwrap();
        assert_eq!(store.vote_count().await.unwrap(), 0);
        assert!(folder.path().join("langya.db-wal").exists());
        close_all().await;
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["langya.db"]);
    }
}
