//! Language models behind one trait, [`ChatModel`]: takes a conversation, returns a stream of text.
//!
//! One file per provider. [`resilient_model`] wraps every model with timeouts, retries before the first token and a circuit
//! breaker; [`roster`] is the list of models that the running arena knows.

pub mod batch;
pub mod breaker;
pub mod failure_advice;
mod failures_by_visitor;
pub mod http;
mod lazy_timer;
pub mod model_check_result;
pub mod model_client;
pub mod model_discovery;
pub mod model_list;
pub mod model_list_merge;
pub mod providers;
pub mod query_judge;
#[cfg(fuzzing)]
mod recorded_stream;
pub mod registered_models;
pub mod reply_limit;
pub mod resilient_model;
pub mod roster;
pub mod stream;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::batch::{BatchApi, BatchEnd};
pub use self::http::http_client::{HttpClient, http_client, http_client_within};
pub(crate) use self::http::transport::{connection_error, connection_problem};
#[cfg(fuzzing)]
pub use self::recorded_stream::read_recorded;
use crate::domain::benchmark::item;
use crate::domain::judging::token_probabilities::NumberToken;

pub use crate::domain::battle::message::{Message, MessageRole, PromptImage};
pub use crate::domain::battle::model_card::ModelCard;

/// A piece of a reply as it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyPart {
    /// Text of the answer; never empty.
    Text(String),
    /// Reasoning in a separate field; stored apart and never part of the answer.
    Reasoning(String),
    /// Token counts of the provider; if there are any, the last part of a guarded reply.
    Usage(Usage),
    /// Numbers in the text that follows, by their position in it: see [`Sampling::logprobs`].
    Numbers(Vec<NumberToken>),
    /// End of the text as marked by the provider: nothing is missing if no more follows. Never part of a guarded reply.
    TextEnded,
}

/// Sampling parameters of one reply; `None` uses the model's settings. Keys of the model's `extra_body` override them: they state what its
/// server accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Temperature.
    pub temperature: Option<f64>,
    /// Maximum length of the reply in tokens.
    pub max_tokens: Option<u32>,
    /// Seed, if the provider accepts one.
    pub seed: Option<u64>,
    /// Whether to request token counts from a provider that counts only on request.
    #[serde(skip)]
    pub with_usage: bool,
    /// Whether to request the probabilities of the reply's tokens. Most providers return none.
    #[serde(skip)]
    pub logprobs: bool,
}

/// Sampling of a benchmark, with token counts.
impl From<item::ItemSampling> for Sampling {
    fn from(sampling: item::ItemSampling) -> Self {
        let item::ItemSampling { temperature, max_tokens, seed, logprobs } = sampling;
        Self { temperature, max_tokens, seed, with_usage: true, logprobs }
    }
}

/// Tokens of one request and its reply, as reported by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the conversation.
    pub input: Option<u64>,
    /// Tokens of the reply, with its reasoning.
    pub output: Option<u64>,
}

/// Maximum plausible number of tokens of a request or reply: no model takes as many, and sums over all requests fit a database column.
const MAX_PLAUSIBLE_TOKENS: u64 = 1_000_000_000;

impl Usage {
    /// Creates the usage reported by a provider. A count above [`MAX_PLAUSIBLE_TOKENS`] is dropped.
    pub(crate) fn reported(input: Option<u64>, output: Option<u64>) -> Self {
        let possible = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= MAX_PLAUSIBLE_TOKENS);
        Self { input: possible(input), output: possible(output) }
    }

    /// Overrides each count by the later one if present.
    #[must_use]
    pub fn updated(self, later: Self) -> Self {
        Self { input: later.input.or(self.input), output: later.output.or(self.output) }
    }
}

/// Stream of a reply: parts until it ends (`None`), or one error and then the end. Dropping it closes the connection to the provider.
pub type ReplyStream = BoxStream<'static, Result<ReplyPart, ChatError>>;

/// A language model.
pub trait ChatModel: Send + Sync {
    /// Starts a reply to the conversation. A leading system message replaces the model's own system prompt.
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream;

    /// Returns the provider's batch API; `None` if it has none.
    fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        None
    }

    /// Returns the body of a batched request: that of a single one without streaming.
    fn batch_body(&self, _messages: &[Message], _sampling: &Sampling) -> Map<String, Value> {
        Map::new()
    }

    /// Starts a reply with the sampling of the model's settings.
    fn reply(&self, messages: &[Message]) -> ReplyStream {
        self.ask(messages, &Sampling::default())
    }
}

