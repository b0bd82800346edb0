//! Runs one batch: stores it, sends it, polls the provider until it ends, reads its results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::OnBatch;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::batch_events::{BatchEvent, BatchNote};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::infra::backoff::Backoff;
use crate::infra::config::BenchSettings;
use crate::infra::llm::batch::{BatchApi, BatchEnd, BatchResult, BatchSearch, BatchState, may_have_arrived};
use crate::infra::llm::{ChatError, ReplyPart};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{BatchRowState, BenchBatchRow, Store};
use crate::infra::time::clock::{Clock as _, SystemClock};

/// Maximum wait between two polls of a batch.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of result lines beyond the number of requests of a batch.
const MAX_EXTRA_LINES: usize = 1_000;

/// Dependencies of every batch of a model.
pub(super) struct BatchRunner {
    pub(super) api: Arc<dyn BatchApi>,
    pub(super) store: Store,
    pub(super) rng: Arc<SharedRng>,
    pub(super) suite: SuiteId,
    pub(super) model: ModelId,
    pub(super) settings: BenchSettings,
    pub(super) on_batch: OnBatch,
}

/// Replies by the key of their request.
pub(super) type Replies = HashMap<String, Result<Vec<ReplyPart>, ChatError>>;

/// Outcome of a batch, as far as this run knows.
pub(super) enum BatchOutcome {
    /// It has ended; requests without a reply have none for the given reason.
    Ended(Replies, BatchEnd),
    /// It failed permanently: another batch would fail too.
    Failed(ChatError),
    /// It may continue at the provider: the run is stopping, or the provider cannot be reached.
    LeftOpen(Option<ChatError>),
}

/// Result of waiting for the end of a batch.
enum BatchWaitResult {
    Ended(Vec<String>, BatchEnd),
    Failed(String),
    Gone,
    LeftOpen(Option<ChatError>),
}

impl BatchRunner {
    /// Creates the database row of a batch with these requests.
    pub(super) fn row(&self, requests: Vec<String>) -> BenchBatchRow {
        BenchBatchRow {
            id: self.rng.id(&SystemClock),
            suite: self.suite.clone(),
            model: self.model.clone(),
            provider_id: None,
            requests,
            state: BatchRowState::Intended,
            created_at: SystemClock.now(),
        }
    }

    /// Stores a batch, sends it, and waits for its end.
    pub(super) async fn send(
        &self,
        row: &BenchBatchRow,
        requests: &[String],
        stop: &CancellationToken,
    ) -> BatchOutcome {
        if let Err(error) = self.store.insert_bench_batch(row).await {
            tracing::warn!(%error, "a batch could not be recorded in the database, so it is not sent");
            return BatchOutcome::Failed(ChatError::Unanswered(BatchEnd::NotRecorded));
        }
        match self.submit(row, requests, stop).await {
            Ok(at_provider) => self.follow(row, at_provider, stop).await,
            Err(NotSubmitted::Unsent(error)) => {
                self.note(row, BatchRowState::Unsent, None).await;
                error.map_or(BatchOutcome::LeftOpen(None), BatchOutcome::Failed)
            }
            Err(NotSubmitted::Unknown(error)) => BatchOutcome::LeftOpen(Some(error)),
        }
    }

    /// Waits for the end of a batch that an earlier run sent.
    pub(super) async fn resume(&self, row: &BenchBatchRow, stop: &CancellationToken) -> BatchOutcome {
        match &row.provider_id {
            Some(id) => {
                self.report_event(id, BatchEvent::Resumed(row.requests.len()));
                self.follow(row, ProviderBatchId::Known(id.clone()), stop).await
            }
            None => match self.find(row).await {
                Ok(ids) => self.follow(row, ProviderBatchId::Candidates(ids), stop).await,
                Err(error) => BatchOutcome::LeftOpen(Some(error)),
            },
        }
    }

    async fn find(&self, row: &BenchBatchRow) -> Result<Vec<String>, ChatError> {
        let search = BatchSearch { tag: &row.id, made_at: row.created_at, requests: row.requests.len() };
        self.api.find(search).await
    }

