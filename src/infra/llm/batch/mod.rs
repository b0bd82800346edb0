//! Batches: many requests that a provider answers within a day, for less than one by one.
//!
//! [`BatchApi`] is what a provider offers, one file for each form; [`queue`] is how a run's requests come into batches. Whatever a
//! provider says is bounded in size, and nothing of it stands in an error but a code of plain letters.

pub(super) mod anthropic;
pub(super) mod openai;
pub mod queue;
mod wire;

use std::collections::VecDeque;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use self::wire::read_body;
use super::sse::SseEvent;
use super::transport::StreamProgress;
use super::{ChatError, ReplyPart};
use crate::domain::time::Timestamp;

/// Requests of one batch at most; providers take some 50,000.
pub const MOST_REQUESTS: usize = 10_000;
/// Bytes of one batch at most; providers take 200 MB.
pub const MOST_BYTES: usize = 96 << 20;

/// What an event of a stream means; a whole reply is read as one event.
type ReadEvent = fn(SseEvent<'_>, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

/// The batches of a provider.
pub trait BatchApi: Send + Sync {
    /// A request as it stands in a batch: one line of JSON with its key, which is unique in the batch.
    fn encode(&self, key: &str, body: Map<String, Value>) -> String;

    /// Asks for the list of batches, which a server without batches does not have. Costs nothing.
    ///
    /// # Errors
    /// [`ChatError`].
    fn probe(&self) -> BoxFuture<'_, Result<(), ChatError>>;

    /// Sends encoded requests as one batch, with our tag as metadata where the provider keeps any. Returns the provider's id.
    ///
    /// # Errors
    /// [`ChatError`]; whether the provider has the batch then says [`may_have_arrived`].
    fn send<'a>(&'a self, tag: &'a str, requests: &'a [String]) -> BoxFuture<'a, Result<String, ChatError>>;

    /// The provider's ids of batches that may be the one that was sent, where no answer to that came.
    ///
    /// # Errors
    /// [`ChatError`].
    fn find<'a>(&'a self, search: BatchSearch<'a>) -> BoxFuture<'a, Result<Vec<String>, ChatError>>;

    /// How far a batch is.
    ///
    /// # Errors
    /// [`ChatError`].
    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchProgress, ChatError>>;

    /// Reads the results of a batch that has ended, in whatever order they come; `most` is how many there can be.
    ///
    /// # Errors
    /// [`ChatError`]; results before it count.
    fn results<'a>(
        &'a self,
        files: &'a [String],
        most: usize,
        take: &'a mut (dyn FnMut(BatchResult) + Send),
    ) -> BoxFuture<'a, Result<(), ChatError>>;
}

/// What is known of a batch of which the provider's id is not.
#[derive(Debug, Clone, Copy)]
pub struct BatchSearch<'s> {
    /// Our tag.
    pub tag: &'s str,
    /// When it was made.
    pub made_at: Timestamp,
    /// How many requests it has.
    pub requests: usize,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchProgress {
    /// Where it stands.
    pub state: BatchState,
    /// Requests that are done, as the provider counts.
    pub done: u64,
    /// All of its requests.
    pub all: u64,
}

/// Where a batch stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchState {
    /// The provider is at it.
    UnderWay,
    /// The provider did none of it.
    Failed(String),
    /// It has ended.
    Ended {
        /// Where its results are.
        files: Vec<String>,
        /// Why a request has none.
        gap: BatchEnd,
    },
}

/// Result of one request of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchResult {
    /// The key of the request.
    pub key: String,
    /// The reply, or why there is none.
    pub reply: Result<Vec<ReplyPart>, ChatError>,
}

/// Why a request of a batch has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchEnd {
    /// Its time was over first.
    #[error("the batch expired before the provider answered it")]
    Expired,
    /// Somebody cancelled the batch.
    #[error("the batch was cancelled")]
    Cancelled,
    /// The batch ended, and the request is not among its results.
    #[error("the batch ended without a result for this request")]
    Missing,
    /// The results of the batch cannot be read.
    #[error("its results cannot be read: {0}")]
    Unreadable(String),
    /// The provider did none of the batch.
    #[error("the provider refused the batch ({0})")]
    Failed(String),
    /// The batch is not known any more.
    #[error("the provider does not know the batch any more")]
    Gone,
    /// The database did not take the note of the batch, so nothing was sent.
    #[error("the batch could not be recorded in the database, so it was not sent")]
    NotNoted,
    /// The batch goes on at the provider, and a later run takes its replies.
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

/// A whole reply, read by the code that reads the events of a stream.
fn whole_reply(body: &str, read: ReadEvent) -> Result<Vec<ReplyPart>, ChatError> {
    let mut parts = VecDeque::new();
    read(SseEvent { name: "", data: body }, &mut parts)?;
    Ok(parts.into())
}

/// A provider's code of a failure, where it has plain letters only: a key or a prompt never has that form.
fn plain_code(code: Option<&str>) -> String {
    let is_plain = |code: &&str| {
        (1..=60).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    code.filter(is_plain).unwrap_or("without a reason that can be shown").to_owned()
}

/// A provider's id that may stand in an address.
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
