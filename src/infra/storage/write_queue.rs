//! Group commit: one transaction, and one disk flush, for all writes that arrived during the previous one.
//!
//! On SQLite all writes of battles are queued here, on PostgreSQL only votes, on a reserved connection: there each of the other writes is
//! one statement on a pooled connection, and the server groups their commits. A caller gets its result only after the commit. Both lanes
//! are bounded, and every group takes from each of them, so that a flood of votes does not block battles. If a lane stays full, callers are
//! refused.

pub(super) mod battle_writes;
pub(super) mod vote_inserts;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Database, StoreError, on_writer};
use crate::metrics;
use crate::storage::outage::OutageKind;
use crate::storage::write_queue::battle_writes::{ApplyWrite, BattleWrite};
use crate::storage::write_queue::vote_inserts::{InsertVotes, VoteInsert};

/// Maximum number of writes waiting in a lane.
const LANE_CAPACITY: usize = 4_096;
/// Minimum interval between the starts of two groups, unless [`MIN_IMMEDIATE_GROUP`] are waiting: each commit costs a disk flush and
/// several thread switches, whatever its size.
const MIN_GROUP_INTERVAL: Duration = Duration::from_millis(2);
const MIN_IMMEDIATE_GROUP: usize = 64;
/// Maximum number of writes of a lane in one commit.
const MAX_GROUP_SIZE: usize = 1_024;
/// Maximum wait of a caller for a place in its lane.
const ENQUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// Result of inserting a group of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertResult {
    /// Every vote was inserted.
    All,
    /// Not every vote was inserted, so each caller must check whose vote its battle has. A group repeated after a lost answer also ends
    /// here.
    Some,
}

/// A queued write with the channel to its caller.
struct Pending<W, A> {
    write: W,
    answer: oneshot::Sender<Result<A, StoreError>>,
}

/// Handle of the writer task.
#[derive(Debug, Clone)]
pub(super) struct WriteQueue {
    battles: mpsc::Sender<Pending<BattleWrite, u64>>,
    votes: mpsc::Sender<Pending<VoteInsert, InsertResult>>,
    stop: CancellationToken,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl WriteQueue {
    /// Starts the writer; it ends with [`WriteQueue::close`], or when the last handle is dropped.
    pub(super) fn start(database: Database) -> Self {
        let (battles, waiting_battles) = mpsc::channel(LANE_CAPACITY);
        let (votes, waiting_votes) = mpsc::channel(LANE_CAPACITY);
        let stop = CancellationToken::new();
        let database = match database {
            Database::Postgres(postgres) => Database::Postgres(postgres.for_votes()),
            embedded @ Database::Sqlite(_) => embedded,
        };
        let lanes = Lanes { battles: waiting_battles, votes: waiting_votes };
        let writer = tokio::spawn(lanes.write_all(GroupWriter { database }, stop.clone()));
        Self { battles, votes, stop, writer: Arc::new(Mutex::new(Some(writer))) }
    }

    /// Queues a change of a battle; returns after its commit the number of battles changed.
    pub(super) async fn battle(&self, write: BattleWrite) -> Result<u64, StoreError> {
        enqueue(&self.battles, write).await
    }

    /// Queues a vote; returns after its commit.
    pub(super) async fn vote(&self, insert: VoteInsert) -> Result<InsertResult, StoreError> {
        enqueue(&self.votes, insert).await
    }

    /// Accepts no more writes, and waits until the queued ones are done.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        let writer = self.writer.lock().take();
        if let Some(writer) = writer
            && let Err(error) = writer.await
        {
            tracing::error!(error = %error, "the writer of battles and votes panicked");
        }
    }
}

async fn enqueue<W, A>(lane: &mpsc::Sender<Pending<W, A>>, write: W) -> Result<A, StoreError> {
    let (answer, answered) = oneshot::channel();
    match lane.send_timeout(Pending { write, answer }, ENQUEUE_TIMEOUT).await {
        // The sender is gone only if the writer panicked; the next write succeeds.
        Ok(()) => answered.await.unwrap_or(Err(sqlx::Error::WorkerCrashed.into())),
        Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(StoreError::Busy),
        Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(sqlx::Error::PoolClosed.into()),
    }
}

/// Queued writes.
struct Lanes {
    battles: mpsc::Receiver<Pending<BattleWrite, u64>>,
    votes: mpsc::Receiver<Pending<VoteInsert, InsertResult>>,
}

impl Lanes {
    /// Writes groups until both lanes are closed and empty.
    async fn write_all(mut self, writer: GroupWriter, stop: CancellationToken) {
        let depths = [metrics::queue_depth("battles"), metrics::queue_depth("votes")];
        let mut earliest = Instant::now();
        while let Some(group) = self.next_group(earliest, &stop).await {
            earliest = Instant::now() + MIN_GROUP_INTERVAL;
            depths[0].set(metrics::float(group.battles.len() + self.battles.len()));
            depths[1].set(metrics::float(group.votes.len() + self.votes.len()));
            // A separate task, so that a panic costs this group and not the queue.
            if let Err(error) = tokio::spawn(writer.clone().write(group)).await {
                tracing::error!(error = %error, "a group of writes panicked: its callers got an error");
            }
            depths[0].set(metrics::float(self.battles.len()));
            depths[1].set(metrics::float(self.votes.len()));
        }
    }

