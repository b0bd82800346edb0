//! Votes are written in groups: one commit, and one wait for the disk, for all that came while the last one was under way.
//!
//! A caller gets its answer only after that commit. The queue is bounded: where it stays full, callers are refused.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Database, StoreError, on_writer, votes};
use crate::metrics;

/// Votes that wait for their group at the most.
const QUEUE: usize = 4_096;
/// Votes in one commit at the most.
const GROUP: usize = 512;
/// How long a caller waits for a place in the queue.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A vote that waits, as JSON, with whoever waits for it.
struct Waiting {
    id: String,
    ballot: String,
    answer: oneshot::Sender<Result<bool, StoreError>>,
}

/// The way to the one task that writes votes.
#[derive(Debug, Clone)]
pub(super) struct VoteQueue {
    sender: mpsc::Sender<Waiting>,
    stop: CancellationToken,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl VoteQueue {
    /// Starts the writer; it ends with [`VoteQueue::close`], or when the last handle is gone.
    pub(super) fn start(database: Database) -> Self {
        let (sender, waiting) = mpsc::channel(QUEUE);
        let stop = CancellationToken::new();
        let writer = tokio::spawn(VoteWriter { database }.run(waiting, stop.clone()));
        Self { sender, stop, writer: Arc::new(Mutex::new(Some(writer))) }
    }

    /// Has a ballot written; `false` means that the battle took none.
    pub(super) async fn write(&self, id: String, ballot: String) -> Result<bool, StoreError> {
        let (answer, answered) = oneshot::channel();
        match self.sender.send_timeout(Waiting { id, ballot, answer }, LONGEST_WAIT).await {
            Ok(()) => answered.await.unwrap_or(Err(sqlx::Error::PoolClosed.into())),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(StoreError::Busy),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(sqlx::Error::PoolClosed.into()),
        }
    }

    /// Takes no more votes, and waits until those in the queue are written.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer
            && let Err(error) = writer.await
        {
            tracing::error!(error = %error, "the writer of votes ended badly");
        }
    }
}

struct VoteWriter {
    database: Database,
}

impl VoteWriter {
    async fn run(self, mut waiting: mpsc::Receiver<Waiting>, stop: CancellationToken) {
        let mut group = Vec::with_capacity(GROUP);
        let depth = metrics::queue_depth("votes");
        loop {
            // Whoever was answered just now may have the next vote ready: it shall not miss the group.
            tokio::task::yield_now().await;
            tokio::select! {
                taken = waiting.recv_many(&mut group, GROUP) => if taken == 0 { return },
                () = stop.cancelled(), if !waiting.is_closed() => waiting.close(),
            }
            depth.set(metrics::float(group.len() + waiting.len()));
            self.write(std::mem::take(&mut group)).await;
            depth.set(metrics::float(waiting.len()));
        }
    }

    /// Writes a group, and answers every caller. Where the database refuses it, one of its votes is at fault: each is
    /// tried alone then, so that none pays for another.
    async fn write(&self, group: Vec<Waiting>) {
        match self.insert(&group).await {
            Ok(stored) => answer(group, &stored),
            Err(error) if group.len() == 1 || self.database.passes(&error) => {
                let error = Arc::new(error);
                for waiting in group {
                    // A caller that is gone has left the battle, too.
                    let _ = waiting.answer.send(Err(StoreError::Group(Arc::clone(&error))));
                }
            }
            Err(_) => {
                for waiting in group {
                    Box::pin(self.write(vec![waiting])).await;
                }
            }
        }
    }

    /// The ids of the votes that were stored.
    async fn insert(&self, group: &[Waiting]) -> Result<HashSet<String>, StoreError> {
        let Some(first) = group.first() else { return Ok(HashSet::new()) };
        let length = group.iter().map(|waiting| waiting.ballot.len() + 1).sum::<usize>() + 1;
        let mut ballots = String::with_capacity(length);
        ballots.push('[');
        ballots.push_str(&first.ballot);
        for waiting in &group[1..] {
            ballots.push(',');
            ballots.push_str(&waiting.ballot);
        }
        ballots.push(']');
        let insert = votes::insert_statement(&self.database);
        let ids: Vec<String> =
            on_writer!(self, |pool| sqlx::query_scalar(insert).bind(&ballots).fetch_all(pool).await)?;
        Ok(ids.into_iter().collect())
    }
}

fn answer(group: Vec<Waiting>, stored: &HashSet<String>) {
    for waiting in group {
        // A caller that is gone has left the battle, too.
        let _ = waiting.answer.send(Ok(stored.contains(&waiting.id)));
    }
}
