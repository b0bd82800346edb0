//! A run under its lock, which ends where the lock is lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{JobLock, Store, StoreError};

/// How often a lock that another machine grants is looked after.
const LOCK_CHECK: Duration = Duration::from_secs(5);

/// A run that has begun.
pub struct LockedRun {
    lock: Mutex<Option<JobLock>>,
    /// What it may spend, and whether it is to end.
    pub limits: Arc<RunLimits>,
}

impl LockedRun {
    /// Takes a lock; `None` where another run has it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin(store: &Store, lock: &str, limits: Arc<RunLimits>) -> Result<Option<Self>, StoreError> {
        let lock = store.command_lock(lock).await?;
        Ok(lock.map(|lock| Self { lock: Mutex::new(Some(lock)), limits }))
    }

    /// Does the work, and stops it where the lock is lost: another process may have it then.
    pub async fn until_lock_is_lost<T>(&self, work: impl Future<Output = T>) -> T {
        let watch = async {
            loop {
                tokio::time::sleep(LOCK_CHECK).await;
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

    /// Gives the lock back.
    pub async fn release(self) -> Arc<RunLimits> {
        if let Some(lock) = self.lock.into_inner() {
            lock.release().await;
        }
        self.limits
    }
}
