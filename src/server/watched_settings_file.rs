//! The settings file that a running arena follows: where it is, what came of its last reading, and a way to have it read now.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::infra::config::{ConfigError, Environment};
use crate::infra::storage::StoreError;

/// Requests to read the file that may wait; one more waits for room.
const REQUESTS: usize = 16;

/// Somebody who waits until the file was read.
pub type Reader = oneshot::Sender<()>;

/// Why the settings file as it stands is not in force.
#[derive(Debug, thiserror::Error)]
pub enum SettingsProblem {
    /// There is no text in it.
    #[error("the settings file is missing, unreadable or empty")]
    Blank,
    /// No arena can run on its settings.
    #[error("{0}")]
    Settings(#[from] ConfigError),
    /// The database took no models.
    #[error("the models could not be registered: {0}")]
    Store(#[from] StoreError),
}

/// A settings file that is followed.
pub struct WatchedSettingsFile {
    /// Its path; it need not exist.
    pub path: PathBuf,
    /// The environment, for the models' keys.
    pub env: Environment,
    problem: Mutex<Option<Arc<SettingsProblem>>>,
    requests: mpsc::Sender<Reader>,
}

impl WatchedSettingsFile {
    /// The file, and the requests that its follower answers.
    #[must_use]
    pub fn new(path: PathBuf, env: Environment) -> (Self, mpsc::Receiver<Reader>) {
        let (requests, taken) = mpsc::channel(REQUESTS);
        (Self { path, env, problem: Mutex::new(None), requests }, taken)
    }

    /// Has the file read at once, and returns when that is done. Where nobody follows it at the moment, it is read soon.
    pub async fn read_now(&self) {
        let (done, read) = oneshot::channel();
        if self.requests.send(done).await.is_ok() {
            // The follower of the file may end in the meantime, which the next reading makes good.
            let _ = read.await;
        }
    }

    /// Why the file as it stands is not in force; `None` where it is. No value that may be secret stands in it.
    #[must_use]
    pub fn problem(&self) -> Option<Arc<SettingsProblem>> {
        self.problem.lock().clone()
    }

    /// Says what came of a reading.
    pub fn set_problem(&self, problem: Option<Arc<SettingsProblem>>) {
        *self.problem.lock() = problem;
    }
}
