//! Client of streamed chat completions by OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio and LiteLLM.
//!
//! The servers' variants are all accepted: a first delta with or without `content`, `null` content, content as a list of parts (Mistral),
//! no `[DONE]`, usage chunks without choices, reasoning in `reasoning_content` or `reasoning`, errors in mid-stream, also those that only
//! the finish reason shows. Token counts, log probabilities, indices, refusals and reasoning of any other form are dropped.

use std::collections::VecDeque;
use std::sync::Arc;

use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::batch::BatchApi;
use super::super::batch::openai::OpenAiBatches;
use super::super::http::http_client::HttpClient;
use super::super::http::transport::{Endpoint, StreamProgress, stream_reply};
use super::super::stream::lenient_field::{has_content, lenient};
use super::super::stream::lone_surrogates::without_half_characters;
use super::super::stream::sse::SseEvent;
use super::super::stream::stream_readers::{SseReader, parse_json};
use super::super::{ChatError, ChatModel, Message, ReplyPart, ReplyStream, Sampling, Usage, system_and_rest};
use crate::config::{ConfigError, ModelSettings};
use crate::domain::judging::token_probabilities::{MAX_ALTERNATIVES, NumberToken};

/// Default address of OpenAI's API.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// A model served by a chat completions server.
#[derive(Debug)]
pub struct OpenAiModel {
    endpoint: Endpoint,
    /// Request without the conversation.
    template: Map<String, Value>,
    system_prompt: String,
    limit_key: &'static str,
    /// Additional request keys of the settings, which are never overridden.
    fixed: Map<String, Value>,
}

impl OpenAiModel {
    /// Creates the client from the settings of one model and the value of its key variable.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an unusable address or key.
    pub fn new(settings: &ModelSettings, key: Option<&SecretString>, http: &HttpClient) -> Result<Self, ConfigError> {
        let endpoint = Endpoint::new(settings, DEFAULT_BASE_URL, "/chat/completions", http)?.with_key(
            settings,
            AUTHORIZATION,
            "Bearer ",
            key,
        )?;
        // OpenAI's newer models accept only the longer name; other servers often accept only the shorter one.
        let official = endpoint.host() == "api.openai.com";
        let limit_key = if official { "max_completion_tokens" } else { "max_tokens" };
        let template = template(settings, limit_key);
        let fixed = settings.extra_body.clone().into_iter().collect();
        Ok(Self { endpoint, template, system_prompt: settings.system_prompt.clone(), limit_key, fixed })
    }

    fn body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        let mut body = self.template.clone();
        let messages = with_system_prompt(&self.system_prompt, messages);
        body.insert("messages".into(), messages.iter().map(message_json).collect());
        let mut lay = |key: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|_| !self.fixed.contains_key(key)) {
                body.insert(key.into(), value);
            }
        };
        lay("temperature", sampling.temperature.map(Value::from));
        lay("seed", sampling.seed.map(Value::from));
        lay("stream_options", sampling.with_usage.then(|| json!({"include_usage": true})));
        lay("logprobs", sampling.logprobs.then_some(Value::Bool(true)));
        lay("top_logprobs", sampling.logprobs.then(|| MAX_ALTERNATIVES.into()));
        if !MAX_TOKENS_KEYS.iter().any(|key| self.fixed.contains_key(*key)) {
            lay(self.limit_key, sampling.max_tokens.map(Value::from));
        }
        body
    }
}

/// Finish reasons that mean a server failure: of vLLM and SGLang, OpenRouter, Zhipu, and DeepSeek.
const FAILED_FINISH_REASONS: [&str; 4] = ["abort", "error", "network_error", "insufficient_system_resource"];

/// Names of the parameter for the maximum reply length.
const MAX_TOKENS_KEYS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

impl ChatModel for OpenAiModel {
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        stream_reply(&self.endpoint, &self.body(messages, sampling), SseReader::new(read_event))
    }

    fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        Some(Arc::new(OpenAiBatches::new(&self.endpoint, read_event)))
    }

    fn batch_body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        let mut body = self.body(messages, sampling);
        body.retain(|key, _| !matches!(key.as_str(), "stream" | "stream_options"));
        body
    }
}

fn template(settings: &ModelSettings, limit_key: &str) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.name_at_provider()));
    body.insert("stream".into(), json!(true));
    body.insert(limit_key.into(), json!(settings.max_tokens));
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if MAX_TOKENS_KEYS.iter().any(|key| settings.extra_body.contains_key(*key)) {
        body.remove(limit_key);
    }
    body.extend(settings.extra_body.clone());
    body
}

/// Prepends the system prompt as the first message, as chat completions and Ollama expect it.
pub(super) fn with_system_prompt(system_prompt: &str, messages: &[Message]) -> Vec<Message> {
    let (system, rest) = system_and_rest(system_prompt, messages);
    let system = system.map(Message::system);
    system.into_iter().chain(rest.iter().cloned()).collect()
}

/// Converts a message to the chat completions format: one with images has a list as its content.
fn message_json(message: &Message) -> Value {
    if message.images.is_empty() {
        return json!(message);
    }
    let images = message.images.iter().map(|image| {
        let url = format!("data:{};base64,{}", image.media_type.as_str(), image.base64());
        json!({"type": "image_url", "image_url": {"url": url}})
    });
    let parts: Vec<Value> = images.chain([json!({"type": "text", "text": message.content})]).collect();
    json!({"role": message.role, "content": parts})
}

