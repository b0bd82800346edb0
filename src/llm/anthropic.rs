//! Anthropic's Messages API: the system prompt stands beside the messages, text and thinking come as block deltas.

use std::borrow::Cow;
use std::collections::VecDeque;

use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::client::HttpClient;
use super::reading::{SseReader, parse_json};
use super::sse::SseEvent;
use super::transport::{Endpoint, Progress, stream_reply};
use super::{ChatError, ChatModel, Message, ReplyPart, ReplyStream};
use crate::config::{ConfigError, ModelSettings};

/// Where Anthropic listens.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// The version of the API that is spoken.
pub const API_VERSION: &str = "2023-06-01";

/// A model behind a Messages API.
#[derive(Debug)]
pub struct AnthropicModel {
    endpoint: Endpoint,
    template: Map<String, Value>,
}

impl AnthropicModel {
    /// Takes the settings of one model and the value of its key variable.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an unusable address or key.
    pub fn new(settings: &ModelSettings, key: Option<&SecretString>, http: &HttpClient) -> Result<Self, ConfigError> {
        // With and without the version in the address: both are in use.
        let with_version = settings.base_url.trim_end_matches('/').ends_with("/v1");
        let path = if with_version { "/messages" } else { "/v1/messages" };
        let endpoint = Endpoint::new(settings, DEFAULT_BASE_URL, path, http)?
            .with_key(settings, HeaderName::from_static("x-api-key"), "", key)?
            .with_header("anthropic-version", API_VERSION);
        Ok(Self { endpoint, template: template(settings) })
    }
}

impl ChatModel for AnthropicModel {
    fn reply(&self, messages: &[Message]) -> ReplyStream {
        let mut body = self.template.clone();
        body.insert("messages".into(), json!(messages));
        stream_reply(self.endpoint.post(&body), SseReader::new(read_event))
    }
}

fn template(settings: &ModelSettings) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.name_at_provider()));
    body.insert("stream".into(), json!(true));
    body.insert("max_tokens".into(), json!(settings.max_tokens));
    if !settings.system_prompt.is_empty() {
        body.insert("system".into(), json!(settings.system_prompt));
    }
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    body.extend(settings.extra_body.clone());
    body
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    delta: Option<Block>,
    content_block: Option<Block>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
    thinking: Option<String>,
}

fn read_event(event: SseEvent<'_>, parts: &mut VecDeque<ReplyPart>) -> Result<Progress, ChatError> {
    if event.name == "error" {
        return Err(ChatError::Reported);
    }
    if event.data.is_empty() {
        return Ok(Progress::More);
    }
    let event: Event<'_> = parse_json(event.data)?;
    if event.kind == "error" || event.error.is_some() {
        return Err(ChatError::Reported);
    }
    if let Some(block) = event.delta.or(event.content_block) {
        parts.extend(block.thinking.filter(|text| !text.is_empty()).map(ReplyPart::Reasoning));
        parts.extend(block.text.filter(|text| !text.is_empty()).map(ReplyPart::Text));
    }
    Ok(if event.kind == "message_stop" { Progress::Ended } else { Progress::More })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_thinking_come_from_deltas_and_first_blocks() {
        let mut parts = VecDeque::new();
        for data in [
            r#"{"type":"message_start","message":{"id":"msg_1","content":[],"model":"x"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"A"}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"nswer"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
        ] {
            assert_eq!(read_event(SseEvent { name: "", data }, &mut parts), Ok(Progress::More), "{data}");
        }
        let end = SseEvent { name: "message_stop", data: r#"{"type":"message_stop"}"# };
        assert_eq!(read_event(end, &mut parts), Ok(Progress::Ended));
        let text = |text: &str| ReplyPart::Text(text.into());
        assert_eq!(parts, [ReplyPart::Reasoning("Hm".into()), text("A"), text("nswer")]);
    }

    #[test]
    fn an_error_event_is_reported() {
        let data = r#"{"type":"error","error":{"type":"overloaded_error","message":"sk-SECRET"}}"#;
        for name in ["", "error"] {
            assert_eq!(read_event(SseEvent { name, data }, &mut VecDeque::new()), Err(ChatError::Reported));
        }
    }
}