    /// Sends a batch, with retries after transient errors. Before each retry the provider is asked whether it has the batch.
    async fn submit(
        &self,
        row: &BenchBatchRow,
        requests: &[String],
        stop: &CancellationToken,
    ) -> Result<ProviderBatchId, NotSubmitted> {
        for failures in 1.. {
            let error = match self.api.send(&row.id, requests).await {
                Ok(id) => {
                    self.report_event(&id, BatchEvent::Sent(requests.len()));
                    self.note(row, BatchRowState::Sent, Some(&id)).await;
                    return Ok(ProviderBatchId::Known(id));
                }
                Err(error) => error,
            };
            tracing::debug!(model.id = %self.model, %error, failures, "a batch was not sent");
            if may_have_arrived(&error) {
                match self.find(row).await {
                    Ok(ids) if !ids.is_empty() => return Ok(ProviderBatchId::Candidates(ids)),
                    Ok(_) => {}
                    Err(unknown) => return Err(NotSubmitted::Unknown(unknown)),
                }
            }
            if failures >= self.settings.attempts || !error.is_retryable() {
                return Err(NotSubmitted::Unsent(Some(error)));
            }
            if !self.pause(failures, error.retry_after(), stop).await {
                return Err(NotSubmitted::Unsent(None));
            }
        }
        unreachable!("the tries are counted")
    }

    /// Waits for the end of a batch, and reads its results. Results of a mere candidate that turns out not to be the batch are ignored.
    async fn follow(
        &self,
        row: &BenchBatchRow,
        at_provider: ProviderBatchId,
        stop: &CancellationToken,
    ) -> BatchOutcome {
        let (ids, is_known) = match at_provider {
            ProviderBatchId::Known(id) => (vec![id], true),
            ProviderBatchId::Candidates(ids) => (ids, false),
        };
        for id in ids {
            if !is_known {
                self.report_event(&id, BatchEvent::Found(row.requests.len()));
            }
            let (files, gap) = match self.until_ended(&id, stop).await {
                BatchWaitResult::Ended(files, gap) => (files, gap),
                BatchWaitResult::LeftOpen(error) => return BatchOutcome::LeftOpen(error),
                BatchWaitResult::Gone if !is_known => continue,
                BatchWaitResult::Gone => return self.end_expired(row, &id).await,
                BatchWaitResult::Failed(reason) => return self.failed(row, &id, reason).await,
            };
            let (replies, gap) = match self.read(row, &files, stop).await {
                (replies, None) => (replies, gap),
                (replies, Some(ChatError::Malformed(why))) => (replies, BatchEnd::Unreadable(why)),
                (_, Some(error)) => return BatchOutcome::LeftOpen(Some(error)),
            };
            if is_known || !replies.is_empty() {
                let answered = replies.values().filter(|reply| reply.is_ok()).count();
                self.report_event(&id, BatchEvent::Ended(answered, row.requests.len()));
                self.note(row, BatchRowState::Ended, Some(&id)).await;
                return BatchOutcome::Ended(replies, gap);
            }
        }
        self.note(row, BatchRowState::Unsent, None).await;
        BatchOutcome::Ended(Replies::new(), BatchEnd::Missing)
    }

    async fn end_expired(&self, row: &BenchBatchRow, id: &str) -> BatchOutcome {
        self.report_event(id, BatchEvent::Gone);
        self.note(row, BatchRowState::Gone, None).await;
        BatchOutcome::Ended(Replies::new(), BatchEnd::Gone)
    }

    async fn failed(&self, row: &BenchBatchRow, id: &str, reason: String) -> BatchOutcome {
        self.report_event(id, BatchEvent::Failed(reason.clone()));
        self.note(row, BatchRowState::Failed, Some(id)).await;
        BatchOutcome::Failed(ChatError::Unanswered(BatchEnd::Failed(reason)))
    }

