//! Interface between a [`ModelClient`](crate::llm::model_client::ModelClient) and the queue that collects a run's requests into batches.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::llm::{ChatError, ReplyStream};

/// Collects the requests of a model's workers into batches. Each worker has one request at a time, so a batch is sent once all of them
/// wait.
pub trait RequestQueue: Send + Sync {
    /// Whether new requests are sent in batches. Otherwise only the replies of earlier batches are taken.
    fn sends(&self) -> bool;

    /// Whether a batch of an earlier run may contain the reply to the request with this key.
    fn holds(&self, key: &str) -> bool;

    /// Waits for the reply to an encoded request: in the next batch, or without one in the earlier batch that contains its key.
    fn ask(&self, key: String, request: Option<String>) -> ReplyStream;

    /// Returns the reason why nothing more is sent.
    fn given_up(&self) -> Option<ChatError>;

    /// Sends batches and waits for their results, forever.
    fn run<'q>(&'q self, stop: &'q CancellationToken) -> BoxFuture<'q, ()>;

    /// Registers a worker that begins, or continues after waiting for others.
    fn resume(&self);

    /// Deregisters a worker that ends, or waits for others.
    fn pause(&self);
}

/// Guard of a registered worker.
pub struct Worker(Option<Arc<dyn RequestQueue>>);

impl Worker {
    /// Registers a worker.
    #[must_use]
    pub fn begin(queue: Option<Arc<dyn RequestQueue>>) -> Self {
        if let Some(queue) = &queue {
            queue.resume();
        }
        Self(queue)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(queue) = &self.0 {
            queue.pause();
        }
    }
}

/// Guard of a worker that waits for others.
pub struct Pause<'q>(&'q dyn RequestQueue);

impl<'q> Pause<'q> {
    /// Deregisters the worker until the guard is dropped.
    #[must_use]
    pub fn begin(queue: &'q dyn RequestQueue) -> Self {
        queue.pause();
        Self(queue)
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}
