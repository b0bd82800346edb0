//! Batch APIs: many requests that a provider answers within a day, at a lower price than single ones.
//!
//! [`BatchApi`] is the interface of a provider's batches, with one file for each format; [`queue`] collects a run's requests into batches.
//! Provider responses are bounded in size, and errors contain none of their text except a code of plain letters.

pub(super) mod anthropic;
pub(super) mod openai;
pub mod queue;
mod wire;

use std::collections::VecDeque;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use self::wire::read_body;
use super::http::transport::StreamProgress;
use super::stream::sse::SseEvent;
use super::{ChatError, ReplyPart};
use crate::domain::time::Timestamp;

/// Maximum number of requests in one batch; providers accept some 50,000.
pub const MAX_REQUESTS: usize = 10_000;
/// Maximum size of one batch in bytes; providers accept 200 MB.
pub const MAX_BYTES: usize = 96 << 20;

/// Parser of a stream event; a whole reply is parsed as one event.
type ReadEvent = fn(SseEvent<'_>, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

/// Batch API of a provider.
pub trait BatchApi: Send + Sync {
    /// Encodes a request for a batch: one line of JSON with its key, which is unique in the batch.
    fn encode(&self, key: &str, body: Map<String, Value>) -> String;

    /// Requests the list of batches, which fails on a server without batches. Free of charge.
    ///
    /// # Errors
    /// [`ChatError`].
    fn probe(&self) -> BoxFuture<'_, Result<(), ChatError>>;

    /// Sends encoded requests as one batch, with our tag as metadata if the provider stores any. Returns the provider's id.
    ///
    /// # Errors
    /// [`ChatError`]; [`may_have_arrived`] tells whether the provider may have the batch.
    fn send<'a>(&'a self, tag: &'a str, requests: &'a [String]) -> BoxFuture<'a, Result<String, ChatError>>;

    /// Finds the provider's ids of batches that may be the sent one, if sending it got no answer.
    ///
    /// # Errors
    /// [`ChatError`].
    fn find<'a>(&'a self, search: BatchSearch<'a>) -> BoxFuture<'a, Result<Vec<String>, ChatError>>;

    /// Polls the progress of a batch.
    ///
    /// # Errors
    /// [`ChatError`].
    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchProgress, ChatError>>;

    /// Reads the results of an ended batch, in any order; `most` is the maximum number of them.
    ///
    /// # Errors
    /// [`ChatError`]; results read before it are valid.
    fn results<'a>(
        &'a self,
        files: &'a [String],
        most: usize,
        take: &'a mut (dyn FnMut(BatchResult) + Send),
    ) -> BoxFuture<'a, Result<(), ChatError>>;
}

/// Search for a batch whose provider id is unknown.
#[derive(Debug, Clone, Copy)]
pub struct BatchSearch<'s> {
    /// Our tag of the batch.
    pub tag: &'s str,
    /// Creation time of the batch.
    pub made_at: Timestamp,
    /// Number of its requests.
    pub requests: usize,
}

/// Progress of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchProgress {
    /// State of the batch.
    pub state: BatchState,
    /// Number of finished requests, by the provider's count.
    pub done: u64,
    /// Number of all its requests.
    pub all: u64,
}

/// State of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchState {
    /// The provider is processing it.
    UnderWay,
    /// The provider processed none of it.
    Failed(String),
    /// The batch has ended.
    Ended {
        /// Ids or addresses of the result files.
        files: Vec<String>,
        /// Reason for requests without a result.
        gap: BatchEnd,
    },
}

/// Result of one request of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchResult {
    /// Key of the request.
    pub key: String,
    /// Reply, or the reason why there is none.
    pub reply: Result<Vec<ReplyPart>, ChatError>,
}

/// Reason why a request of a batch has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchEnd {
    /// The request expired.
    #[error("the batch expired before the provider answered it")]
    Expired,
    /// The batch was cancelled.
    #[error("the batch was cancelled")]
    Cancelled,
    /// The batch ended without a result for the request.
    #[error("the batch ended without a result for this request")]
    Missing,
    /// The results of the batch cannot be read.
    #[error("its results cannot be read: {0}")]
    Unreadable(String),
    /// The provider processed none of the batch.
    #[error("the provider refused the batch ({0})")]
    Failed(String),
    /// The batch no longer exists at the provider.
    #[error("the provider does not know the batch any more")]
    Gone,
    /// The database failed to record the batch, so nothing was sent.
    #[error("the batch could not be recorded in the database, so it was not sent")]
    NotRecorded,
    /// The batch continues at the provider, and a later run fetches its replies.
    #[error("the batch is still running at the provider: a later run collects its replies")]
    GoesOn,
}

/// Whether the provider may have a batch although sending it ended with this error.
#[must_use]
pub fn may_have_arrived(error: &ChatError) -> bool {
    match error {
        ChatError::Status { status, .. } => *status >= 500,
        ChatError::Unreached(_) | ChatError::BreakerOpen => false,
        _ => true,
    }
}

/// Parses a whole reply with the parser of stream events.
fn whole_reply(body: &str, read: ReadEvent) -> Result<Vec<ReplyPart>, ChatError> {
    let mut parts = VecDeque::new();
    read(SseEvent { name: "", data: body }, &mut parts)?;
    Ok(parts.into())
}

/// Returns a provider's error code if it consists of plain letters only: keys and prompts never have that form.
fn plain_code(code: Option<&str>) -> String {
    let is_plain = |code: &&str| {
        (1..=60).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    code.filter(is_plain).unwrap_or("without a reason that can be shown").to_owned()
}

/// Returns a provider's id if it is safe in an address.
fn checked_id(id: &str) -> Result<String, ChatError> {
    let is_plain =
        (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_plain { Ok(id.to_owned()) } else { Err(ChatError::Malformed("an invalid id".into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_shown_only_where_it_is_a_plain_word() {
        assert_eq!(plain_code(Some("token_limit_exceeded")), "token_limit_exceeded");
        for hidden in
            [None, Some(""), Some("sk-SECRET"), Some("Incorrect key sk-SECRET"), Some("key1234"), Some(&"a".repeat(61))]
        {
            assert_eq!(plain_code(hidden), "without a reason that can be shown", "{hidden:?}");
        }
    }

    #[test]
    fn an_id_never_leads_to_another_address() {
        assert_eq!(checked_id("batch_68-A").unwrap(), "batch_68-A");
        for id in ["", "..", "a/b", "a?b", "a#b", "a%2e", "\u{e4}", &"a".repeat(129)] {
            assert!(checked_id(id).is_err(), "{id}");
        }
    }
}
