//! The settings file that a running arena follows: where it is, what came of its last reading, and a way to have it read now.

use std::path::PathBuf;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::infra::config::Environment;

/// Requests to read the file that may wait; one more waits for room.
const REQUESTS: usize = 16;

/// Somebody who waits until the file was read.
pub type Reader = oneshot::Sender<()>;

/// A settings file that is followed.
pub struct WatchedSettingsFile {
    /// Its path; it need not exist.
    pub path: PathBuf,
    /// The environment, for the models' keys.
    pub env: Environment,
    problem: Mutex<Option<String>>,
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

    /// Why the file as it stands is not in force; `None` where it is. No secret stands in the text.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().clone()
    }

    /// Says what came of a reading.
    pub fn set_problem(&self, problem: Option<String>) {
        *self.problem.lock() = problem;
    }
}
