//! Runs that send their requests in batches, or take the replies of batches that earlier runs sent.
//!
//! A queue collects what a model's workers ask and hands it to a runner, which stores each batch before it is
//! sent. A request is known by a digest of what it is for and what is sent, so that a later run finds its reply wherever this one
//! ended, with `--batch` or without.

mod batch_runner;
mod model_queue;

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use self::batch_runner::BatchRunner;
use self::model_queue::ModelQueue;
use super::run_error::RunError;
use crate::domain::benchmark::batch_events::BatchNote;
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
    /// Whether requests are sent in batches; those of earlier runs are taken either way.
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
    /// Requests one by one; events of earlier batches go to the log.
    fn default() -> Self {
        Self { sends: false, on_batch: Arc::new(|note| tracing::info!("{note}")) }
    }
}

/// The batches of a run over a suite.
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

    /// The models with a queue each, where their providers have batches.
    ///
    /// # Errors
    /// [`RunError::NoBatches`] for one whose provider has none although batches are to be sent.
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

    /// Reads which batches earlier runs sent. Under the suite's lock, for who had it before may have sent more.
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

    /// Notes that every reply that was taken is kept.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn all_are_kept(&self) -> Result<(), StoreError> {
        let queues = self.queues.lock().clone();
        for queue in queues {
            queue.all_are_kept().await?;
        }
        Ok(())
    }
}

/// Asks the servers of models that are asked in batches whether they have batches at all, before anything is paid for.
///
/// # Errors
/// [`RunError::NoBatches`] for the first that has none.
pub async fn check_servers(models: impl Iterator<Item = &ModelClient>) -> Result<(), RunError> {
    for model in models.filter(|model| model.sends_batches()) {
        let Some(api) = model.batches() else { continue };
        // Any other failure comes again with the first batch, and is reported there.
        if let Err(ChatError::Status { status: 404 | 405 | 501, .. }) = api.probe().await {
            return Err(RunError::NoBatches { model: model.id.clone() });
        }
    }
    Ok(())
}
