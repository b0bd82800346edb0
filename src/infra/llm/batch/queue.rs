//! How the requests of a run come into batches: what a [`ModelClient`](crate::llm::model_client::ModelClient) needs of a queue.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::llm::{ChatError, ReplyStream};

/// Collects the requests of a model's workers into batches. Each worker has one request at a time, so a batch is sent once all
/// of them wait.
pub trait RequestQueue: Send + Sync {
    /// Whether new requests are sent in batches. Otherwise only the replies of earlier batches are taken.
    fn sends(&self) -> bool;

    /// Whether a batch of an earlier run may have the reply to a request, by its key.
    fn holds(&self, key: &str) -> bool;

    /// Waits for the reply to an encoded request: in the next batch, or without one in the earlier batch that holds its key.
    fn ask(&self, key: String, request: Option<String>) -> ReplyStream;

    /// Why nothing more is sent.
    fn given_up(&self) -> Option<ChatError>;

    /// Sends batches and waits for their ends, forever.
    fn run<'q>(&'q self, stop: &'q CancellationToken) -> BoxFuture<'q, ()>;

    /// A worker begins, or goes on after a wait for others.
    fn resume(&self);

    /// A worker ends, or waits for others.
    fn pause(&self);
}

/// A worker while it lasts.
pub struct Worker(Option<Arc<dyn RequestQueue>>);

impl Worker {
    /// A worker that begins.
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

/// A worker's wait for others, while it lasts.
pub struct Pause<'q>(&'q dyn RequestQueue);

impl<'q> Pause<'q> {
    /// A wait that begins.
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