    /// Takes all writes queued at `earliest`, up to [`MAX_GROUP_SIZE`] of each lane; earlier if enough are waiting, later if there are none;
    /// `None` at the end.
    async fn next_group(&mut self, earliest: Instant, stop: &CancellationToken) -> Option<CommitGroup> {
        // A caller that just got its result may have the next write ready: it must not miss the group.
        tokio::task::yield_now().await;
        let mut group = CommitGroup::default();
        while group.is_empty() || group.len() < MIN_IMMEDIATE_GROUP && Instant::now() < earliest {
            let room = MAX_GROUP_SIZE - group.len();
            tokio::select! {
                _ = self.battles.recv_many(&mut group.battles, room), if !is_over(&self.battles) => {}
                _ = self.votes.recv_many(&mut group.votes, room), if !is_over(&self.votes) => {}
                () = tokio::time::sleep_until(earliest), if !group.is_empty() => {}
                () = stop.cancelled(), if !self.votes.is_closed() => {
                    self.battles.close();
                    self.votes.close();
                }
                else => return None,
            }
        }
        take_queued(&mut self.battles, &mut group.battles);
        take_queued(&mut self.votes, &mut group.votes);
        Some(group)
    }
}

fn is_over<T>(lane: &mpsc::Receiver<T>) -> bool {
    lane.is_closed() && lane.is_empty()
}

/// Takes the queued writes of a lane without waiting for more.
fn take_queued<T>(lane: &mut mpsc::Receiver<T>, taken: &mut Vec<T>) {
    while taken.len() < MAX_GROUP_SIZE
        && let Ok(pending) = lane.try_recv()
    {
        taken.push(pending);
    }
}

/// Writes of one transaction.
#[derive(Default)]
struct CommitGroup {
    battles: Vec<Pending<BattleWrite, u64>>,
    votes: Vec<Pending<VoteInsert, InsertResult>>,
}

impl CommitGroup {
    fn len(&self) -> usize {
        self.battles.len() + self.votes.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone)]
struct GroupWriter {
    database: Database,
}

impl GroupWriter {
    /// Writes a group, and answers every caller. If the database refuses it and one of its writes may be the cause, each is retried alone,
    /// so that none fails because of another.
    async fn write(self, group: CommitGroup) {
        let (writes, changes): (Vec<_>, Vec<_>) = group.battles.into_iter().map(Pending::split).unzip();
        let (inserts, receipts): (Vec<_>, Vec<_>) = group.votes.into_iter().map(Pending::split).unzip();
        match self.commit(&writes, &inserts).await {
            Ok((changed, written)) => {
                self.note_stored(inserts.len());
                changes.into_iter().zip(changed).for_each(|(caller, changed)| answer(caller, Ok(changed)));
                receipts.into_iter().for_each(|caller| answer(caller, Ok(written)));
            }
            Err(error) if writes.len() + inserts.len() > 1 && self.may_be_of_one_write(&error) => {
                for (write, caller) in writes.iter().zip(changes) {
                    let written = self.commit(std::slice::from_ref(write), &[]).await;
                    answer(caller, written.map(|(changed, _)| changed.into_iter().sum()));
                }
                for (insert, caller) in inserts.iter().zip(receipts) {
                    let written = self.commit(&[], std::slice::from_ref(insert)).await;
                    match &written {
                        Ok(_) => self.note_stored(1),
                        Err(error) => self.note_refused(error, 1),
                    }
                    answer(caller, written.map(|(_, written)| written));
                }
            }
            Err(error) => {
                self.note_refused(&error, inserts.len());
                let error = Arc::new(error);
                changes.into_iter().for_each(|caller| answer(caller, Err(StoreError::Group(Arc::clone(&error)))));
                receipts.into_iter().for_each(|caller| answer(caller, Err(StoreError::Group(Arc::clone(&error)))));
            }
        }
    }

    /// Whether a single write may be the cause, also by a missing privilege on a table that the others do not use. A lock blocks until its
    /// timeout; if each write waited for it, those behind them would wait for minutes.
    fn may_be_of_one_write(&self, error: &StoreError) -> bool {
        let is_outage = error.outage_kind().is_some_and(|kind| kind != OutageKind::NoPrivilege);
        !is_outage && !self.database.is_transient(error)
    }

    /// Counts votes refused because of a lock or a missing privilege.
    fn note_refused(&self, error: &StoreError, votes: usize) {
        if let (Some(refusals), Some(kind)) = (self.database.refusals(), error.outage_kind()) {
            refusals.note_refused_votes(kind, votes);
        }
    }