#[derive(Deserialize)]
struct StreamChunk<'a> {
    #[serde(default)]
    choices: Option<Vec<Option<ChunkChoice>>>,
    error: Option<Value>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<OpenAiUsage>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct ChunkChoice {
    /// Index among several choices; some servers leave it out.
    #[serde(default, deserialize_with = "lenient")]
    index: Option<Value>,
    delta: Option<Delta>,
    finish_reason: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    logprobs: Option<Logprobs>,
}

impl ChunkChoice {
    /// Whether this is the first choice, the only one used if `extra_body` requests several (`n`).
    fn is_first(&self) -> bool {
        let index = match self.index.as_ref() {
            Some(Value::String(digits)) => digits.parse::<f64>().ok(),
            index => index.and_then(Value::as_f64),
        };
        index.is_none_or(|index| index < 1.0)
    }
}

#[derive(Deserialize)]
struct Logprobs {
    content: Option<Vec<TokenLogprob>>,
}

/// A token of the chunk's text; some servers return no alternatives.
#[derive(Deserialize)]
struct TokenLogprob {
    token: String,
    logprob: f64,
    #[serde(default)]
    top_logprobs: Vec<Alternative>,
}

#[derive(Deserialize)]
struct Alternative {
    token: String,
    logprob: f64,
}

/// Returns the numbers among the tokens of a chunk, by their position in its text.
fn numbers(logprobs: Logprobs) -> Vec<NumberToken> {
    let mut at = 0;
    let mut number = |token: TokenLogprob| {
        let others: Vec<_> = token.top_logprobs.into_iter().map(|other| (other.token, other.logprob)).collect();
        let number = NumberToken::new(at, (&token.token, token.logprob), &others);
        at += token.token.len();
        number
    };
    logprobs.content.into_iter().flatten().filter_map(&mut number).collect()
}

/// Text, or a list of parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(rename = "type")]
    kind: Option<Value>,
    text: Option<String>,
    thinking: Option<Box<Content>>,
}

impl ContentPart {
    /// Whether the part's text is reasoning too.
    fn is_reasoning(&self) -> bool {
        let kind = self.kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        kind.starts_with("thinking") || kind.starts_with("reasoning")
    }
}

impl Content {
    /// Appends the text, or the reasoning in it, in order.
    fn add_to(self, parts: &mut VecDeque<ReplyPart>, part: fn(String) -> ReplyPart) {
        match self {
            Self::Text(text) if text.is_empty() => {}
            Self::Text(text) => parts.push_back(part(text)),
            Self::Parts(list) => {
                for piece in list {
                    let of_text: fn(String) -> ReplyPart =
                        if piece.is_reasoning() { ReplyPart::Reasoning } else { part };
                    if let Some(thinking) = piece.thinking {
                        thinking.add_to(parts, ReplyPart::Reasoning);
                    }
                    if let Some(text) = piece.text {
                        Self::Text(text).add_to(parts, of_text);
                    }
                }
            }
        }
    }
}

/// Servers in PHP write an empty object as `[]`, so each field has a default.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<Content>,
    #[serde(deserialize_with = "lenient")]
    refusal: Option<String>,
    #[serde(deserialize_with = "lenient")]
    reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient")]
    reasoning: Option<String>,
}

pub(in crate::llm) fn read_event(
    event: SseEvent<'_>,
    parts: &mut VecDeque<ReplyPart>,
) -> Result<StreamProgress, ChatError> {
    let trimmed = event.data.trim();
    if trimmed == "[DONE]" {
        return Ok(StreamProgress::Ended);
    }
    if event.name == "error" {
        return Err(ChatError::Reported);
    }
    if trimmed.is_empty() {
        return Ok(StreamProgress::More);
    }
    let data = without_half_characters(event.data);
    let chunk: StreamChunk<'_> = parse_json(&data)?;
    let is_error = chunk.error.as_ref().is_some_and(has_content);
    if is_error || chunk.object.is_some_and(|object| object.get() == r#""error""#) {
        return Err(ChatError::Reported);
    }
    let choice = chunk.choices.into_iter().flatten().flatten().find(ChunkChoice::is_first).unwrap_or_default();
    let ended = choice.finish_reason.filter(is_finish_reason);
    let delta = choice.delta.unwrap_or_default();
    // Some servers send the same reasoning under both names.
    let reasoning = delta.reasoning_content.filter(|text| !text.is_empty()).or(delta.reasoning);
    parts.extend(reasoning.filter(|text| !text.is_empty()).map(ReplyPart::Reasoning));
    let numbers = choice.logprobs.map(numbers).filter(|numbers| !numbers.is_empty());
    parts.extend(numbers.map(ReplyPart::Numbers));
    for content in delta.content.into_iter().chain(delta.refusal.map(Content::Text)) {
        content.add_to(parts, ReplyPart::Text);
    }
    let usage = chunk.usage.map(|counted| Usage::reported(counted.prompt_tokens, counted.completion_tokens));
    parts.extend(usage.map(ReplyPart::Usage));
    match ended {
        Some(reason) if reason.as_str().is_some_and(|reason| FAILED_FINISH_REASONS.contains(&reason)) => {
            Err(ChatError::Reported)
        }
        Some(_) => Ok(StreamProgress::Closing),
        None => Ok(StreamProgress::More),
    }
}

/// Whether this is an actual finish reason: some servers send an empty one, or a "null" in quotes, with each delta.
fn is_finish_reason(reason: &Value) -> bool {
    match reason {
        Value::Bool(false) => false,
        Value::String(reason) => !matches!(reason.as_str(), "" | "null"),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
