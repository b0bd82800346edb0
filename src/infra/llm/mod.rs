//! Language models behind one trait, [`ChatModel`]: ask with a conversation, get a stream of text.
//!
//! One file per provider. [`resilient_model`] wraps every model with timeouts, retries before the first token and a circuit
//! breaker; [`roster`] is the list of models that the running arena knows.

pub mod anthropic;
pub mod batch;
mod body_drain;
pub mod breaker;
pub mod builtin;
pub mod failure_advice;
pub mod failure_words;
mod failures_by_visitor;
mod http_client;
mod key_redaction;
mod lazy_timer;
mod lenient_field;
pub mod line_buffer;
mod lone_surrogates;
pub mod model_check_result;
pub mod model_client;
pub mod model_discovery;
pub mod model_list;
pub mod model_list_merge;
pub mod ollama;
pub mod openai;
pub mod query_judge;
#[cfg(fuzzing)]
mod recorded_stream;
pub mod registered_models;
pub mod reply_limit;
pub mod resilient_model;
mod retry_after;
pub mod roster;
pub mod sse;
mod stream_readers;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::batch::{BatchApi, BatchEnd};
pub use self::http_client::{HttpClient, http_client, http_client_within};
#[cfg(fuzzing)]
pub use self::recorded_stream::read_recorded;
pub(crate) use self::transport::{connection_error, connection_problem};
use crate::domain::benchmark::item;
use crate::domain::judging::token_probabilities::NumberToken;

pub use crate::domain::battle::message::{Message, MessageRole, PromptImage};
pub use crate::domain::battle::model_card::ModelCard;

/// A piece of a reply as it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyPart {
    /// Text of the answer; never empty.
    Text(String),
    /// Reasoning in a field of its own; kept apart and never counted as the answer.
    Reasoning(String),
    /// What the provider counted; where it counts at all, the last part of a guarded reply.
    Usage(Usage),
    /// Numbers in the text that comes next, by their place in it: see [`Sampling::logprobs`].
    Numbers(Vec<NumberToken>),
    /// The provider said why the text ended: nothing is missing where it sends nothing more. Never part of a guarded reply.
    TextEnded,
}

/// How one reply is to be sampled; what is left out is as the model's settings say. Keys of the model's `extra_body` win
/// over it: they say what its server takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Temperature.
    pub temperature: Option<f64>,
    /// Longest reply in tokens.
    pub max_tokens: Option<u32>,
    /// Seed, where the provider takes one.
    pub seed: Option<u64>,
    /// Whether the provider is asked to count tokens, where it counts only when asked.
    #[serde(skip)]
    pub with_usage: bool,
    /// Whether the provider is asked for the probabilities of the reply's tokens. Most return none.
    #[serde(skip)]
    pub logprobs: bool,
}

/// A benchmark's sampling; its tokens are counted.
impl From<item::ItemSampling> for Sampling {
    fn from(sampling: item::ItemSampling) -> Self {
        let item::ItemSampling { temperature, max_tokens, seed, logprobs } = sampling;
        Self { temperature, max_tokens, seed, with_usage: true, logprobs }
    }
}

/// Tokens of one request and its reply, as far as the provider says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the conversation.
    pub input: Option<u64>,
    /// Tokens of the reply, with its reasoning.
    pub output: Option<u64>,
}

/// Tokens that a request or a reply may have: no model takes as many, and sums over all requests stay far below what a column holds.
const MOST_TOKENS: u64 = 1_000_000_000;

impl Usage {
    /// What a provider reports. A count above [`MOST_TOKENS`] is not known.
    pub(crate) fn reported(input: Option<u64>, output: Option<u64>) -> Self {
        let possible = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= MOST_TOKENS);
        Self { input: possible(input), output: possible(output) }
    }

    /// The later count wins, number by number.
    #[must_use]
    pub fn updated(self, later: Self) -> Self {
        Self { input: later.input.or(self.input), output: later.output.or(self.output) }
    }
}

/// A reply under way: parts until the stream ends (`None`), or one error and then the end.
/// Dropping it closes the connection to the provider.
pub type ReplyStream = BoxStream<'static, Result<ReplyPart, ChatError>>;

