//! The watched settings file: its path, the result of the last read, and requests to read it now.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::infra::config::{ConfigError, Environment};
use crate::infra::storage::StoreError;

/// Maximum number of queued read requests; further ones wait.
const REQUEST_CAPACITY: usize = 16;

/// Requester that waits until the file was read.
pub type Reader = oneshot::Sender<()>;

/// Reason why the current settings file is not in force.
#[derive(Debug, thiserror::Error)]
pub enum SettingsProblem {
    /// The file is empty.
    #[error("the settings file is missing, unreadable or empty")]
    Blank,
    /// The settings are invalid.
    #[error("{0}")]
    Settings(#[from] ConfigError),
    /// The database could not store the models.
    #[error("the models could not be registered: {0}")]
    Store(#[from] StoreError),
}

/// Watched settings file.
pub struct WatchedSettingsFile {
    /// Path of the file, which need not exist.
    pub path: PathBuf,
    /// Environment, for the API keys of models.
    pub env: Environment,
    problem: Mutex<Option<Arc<SettingsProblem>>>,
    requests: mpsc::Sender<Reader>,
}

impl WatchedSettingsFile {
    /// Creates the file handle, and the receiver of the read requests.
    #[must_use]
    pub fn new(path: PathBuf, env: Environment) -> (Self, mpsc::Receiver<Reader>) {
        let (requests, taken) = mpsc::channel(REQUEST_CAPACITY);
        (Self { path, env, problem: Mutex::new(None), requests }, taken)
    }

    /// Requests a read and waits for it. If nothing watches the file at the moment, it is read soon.
    pub async fn read_now(&self) {
        let (done, read) = oneshot::channel();
        if self.requests.send(done).await.is_ok() {
            // The watcher may end in the meantime; its next read makes up for that.
            let _ = read.await;
        }
    }

    /// Returns why the current file is not in force; `None` if it is. Contains no value that may be secret.
    #[must_use]
    pub fn problem(&self) -> Option<Arc<SettingsProblem>> {
        self.problem.lock().clone()
    }

    /// Sets the result of the last read.
    pub fn set_problem(&self, problem: Option<Arc<SettingsProblem>>) {
        *self.problem.lock() = problem;
    }
}
