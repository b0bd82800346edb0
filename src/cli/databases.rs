//! Databases opened by a command. They are closed when it has ended, for any reason: only the last connection that closes an embedded
//! database removes its write-ahead log, and a process that exits earlier leaves the log beside the file.

use std::cell::RefCell;
use std::future::pending;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::infra::config::StorageSettings;
use crate::infra::storage::{IfMissing, Store, StoreError};
use crate::signals::Signals;

/// Maximum wait for server connections to close, and for all databases of an interrupted command, which may have a statement still running.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Delay before the command reports what it waits for: the log of a large import is being copied into the database.
const WAIT_NOTICE_DELAY: Duration = Duration::from_secs(2);

thread_local! {
    /// Opened databases. Commands run on the main thread.
    static OPEN_STORES: RefCell<Vec<Store>> = const { RefCell::new(Vec::new()) };
}

/// Notified when an embedded database is about to be opened.
static EMBEDDED_OPENING: Notify = Notify::const_new();

/// Opens a database as [`Store::open`] does, to be closed when the command has ended.
///
/// # Errors
/// As [`Store::open`]; [`StoreError::Moved`] if its arena was moved to PostgreSQL.
pub async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Store, StoreError> {
    let store = open_even_if_moved(settings, if_missing).await?;
    store.refuse_moved().await?;
    Ok(store)
}

/// Opens a database as [`open`] does, even if its arena was moved to PostgreSQL.
///
/// # Errors
/// As [`Store::open`].
pub async fn open_even_if_moved(settings: &StorageSettings, if_missing: IfMissing) -> Result<Store, StoreError> {
    if !settings.is_postgres() {
        EMBEDDED_OPENING.notify_one();
    }
    let store = Store::open(settings, if_missing).await?;
    OPEN_STORES.with_borrow_mut(|opened| opened.push(store.clone()));
    Ok(store)
}

/// Waits until the command opens an embedded database: from then on a signal must not end the process before it is closed.
pub(super) async fn until_embedded_opened() {
    EMBEDDED_OPENING.notified().await;
}

/// Closes all opened databases, also those that the command has closed already. For interrupted commands and servers the wait is limited;
/// otherwise a signal ends it: an embedded database then keeps its log, which is harmless.
pub(super) async fn close_all(is_interrupted: bool) {
    let (brief, embedded): (Vec<_>, Vec<_>) =
        OPEN_STORES.take().into_iter().partition(|store| is_interrupted || store.is_shared());
    close_with_timeout(brief.iter().map(Store::close)).await;
    if embedded.is_empty() {
        return;
    }
    let signal = async {
        match Signals::listen() {
            Ok(mut signals) => {
                signals.next().await;
            }
            // The operating system ends the process.
            Err(_) => pending().await,
        }
    };
    let closing = async {
        join_all(embedded.iter().map(Store::close)).await;
    };
    wait_until_closed(closing, signal).await;
}

/// Closes databases concurrently, with a time limit: a slow one keeps no other one open.
async fn close_with_timeout<F: Future<Output = ()>>(closing: impl IntoIterator<Item = F>) {
    // A server ends the sessions of an exited process.
    let _ = timeout(CLOSE_TIMEOUT, join_all(closing)).await;
}

/// Waits for the databases to close, or for a signal.
async fn wait_until_closed(closing: impl Future<Output = ()>, signal: impl Future<Output = ()>) {
    let notice = async {
        sleep(WAIT_NOTICE_DELAY).await;
        eprintln!("waiting until the database is closed; Ctrl-C ends the command at once");
        pending::<()>().await
    };
    tokio::select! {
        () = closing => {}
        () = signal => {}
        () = notice => {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;
    use std::path::Path;

    use tokio::sync::oneshot;

    use super::*;
    use crate::error::CommandResult;
    use crate::signals::tests::{alone, interrupt};
    use crate::signals::{BUSY_TIMEOUT, until_signal};

    /// Returns the names of the files in a folder.
    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[actix_web::test]
    async fn a_command_that_a_signal_ends_leaves_no_write_ahead_log() {
        let _alone = alone().await;
        let folder = tempfile::tempdir().unwrap();
        let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
        let command = async {
            let store = open(&settings, IfMissing::Create).await.unwrap();
            assert_eq!(store.vote_count().await.unwrap(), 0);
            assert!(folder.path().join("langya.db-wal").exists());
            interrupt();
            pending::<CommandResult<()>>().await
        };
        let error = until_signal(command, until_embedded_opened()).await.unwrap_err();
        assert!(error.is_interrupt(), "{error:?}");
        close_all(true).await;
        assert_eq!(names(folder.path()), ["langya.db"]);
    }

    #[actix_web::test]
    async fn what_a_command_opened_leaves_no_write_ahead_log() {
        let _alone = alone().await;
        let folder = tempfile::tempdir().unwrap();
        let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
        // As in a command: the store is still open when the command returns.
        let store = open(&settings, IfMissing::Create).await.unwrap();
        assert_eq!(store.vote_count().await.unwrap(), 0);
        assert!(folder.path().join("langya.db-wal").exists());
        close_all(false).await;
        assert_eq!(names(folder.path()), ["langya.db"]);
    }

    #[tokio::test(start_paused = true)]
    async fn databases_that_do_not_close_keep_no_other_open_and_end_before_the_process_is_ended() {
        let is_closed = Cell::new(false);
        let close = |hangs: bool| {
            let is_closed = &is_closed;
            async move {
                if hangs {
                    pending::<()>().await;
                }
                is_closed.set(true);
            }
        };
        let closing = close_with_timeout([close(true), close(true), close(false)]);
        assert!(timeout(BUSY_TIMEOUT, closing).await.is_ok() && is_closed.get());
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_closes_slowly_is_waited_for_until_a_signal() {
        let (close, closed) = oneshot::channel();
        let is_closed = Cell::new(false);
        let slow = async {
            closed.await.unwrap();
            is_closed.set(true);
        };
        let a_minute_later = async {
            tokio::time::advance(Duration::from_secs(60)).await;
            close.send(()).unwrap();
        };
        tokio::join!(wait_until_closed(slow, pending()), a_minute_later);
        assert!(is_closed.get());
        wait_until_closed(pending(), ready(())).await;
    }
}