/// A language model that can be asked.
pub trait ChatModel: Send + Sync {
    /// Starts a reply to the conversation. A system message may stand first and takes the place of the model's own
    /// system prompt.
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream;

    /// The provider's batches; `None` where it has none.
    fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        None
    }

    /// The body of a request that stands in a batch: that of a single one, but for the stream.
    fn batch_body(&self, _messages: &[Message], _sampling: &Sampling) -> Map<String, Value> {
        Map::new()
    }

    /// Starts a reply that is sampled as the model's settings say.
    fn reply(&self, messages: &[Message]) -> ReplyStream {
        self.ask(messages, &Sampling::default())
    }
}

/// The system prompt of a conversation, its own one first, and the messages after it.
fn system_and_rest<'m>(own: &'m str, messages: &'m [Message]) -> (Option<&'m str>, &'m [Message]) {
    match messages.split_first() {
        Some((first, rest)) if first.role == MessageRole::System => (Some(&first.content), rest),
        _ => (Some(own).filter(|own| !own.is_empty()), messages),
    }
}

/// Why a model did not answer, or stopped answering. The text is for the operator's log: it holds no key and no
/// provider text that could hold one, and it never reaches a visitor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// No connection, so that nothing was asked.
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
        /// What the provider asked to wait, if it did.
        retry_after: Option<Duration>,
    },
    /// The stream was not what the provider's protocol says.
    #[error("the provider's stream is malformed: {0}")]
    Malformed(String),
    /// An error object in the middle of a stream.
    #[error("the provider reported an error in mid-stream")]
    Reported,
    /// The reply ended without any text.
    #[error("the reply was empty")]
    Empty,
    /// A limit of time passed.
    #[error("no {awaited} within {} s", .after.as_secs_f32())]
    Timeout {
        /// What was waited for: "first token", "next token", "end of the reply".
        awaited: &'static str,
        /// The limit.
        after: Duration,
    },
    /// The request was in a batch, and got no reply there.
    #[error("the request got no reply in its batch: {0}")]
    Unanswered(BatchEnd),
    /// The circuit breaker is open: the model is not asked at the moment.
    #[error("the model's circuit breaker is open after repeated failures: it is tried again automatically")]
    BreakerOpen,
}

impl ChatError {
    /// One word for what went wrong, of a fixed few.
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

    /// Whether the provider may ask money for a request that ended like this before anything was heard: it has the prompt, and
    /// has not said that it does not answer.
    #[must_use]
    pub fn may_be_billed(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::Status { .. } | ChatError::BreakerOpen => false,
            ChatError::Unanswered(end) => matches!(end, BatchEnd::Missing | BatchEnd::Unreadable(_)),
            _ => true,
        }
    }

    /// What the provider asked to wait; zero where it did not.
    #[must_use]
    pub fn retry_after(&self) -> Duration {
        match self {
            ChatError::Status { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    /// Whether asking again may help: no connection, too many requests, or a failure of the server.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::Connection(_) => true,
            ChatError::Status { status, .. } => *status == 429 || (500..600).contains(status),
            _ => false,
        }
    }

    /// Whether the provider may have had no room for this request: too many came at once, or it waited too long for its turn.
    #[must_use]
    pub fn may_be_overload(&self) -> bool {
        match self {
            ChatError::Status { status, .. } => matches!(status, 429 | 503 | 529),
            ChatError::Timeout { awaited, .. } => *awaited == "first token",
            _ => false,
        }
    }

    /// Whether the failure may concern this one conversation rather than the model: some providers answer an unusual prompt with a
    /// failure of their server. Not so for a wrong key, an unknown model, and a server that is not reached or is under load.
    #[must_use]
    pub fn may_concern_one_conversation(&self) -> bool {
        match self {
            ChatError::Unreached(_) | ChatError::BreakerOpen => false,
            ChatError::Status { status, .. } => matches!(status, 403 | 451 | 500),
            _ => true,
        }
    }

    /// Whether the provider found this one request unfit (too long, filtered): then it says nothing about the model.
    #[must_use]
    pub fn is_request_error(&self) -> bool {
        matches!(self, ChatError::Status { status: 400 | 413 | 422, .. })
    }
}
