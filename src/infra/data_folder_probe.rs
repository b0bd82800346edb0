//! Probe of whether files can be created in the data folder, for health checks every few seconds: on a hanging disk a check never ends, and
//! each one takes a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Checks the folder, with at most one check at a time.
#[derive(Debug)]
pub struct DataFolderProbe {
    looks: Arc<Semaphore>,
    was_writable: AtomicBool,
}

impl Default for DataFolderProbe {
    /// Before the first check the folder counts as writable.
    fn default() -> Self {
        Self { looks: Arc::new(Semaphore::new(1)), was_writable: AtomicBool::new(true) }
    }
}

impl DataFolderProbe {
    /// Returns the result of `look`, which may block on the disk, or the last result while another check is running. A check longer than
    /// `patience` counts as not writable.
    pub async fn is_writable(&self, patience: Duration, look: impl FnOnce() -> bool + Send + 'static) -> bool {
        let Ok(permit) = Arc::clone(&self.looks).try_acquire_owned() else {
            return self.was_writable.load(Ordering::Relaxed);
        };
        let looking = spawn_blocking(move || {
            let found = look();
            drop(permit);
            found
        });
        let is_writable = matches!(timeout(patience, looking).await, Ok(Ok(true)));
        self.was_writable.store(is_writable, Ordering::Relaxed);
        is_writable
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn while_a_look_hangs_no_other_begins_and_the_folder_counts_as_not_writable() {
        let (probe, (disk, hangs)) = (DataFolderProbe::default(), mpsc::channel::<()>());
        assert!(probe.is_writable(MINUTE, || true).await);
        assert!(!probe.is_writable(Duration::ZERO, move || hangs.recv().is_ok()).await);
        assert!(!probe.is_writable(MINUTE, || true).await, "the first look has not ended");
        disk.send(()).unwrap();
        drop(probe.looks.acquire().await.unwrap());
        assert!(probe.is_writable(MINUTE, || true).await);
    }
}
