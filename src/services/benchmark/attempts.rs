//! Attempts at a result: each is stored at once, and a later run continues from the last.

use tokio::sync::Semaphore;

use super::RunContext;
use crate::domain::battle::ModelId;
use crate::infra::llm::model_client::WholeReply;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{AttemptRow, AttemptStatus, OpenAttempts, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Maximum number of concurrent database reads, where a batch has thousands of workers.
const MAX_CONCURRENT_READS: usize = 64;

/// Creates the semaphore for reads.
#[must_use]
pub(super) fn reads() -> Semaphore {
    Semaphore::new(MAX_CONCURRENT_READS)
}

/// Runs a read under a permit of the semaphore.
pub(super) async fn reading<T>(reads: &Semaphore, read: impl Future<Output = T>) -> T {
    // The semaphore is never closed; without a permit the read would only wait elsewhere.
    let _place = reads.acquire().await;
    read.await
}

/// Row of a run: a result, or an attempt at one.
pub enum RunRow<T> {
    /// An answer, judgement or verdict.
    Result(T),
    /// Unusable reply, or a refusal.
    Attempt(Box<AttemptRow>),
}

/// Stores attempts.
#[derive(Clone, Copy)]
pub struct AttemptLog<'l> {
    /// The database.
    pub store: &'l Store,
    /// Clock of the stored rows.
    pub clock: &'l dyn Clock,
    /// Random number generator, for ids.
    pub rng: &'l SharedRng,
}

impl<'l> From<RunContext<'l>> for AttemptLog<'l> {
    fn from(RunContext { store, clock, rng, .. }: RunContext<'l>) -> Self {
        Self { store, clock, rng }
    }
}

/// Attempts at one result.
pub struct ResultAttempts<'l> {
    log: AttemptLog<'l>,
    model: &'l ModelId,
    request_sha256: String,
    /// Id of the result.
    pub result: String,
    /// Replies to earlier runs.
    pub earlier: Vec<WholeReply>,
}

impl<'l> AttemptLog<'l> {
    /// Loads the attempts of earlier runs at a request; `None` if they cannot be read, since a new request would be paid for twice.
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
    /// Creates the row of an attempt.
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
