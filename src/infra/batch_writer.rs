//! Commits rows in batches: replies that arrive together share one flush of the disk.

use tokio::sync::{mpsc, oneshot};

/// Maximum number of row sets in one commit.
const MAX_ROW_SETS: usize = 64;

/// Sends rows to a [`BatchWriter`].
pub struct BatchSender<T>(mpsc::Sender<QueuedRows<T>>);

struct QueuedRows<T> {
    rows: Vec<T>,
    kept: oneshot::Sender<()>,
}

impl<T> BatchSender<T> {
    /// Sends rows and waits until they are committed; `false` if the writer has failed.
    pub async fn keep(&self, rows: Vec<T>) -> bool {
        let (kept, committed) = oneshot::channel();
        self.0.send(QueuedRows { rows, kept }).await.is_ok() && committed.await.is_ok()
    }
}

/// Commits the rows it receives in batches.
pub struct BatchWriter<T>(mpsc::Receiver<QueuedRows<T>>);

/// Creates a writer and its sender.
pub fn batch_writer<T>() -> (BatchSender<T>, BatchWriter<T>) {
    let (sender, receiver) = mpsc::channel(MAX_ROW_SETS);
    (BatchSender(sender), BatchWriter(receiver))
}

impl<T> BatchWriter<T> {
    /// Commits until every sender is gone.
    ///
    /// # Errors
    /// The first failure. The rows sent with it are not stored, and [`BatchSender::keep`] returns `false` to their senders.
    pub async fn run<E, F>(mut self, commit: impl Fn(Vec<T>) -> F) -> Result<(), E>
    where
        F: Future<Output = Result<(), E>>,
    {
        let mut queued = Vec::new();
        while self.0.recv_many(&mut queued, MAX_ROW_SETS).await > 0 {
            let (rows, waiting): (Vec<Vec<T>>, Vec<_>) = queued.drain(..).map(|set| (set.rows, set.kept)).unzip();
            commit(rows.into_iter().flatten().collect()).await?;
            for kept in waiting {
                // A sender that stopped waiting needs no answer.
                let _ = kept.send(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::join_all;

    use super::*;
    use crate::storage::StoreError;

    #[tokio::test]
    async fn what_comes_together_is_kept_in_one_commit_and_a_failure_reaches_all_who_wait() {
        let (batch, rows) = batch_writer();
        let commits = Mutex::new(Vec::new());
        let writing = rows.run(async |rows: Vec<u32>| {
            let busy = rows.contains(&7);
            commits.lock().unwrap().push(rows);
            if busy { Err(StoreError::Busy) } else { Ok(()) }
        });
        let asking = async move {
            let first = join_all((0..3).map(|row| batch.keep(vec![row, 10 * row]))).await;
            let second = join_all([7, 8].map(|row| batch.keep(vec![row]))).await;
            (first, second, batch.keep(vec![9]).await)
        };
        let ((first, second, after), kept) = tokio::join!(asking, writing);
        assert_eq!((first, second, after), (vec![true; 3], vec![false; 2], false));
        assert!(matches!(kept, Err(StoreError::Busy)));
        assert_eq!(*commits.lock().unwrap(), [vec![0, 0, 1, 10, 2, 20], vec![7, 8]]);
    }
}