    /// Polls a batch until it has ended, at growing intervals.
    async fn until_ended(&self, id: &str, stop: &CancellationToken) -> BatchWaitResult {
        let (mut polls, mut failures, mut shown) = (0, 0, None);
        loop {
            polls += 1;
            let failure = match self.api.poll(id).await {
                Ok(progress) => {
                    failures = 0;
                    if shown.replace((progress.done, progress.all)) != Some((progress.done, progress.all)) {
                        self.report_event(id, BatchEvent::Progress(progress.done, progress.all));
                    }
                    match progress.state {
                        BatchState::UnderWay => None,
                        BatchState::Failed(reason) => return BatchWaitResult::Failed(reason),
                        BatchState::Ended { files, gap } => return BatchWaitResult::Ended(files, gap),
                    }
                }
                Err(ChatError::Status { status: 404 | 410, .. }) => return BatchWaitResult::Gone,
                Err(error) => Some(error),
            };
            if let Some(error) = &failure {
                failures += 1;
                let is_final = matches!(error, ChatError::Status { .. }) && !error.is_retryable();
                if is_final || failures >= self.settings.give_up_after {
                    return BatchWaitResult::LeftOpen(failure);
                }
            }
            let asked_for = failure.as_ref().map(ChatError::retry_after).unwrap_or_default();
            if !self.pause(polls, asked_for, stop).await {
                return BatchWaitResult::LeftOpen(None);
            }
        }
    }

    /// Reads the parsable results for requests of a batch; of duplicates, the first counts.
    async fn read(
        &self,
        row: &BenchBatchRow,
        files: &[String],
        stop: &CancellationToken,
    ) -> (Replies, Option<ChatError>) {
        let keys: HashSet<&str> = row.requests.iter().map(String::as_str).collect();
        let mut replies = Replies::new();
        for failures in 1.. {
            let mut take = |result: BatchResult| {
                if keys.contains(result.key.as_str()) {
                    replies.entry(result.key).or_insert(result.reply);
                }
            };
            let Err(error) = self.api.results(files, keys.len() + MAX_EXTRA_LINES, &mut take).await else { break };
            let is_last = failures >= self.settings.attempts || !error.is_retryable();
            if is_last || !self.pause(failures, error.retry_after(), stop).await {
                return (replies, Some(error));
            }
        }
        (replies, None)
    }

    /// Waits before the next attempt or poll: as long as the provider asks and a backoff, at most [`MAX_POLL_INTERVAL`] in all; `false` if
    /// the run is stopping.
    async fn pause(&self, before: u32, asked_for: Duration, stop: &CancellationToken) -> bool {
        let backoff = Backoff { first: Duration::from_millis(self.settings.backoff_ms), longest: MAX_POLL_INTERVAL };
        let wait = backoff.after(before).saturating_add(asked_for).min(MAX_POLL_INTERVAL);
        tokio::select! {
            () = sleep(wait) => true,
            () = stop.cancelled() => false,
        }
    }

    fn report_event(&self, batch: &str, event: BatchEvent) {
        (self.on_batch)(&BatchNote { model: self.model.clone(), batch: batch.to_owned(), event });
    }

    /// Updates the batch's row. If this fails, a later run finds the previous state and looks for the batch again.
    async fn note(&self, row: &BenchBatchRow, state: BatchRowState, provider_id: Option<&str>) {
        if let Err(error) = self.store.update_bench_batch(&row.id, state, provider_id, SystemClock.now()).await {
            tracing::warn!(%error, "the state of a batch could not be recorded");
        }
    }
}

/// Provider id of a batch.
enum ProviderBatchId {
    /// Id of the batch.
    Known(String),
    /// Ids of batches, one of which may be it.
    Candidates(Vec<String>),
}

/// Reason why a batch is not known to be at its provider.
enum NotSubmitted {
    /// The provider does not have it, because of a failure or because the run is stopping.
    Unsent(Option<ChatError>),
    /// It is unknown whether the provider has it.
    Unknown(ChatError),
}
