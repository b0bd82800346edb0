//! Attempts at a result: each is kept as it comes, and a later run goes on from the last.

use tokio::sync::Semaphore;

use super::RunContext;
use crate::domain::battle::ModelId;
use crate::infra::clock::Clock;
use crate::infra::llm::model_client::WholeReply;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{AttemptRow, AttemptStatus, OpenAttempts, Store, StoreError};

/// Reads of the database under way at the same time, where a batch has thousands of workers.
const READS_AT_ONCE: usize = 64;

/// Places for reads.
#[must_use]
pub(super) fn reads() -> Semaphore {
    Semaphore::new(READS_AT_ONCE)
}

/// Reads when there is a place for it.
pub(super) async fn reading<T>(reads: &Semaphore, read: impl Future<Output = T>) -> T {
    // Nobody closes it; and without a place the read would only wait elsewhere.
    let _place = reads.acquire().await;
    read.await
}

/// A row of a run: a result, or an attempt at one.
pub enum RunRow<T> {
    /// An answer, judgement or verdict.
    Result(T),
    /// A reply that settled nothing, or a refusal.
    Attempt(Box<AttemptRow>),
}

/// Where attempts are kept.
#[derive(Clone, Copy)]
pub struct AttemptLog<'l> {
    /// The database.
    pub store: &'l Store,
    /// Clock of the stored rows.
    pub clock: &'l dyn Clock,
    /// Randomness, for ids.
    pub rng: &'l SharedRng,
}

impl<'l> From<RunContext<'l>> for AttemptLog<'l> {
    fn from(RunContext { store, clock, rng, .. }: RunContext<'l>) -> Self {
        Self { store, clock, rng }
    }
}

/// The attempts at one result.
pub struct ResultAttempts<'l> {
    log: AttemptLog<'l>,
    model: &'l ModelId,
    request_sha256: String,
    /// The id of the result.
    pub result: String,
    /// What earlier runs heard.
    pub earlier: Vec<WholeReply>,
}

impl<'l> AttemptLog<'l> {
    /// The attempts of earlier runs at a request, to go on with; `None` where they cannot be read, and asking would pay twice.
    pub async fn resume(self, model: &'l ModelId, request_sha256: String) -> Option<ResultAttempts<'l>> {
        let open = match self.store.open_attempts(model, &request_sha256).await {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(error = %error, "earlier attempts cannot be read");
                return None;
            }
        };
        let new = || OpenAttempts { result: self.rng.id(self.clock), replies: Vec::new() };
        let OpenAttempts { result, replies: earlier } = open.unwrap_or_else(new);
        Some(ResultAttempts { log: self, model, request_sha256, result, earlier })
    }

    /// Commits the attempts, and returns the results.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_attempts<T>(self, rows: Vec<RunRow<T>>) -> Result<Vec<T>, StoreError> {
        let (mut results, mut attempts) = (Vec::new(), Vec::new());
        for row in rows {
            match row {
                RunRow::Result(result) => results.push(result),
                RunRow::Attempt(attempt) => attempts.push(*attempt),
            }
        }
        if !attempts.is_empty() {
            self.store.insert_attempts(&attempts).await?;
        }
        Ok(results)
    }
}

impl ResultAttempts<'_> {
    /// An attempt as it is kept.
    #[must_use]
    pub fn row<T>(&self, status: AttemptStatus, reply: WholeReply) -> Vec<RunRow<T>> {
        let AttemptLog { clock, rng, .. } = self.log;
        vec![RunRow::Attempt(Box::new(AttemptRow {
            id: rng.id(clock),
            result: self.result.clone(),
            model: self.model.clone(),
            request_sha256: self.request_sha256.clone(),
            status,
            reply,
            created_at: clock.now(),
        }))]
    }
}