    fn note_stored(&self, votes: usize) {
        if let Some(refusals) = self.database.refusals().filter(|_| votes > 0) {
            refusals.note_stored_votes();
        }
    }

    /// Writes the group in one commit; returns the number of battles changed by each write, and whether all votes are new.
    async fn commit(
        &self,
        writes: &[BattleWrite],
        inserts: &[VoteInsert],
    ) -> Result<(Vec<u64>, InsertResult), StoreError> {
        on_writer!(self, |connection| {
            let mut changed = Vec::with_capacity(writes.len());
            for write in writes {
                changed.push(connection.apply(write).await?);
            }
            let stored = if inserts.is_empty() { 0 } else { connection.take(inserts).await? };
            let all = usize::try_from(stored).is_ok_and(|stored| stored == inserts.len());
            Ok::<_, sqlx::Error>((changed, if all { InsertResult::All } else { InsertResult::Some }))
        })
    }
}

impl<W, A> Pending<W, A> {
    fn split(self) -> (W, oneshot::Sender<Result<A, StoreError>>) {
        (self.write, self.answer)
    }
}

fn answer<A>(caller: oneshot::Sender<Result<A, StoreError>>, answer: Result<A, StoreError>) {
    // A caller that was cancelled has left the battle, too.
    let _ = caller.send(answer);
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::Poll;

    use tokio::time::advance;

    use super::*;
    use crate::domain::time::Timestamp;

    const MS: Duration = Duration::from_millis(1);

    struct QueueFixture {
        lanes: Lanes,
        battles: mpsc::Sender<Pending<BattleWrite, u64>>,
        stop: CancellationToken,
        _votes: mpsc::Sender<Pending<VoteInsert, InsertResult>>,
    }

    fn fixture() -> QueueFixture {
        let (battles, waiting_battles) = mpsc::channel(LANE_CAPACITY);
        let (votes, waiting_votes) = mpsc::channel(LANE_CAPACITY);
        let lanes = Lanes { battles: waiting_battles, votes: waiting_votes };
        QueueFixture { lanes, battles, stop: CancellationToken::new(), _votes: votes }
    }

    /// Enqueues this many writes.
    fn enqueue_all(battles: &mpsc::Sender<Pending<BattleWrite, u64>>, count: usize) {
        for _ in 0..count {
            let write = BattleWrite::Abandon { oldest: Timestamp(0), newest: Timestamp(1) };
            assert!(battles.try_send(Pending { write, answer: oneshot::channel().0 }).is_ok());
        }
    }

    /// Returns the size of the group, if it is complete now.
    async fn complete(group: &mut Pin<&mut impl Future<Output = Option<CommitGroup>>>) -> Option<usize> {
        // The first poll only yields to others.
        for _ in 0..3 {
            if let Poll::Ready(group) = futures_util::poll!(group.as_mut()) {
                return Some(group.expect("the queue is open").len());
            }
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_before_its_time_shares_a_group() {
        let QueueFixture { mut lanes, battles, stop, _votes } = fixture();
        let mut group = pin!(lanes.next_group(Instant::now() + 4 * MS, &stop));
        enqueue_all(&battles, 1);
        assert_eq!(complete(&mut group).await, None);
        advance(3 * MS).await;
        enqueue_all(&battles, 2);
        assert_eq!(complete(&mut group).await, None, "its time has not come");
        advance(MS).await;
        assert_eq!(complete(&mut group).await, Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn on_an_idle_arena_a_write_waits_for_nothing() {
        let QueueFixture { mut lanes, battles, stop, _votes } = fixture();
        let mut group = pin!(lanes.next_group(Instant::now(), &stop));
        assert_eq!(complete(&mut group).await, None);
        advance(1_000 * MS).await;
        enqueue_all(&battles, 1);
        assert_eq!(complete(&mut group).await, Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn enough_writes_do_not_wait() {
        let QueueFixture { mut lanes, battles, stop, _votes } = fixture();
        let mut group = pin!(lanes.next_group(Instant::now() + 4 * MS, &stop));
        enqueue_all(&battles, MIN_IMMEDIATE_GROUP - 1);
        assert_eq!(complete(&mut group).await, None);
        enqueue_all(&battles, 1);
        assert_eq!(complete(&mut group).await, Some(MIN_IMMEDIATE_GROUP));
    }

    #[tokio::test(start_paused = true)]
    async fn at_the_end_what_waits_is_written_and_nothing_more_comes() {
        let QueueFixture { mut lanes, battles, stop, _votes } = fixture();
        enqueue_all(&battles, 2);
        stop.cancel();
        let last = lanes.next_group(Instant::now() + 4 * MS, &stop).await;
        assert_eq!(last.map(|group| group.len()), Some(2));
        assert!(lanes.next_group(Instant::now(), &stop).await.is_none());
    }
}
