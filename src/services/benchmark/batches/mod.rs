//! Batch requests of benchmark runs, with the replies of batches from earlier runs.
//!
//! A queue collects the requests of a model's workers and passes them to a runner, which stores each batch before it is sent. A request is
//! identified by a digest of its purpose and content, so that a later run finds its reply wherever this one ended, with `--batch` or
//! without.

mod batch_runner;
mod model_queue;

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use self::batch_runner::BatchRunner;
use self::model_queue::ModelQueue;
use super::run_error::RunError;
use crate::domain::benchmark::runs::batch_events::BatchNote;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::infra::config::BenchSettings;
use crate::infra::llm::ChatError;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};

/// Callback for events of batches.
pub type OnBatch = Arc<dyn Fn(&BatchNote) + Send + Sync>;

/// Whether runs send batches, and the callback for their events.
#[derive(Clone)]
pub struct BatchOptions {
    /// Whether requests are sent in batches; replies of earlier batches are used either way.
    pub sends: bool,
    /// Called at each event of a batch.
    pub on_batch: OnBatch,
}

impl fmt::Debug for BatchOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BatchOptions").field("sends", &self.sends).finish_non_exhaustive()
    }
}

impl Default for BatchOptions {
    /// Returns options for single requests, with events of earlier batches logged.
    fn default() -> Self {
        Self { sends: false, on_batch: Arc::new(|note| tracing::info!("{note}")) }
    }
}

/// Batches of a run over a suite.
pub(super) struct SuiteBatches {
    store: Store,
    rng: Arc<SharedRng>,
    suite: SuiteId,
    settings: BenchSettings,
    options: BatchOptions,
    queues: Mutex<Vec<Arc<ModelQueue>>>,
}

impl SuiteBatches {
    pub(super) fn new(
        store: &Store,
        rng: &Arc<SharedRng>,
        suite: SuiteId,
        settings: BenchSettings,
        options: &BatchOptions,
    ) -> Self {
        let (store, rng, options) = (store.clone(), Arc::clone(rng), options.clone());
        Self { store, rng, suite, settings, options, queues: Mutex::default() }
    }

    /// Attaches a batch queue to each model whose provider has batches.
    ///
    /// # Errors
    /// [`RunError::NoBatches`] for a model whose provider has none although batches are requested.
    pub(super) fn attach(&self, models: Vec<ModelClient>) -> Result<Vec<ModelClient>, RunError> {
        models.into_iter().map(|model| self.attach_one(model)).collect()
    }

    fn attach_one(&self, model: ModelClient) -> Result<ModelClient, RunError> {
        let Some(api) = model.batches() else {
            return if self.options.sends { Err(RunError::NoBatches { model: model.id }) } else { Ok(model) };
        };
        let runner = BatchRunner {
            api,
            store: self.store.clone(),
            rng: Arc::clone(&self.rng),
            suite: self.suite.clone(),
            model: model.id.clone(),
            settings: self.settings.clone(),
            on_batch: Arc::clone(&self.options.on_batch),
        };
        let queue = Arc::new(ModelQueue::new(runner, self.options.sends));
        self.queues.lock().push(Arc::clone(&queue));
        Ok(model.with_queue(queue))
    }

    /// Loads the batches of earlier runs. Call it under the suite's lock, since the previous holder may have sent more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn load(&self) -> Result<(), StoreError> {
        let queues = self.queues.lock().clone();
        if queues.is_empty() {
            return Ok(());
        }
        let rows = self.store.open_bench_batches(&self.suite).await?;
        for queue in queues {
            queue.load(rows.iter().filter(|row| row.model == *queue.model()).cloned().collect());
        }
        Ok(())
    }

    /// Records that all fetched replies are stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn mark_all_stored(&self) -> Result<(), StoreError> {
        let queues = self.queues.lock().clone();
        for queue in queues {
            queue.mark_all_stored().await?;
        }
        Ok(())
    }
}

/// Probes the servers of batched models for batch support, before any cost arises.
///
/// # Errors
/// [`RunError::NoBatches`] for the first server without it.
pub async fn check_servers(models: impl Iterator<Item = &ModelClient>) -> Result<(), RunError> {
    for model in models.filter(|model| model.sends_batches()) {
        let Some(api) = model.batches() else { continue };
        // Any other failure recurs with the first batch, and is reported there.
        if let Err(ChatError::Status { status: 404 | 405 | 501, .. }) = api.probe().await {
            return Err(RunError::NoBatches { model: model.id.clone() });
        }
    }
    Ok(())
}
