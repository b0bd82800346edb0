//! Run that holds a lock and stops if the lock is lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{JobLock, Store, StoreError};

/// Interval of checks that a lock of a remote database is still held.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Run that holds its lock.
pub struct LockedRun {
    lock: Mutex<Option<JobLock>>,
    /// Budget and stop signal of the run.
    pub limits: Arc<RunLimits>,
}

impl LockedRun {
    /// Acquires a lock; `None` if another run holds it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin(store: &Store, lock: &str, limits: Arc<RunLimits>) -> Result<Option<Self>, StoreError> {
        let lock = store.command_lock(lock).await?;
        Ok(lock.map(|lock| Self { lock: Mutex::new(Some(lock)), limits }))
    }

    /// Runs the work, and stops it if the lock is lost: another process may hold it then.
    pub async fn until_lock_is_lost<T>(&self, work: impl Future<Output = T>) -> T {
        let watch = async {
            loop {
                tokio::time::sleep(LOCK_CHECK_INTERVAL).await;
                let held = match self.lock.lock().await.as_mut() {
                    Some(lock) => lock.is_held().await,
                    None => true,
                };
                if !held {
                    tracing::warn!("stopping: the database does not hold this run's lock any more");
                    self.limits.stop.cancel();
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            done = work => done,
            never = watch => never,
        }
    }

    /// Releases the lock.
    pub async fn release(self) -> Arc<RunLimits> {
        if let Some(lock) = self.lock.into_inner() {
            lock.release().await;
        }
        self.limits
    }
}