/// Splits a conversation into its system prompt, or else the model's own, and the other messages.
fn system_and_rest<'m>(own: &'m str, messages: &'m [Message]) -> (Option<&'m str>, &'m [Message]) {
    match messages.split_first() {
        Some((first, rest)) if first.role == MessageRole::System => (Some(&first.content), rest),
        _ => (Some(own).filter(|own| !own.is_empty()), messages),
    }
}

/// Error of a model's reply. The text is for the operator's log: it contains no key and no provider text that could contain one, and it
/// never reaches a visitor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// No connection, so the request was not sent.
    #[error("connection to the provider failed: {0}")]
    Unreached(String),
    /// The connection broke.
    #[error("connection to the provider failed: {0}")]
    Connection(String),
    /// The provider answered with an error status.
    #[error("the provider answered with status {status}")]
    Status {
        /// HTTP status.
        status: u16,
        /// Wait that the provider requested, if any.
        retry_after: Option<Duration>,
    },
    /// The stream violates the provider's protocol.
    #[error("the provider's stream is malformed: {0}")]
    Malformed(String),
    /// An error object in the middle of a stream.
    #[error("the provider reported an error in mid-stream")]
    Reported,
    /// The reply ended without any text.
    #[error("the reply was empty")]
    Empty,
    /// A timeout expired.
    #[error("no {awaited} within {} s", .after.as_secs_f32())]
    Timeout {
        /// Awaited step: "first token", "next token", "end of the reply".
        awaited: &'static str,
        /// Duration of the timeout.
        after: Duration,
    },
    /// The request was in a batch and got no reply there.
    #[error("the request got no reply in its batch: {0}")]
    Unanswered(BatchEnd),
    /// The circuit breaker is open: the model is not asked at the moment.
    #[error("the model's circuit breaker is open after repeated failures: it is tried again automatically")]
    BreakerOpen,
}

impl ChatError {
    /// Returns a one-word category of the error, out of a fixed set.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            ChatError::Unreached(_) | ChatError::Connection(_) => "connection",
            ChatError::Status { status: 429, .. } => "status_429",
            ChatError::Status { status: 500.., .. } => "status_5xx",
            ChatError::Status { .. } => "status_4xx",
            ChatError::Malformed(_) => "malformed",
            ChatError::Reported => "reported",
            ChatError::Empty => "empty",
            ChatError::Timeout { awaited: "first token", .. } => "timeout_first_token",
            ChatError::Timeout { awaited: "next token", .. } => "timeout_next_token",
            ChatError::Timeout { .. } => "timeout_total",
            ChatError::Unanswered(_) => "batch",
            ChatError::BreakerOpen => "breaker_open",
        }
    }

    /// Whether the provider may bill a request that failed like this before any reply: it has the prompt, and has not refused it.
    #[must_use]
    pub fn may_be_billed(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::Status { .. } | ChatError::BreakerOpen => false,
            ChatError::Unanswered(end) => matches!(end, BatchEnd::Missing | BatchEnd::Unreadable(_)),
            _ => true,
        }
    }

    /// Returns the wait that the provider requested; zero if none.
    #[must_use]
    pub fn retry_after(&self) -> Duration {
        match self {
            ChatError::Status { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    /// Whether a retry may succeed: no connection, too many requests, or a server failure.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::Connection(_) => true,
            ChatError::Status { status, .. } => *status == 429 || (500..600).contains(status),
            _ => false,
        }
    }

    /// Whether the provider may have been overloaded: too many concurrent requests, or too long a queue.
    #[must_use]
    pub fn may_be_overload(&self) -> bool {
        match self {
            ChatError::Status { status, .. } => matches!(status, 429 | 503 | 529),
            ChatError::Timeout { awaited, .. } => *awaited == "first token",
            _ => false,
        }
    }

    /// Whether the conversation rather than the model may have caused the failure: some providers answer an unusual prompt with a server
    /// error. False for a wrong key, an unknown model, and a server that is unreachable or overloaded.
    #[must_use]
    pub fn may_concern_one_conversation(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::BreakerOpen => false,
            ChatError::Status { status, .. } => matches!(status, 403 | 451 | 500),
            _ => true,
        }
    }

    /// Whether the provider rejected this one request (too long, filtered): then the failure says nothing about the model.
    #[must_use]
    pub fn is_request_error(&self) -> bool {
        matches!(self, ChatError::Status { status: 400 | 413 | 422, .. })
    }
}
