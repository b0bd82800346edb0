//! Votes are written in groups: one commit, and one wait for the disk, for all that came while the last one was under way.
//!
//! A caller gets its answer only after that commit. The queue is bounded: where it stays full, callers are refused.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::ballots::{Ballot, LARGEST_GROUP, TakesBallots};
use super::{Database, StoreError, on_writer};
use crate::metrics;

/// Votes that wait for their group at the most.
const QUEUE: usize = 4_096;
/// How long a caller waits for a place in the queue.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// What was stored of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Every vote in it.
    All,
    /// Not every one, so that each caller has to look whose vote its battle has. A group that is sent again after a
    /// lost answer ends here, too.
    Some,
}

/// What a caller waits for.
type Answer = oneshot::Sender<Result<Written, StoreError>>;

/// The way to the one task that writes votes.
#[derive(Debug, Clone)]
pub(super) struct VoteQueue {
    sender: mpsc::Sender<(Ballot, Answer)>,
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

    /// Has a ballot written, and returns after its commit.
    pub(super) async fn write(&self, ballot: Ballot) -> Result<Written, StoreError> {
        let (answer, answered) = oneshot::channel();
        match self.sender.send_timeout((ballot, answer), LONGEST_WAIT).await {
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
    async fn run(self, mut waiting: mpsc::Receiver<(Ballot, Answer)>, stop: CancellationToken) {
        let mut group = Vec::with_capacity(LARGEST_GROUP);
        let depth = metrics::queue_depth("votes");
        loop {
            // Whoever was answered just now may have the next vote ready: it shall not miss the group.
            tokio::task::yield_now().await;
            tokio::select! {
                taken = waiting.recv_many(&mut group, LARGEST_GROUP) => if taken == 0 { return },
                () = stop.cancelled(), if !waiting.is_closed() => {
                    waiting.close();
                    continue;
                }
            }
            depth.set(metrics::float(group.len() + waiting.len()));
            let (ballots, answers): (Vec<_>, Vec<_>) = group.drain(..).unzip();
            self.write(&ballots, answers).await;
            depth.set(metrics::float(waiting.len()));
        }
    }

    /// Writes a group, and answers every caller. Where the database refuses it, one of its votes is at fault: each is
    /// tried alone then, so that none pays for another.
    async fn write(&self, ballots: &[Ballot], answers: Vec<Answer>) {
        match self.insert(ballots).await {
            Ok(written) => answer(answers, || Ok(written)),
            Err(error) if ballots.len() > 1 && !error.is_outage() && !self.database.passes(&error) => {
                for (ballot, alone) in ballots.iter().zip(answers) {
                    // A caller that is gone has left the battle, too.
                    let _ = alone.send(self.insert(std::slice::from_ref(ballot)).await);
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                answer(answers, || Err(StoreError::Group(Arc::clone(&error))));
            }
        }
    }

    async fn insert(&self, ballots: &[Ballot]) -> Result<Written, StoreError> {
        let stored = on_writer!(self, |pool| {
            TakesBallots::insert(ballots).execute(pool).await.map(|done| done.rows_affected())
        })?;
        Ok(if usize::try_from(stored).is_ok_and(|stored| stored == ballots.len()) {
            Written::All
        } else {
            Written::Some
        })
    }
}

fn answer(callers: Vec<Answer>, result: impl Fn() -> Result<Written, StoreError>) {
    for caller in callers {
        // A caller that is gone has left the battle, too.
        let _ = caller.send(result());
    }
}
