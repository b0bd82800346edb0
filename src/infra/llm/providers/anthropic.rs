//! Client of Anthropic's Messages API: the system prompt is a field beside the messages; text and thinking arrive as block deltas.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::super::batch::BatchApi;
use super::super::batch::anthropic::AnthropicBatches;
use super::super::http::http_client::HttpClient;
use super::super::http::transport::{Endpoint, StreamProgress, stream_reply};
use super::super::stream::lenient_field::{has_content, lenient};
use super::super::stream::lone_surrogates::without_half_characters;
use super::super::stream::sse::SseEvent;
use super::super::stream::stream_readers::{SseReader, parse_json};
use super::super::{ChatError, ChatModel, Message, ReplyPart, ReplyStream, Sampling, Usage, system_and_rest};
use crate::config::{ConfigError, ModelSettings};

/// Default address of Anthropic's API.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// Supported version of the API.
pub const API_VERSION: &str = "2023-06-01";

/// A model served by a Messages API.
#[derive(Debug)]
pub struct AnthropicModel {
    endpoint: Endpoint,
    template: Map<String, Value>,
    system_prompt: String,
    /// Additional request keys of the settings, which are never overridden.
    fixed: Map<String, Value>,
}

impl AnthropicModel {
    /// Creates the client from the settings of one model and the value of its key variable.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an unusable address or key.
    pub fn new(settings: &ModelSettings, key: Option<&SecretString>, http: &HttpClient) -> Result<Self, ConfigError> {
        // Addresses with and without the version are both in use.
        let with_version = settings.base_url.trim_end_matches('/').ends_with("/v1");
        let path = if with_version { "/messages" } else { "/v1/messages" };
        let endpoint = Endpoint::new(settings, DEFAULT_BASE_URL, path, http)?
            .with_key(settings, HeaderName::from_static("x-api-key"), "", key)?
            .with_header("anthropic-version", API_VERSION);
        let fixed = settings.extra_body.clone().into_iter().collect();
        Ok(Self { endpoint, template: template(settings), system_prompt: settings.system_prompt.clone(), fixed })
    }

    /// The Messages API takes no seed.
    fn body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        let mut body = self.template.clone();
        let (system, rest) = system_and_rest(&self.system_prompt, messages);
        body.insert("messages".into(), rest.iter().map(message_json).collect());
        let sampled = [
            ("system", system.map(Value::from)),
            ("temperature", sampling.temperature.map(Value::from)),
            ("max_tokens", sampling.max_tokens.map(Value::from)),
        ];
        for (key, value) in sampled {
            if let Some(value) = value.filter(|_| !self.fixed.contains_key(key)) {
                body.insert(key.into(), value);
            }
        }
        body
    }
}

impl ChatModel for AnthropicModel {
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        stream_reply(&self.endpoint, &self.body(messages, sampling), SseReader::new(read_event).with_end())
    }

    fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        Some(Arc::new(AnthropicBatches::new(&self.endpoint, read_event)))
    }

    fn batch_body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        let mut body = self.body(messages, sampling);
        body.remove("stream");
        body
    }
}

fn template(settings: &ModelSettings) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.name_at_provider()));
    body.insert("stream".into(), json!(true));
    body.insert("max_tokens".into(), json!(settings.max_tokens));
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    body.extend(settings.extra_body.clone());
    body
}

/// Converts a message to the Messages API's format: one with images has a list as its content.
fn message_json(message: &Message) -> Value {
    if message.images.is_empty() {
        return json!(message);
    }
    let images = message.images.iter().map(|image| {
        let source = json!({"type": "base64", "media_type": image.media_type.as_str(), "data": image.base64()});
        json!({"type": "image", "source": source})
    });
    let parts: Vec<Value> = images.chain([json!({"type": "text", "text": message.content})]).collect();
    json!({"role": message.role, "content": parts})
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    delta: Option<ContentBlock>,
    content_block: Option<ContentBlock>,
    /// All blocks of an unstreamed reply.
    #[serde(default)]
    content: Vec<ContentBlock>,
    error: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    message: Option<MessageStart>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct MessageStart {
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ContentBlock {
    text: Option<String>,
    thinking: Option<String>,
    stop_reason: Option<IgnoredAny>,
}

pub(in crate::llm) fn read_event(
    event: SseEvent<'_>,
    parts: &mut VecDeque<ReplyPart>,
) -> Result<StreamProgress, ChatError> {
    if event.name == "error" {
        return Err(ChatError::Reported);
    }
    if event.data.trim().is_empty() {
        return Ok(StreamProgress::More);
    }
    let data = without_half_characters(event.data);
    let event: StreamEvent<'_> = parse_json(&data)?;
    if event.kind == "error" || event.error.as_ref().is_some_and(has_content) {
        return Err(ChatError::Reported);
    }
    let counted = event.usage.or(event.message.and_then(|begun| begun.usage));
    let usage = counted.map(|counted| Usage::reported(counted.input_tokens, counted.output_tokens));
    parts.extend(usage.map(ReplyPart::Usage));
    let is_closing = event.delta.as_ref().is_some_and(|delta| delta.stop_reason.is_some());
    for block in event.content.into_iter().chain(event.delta.or(event.content_block)) {
        parts.extend(block.thinking.filter(|text| !text.is_empty()).map(ReplyPart::Reasoning));
        parts.extend(block.text.filter(|text| !text.is_empty()).map(ReplyPart::Text));
    }
    Ok(match &*event.kind {
        "message_stop" => StreamProgress::Ended,
        _ if is_closing => StreamProgress::Closing,
        _ => StreamProgress::More,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::message::ImageType;
    use crate::llm::{MessageRole, PromptImage};

    #[test]
    fn images_stand_before_the_text_as_sources() {
        let images = vec![PromptImage { media_type: ImageType::Png, bytes: (*b"abc").into() }];
        let expected = json!({"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}},
            {"type": "text", "text": "What?"},
        ]});
        assert_eq!(message_json(&Message { images, ..Message::user("What?") }), expected);
    }

    #[test]
    fn text_and_thinking_come_from_deltas_and_first_blocks() {
        let mut parts = VecDeque::new();
        for data in [
            r#"{"type":"message_start","message":{"id":"msg_1","content":[],"usage":{"input_tokens":8,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"A"}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"nswer"}}"#,
        ] {
            assert_eq!(read_event(SseEvent { name: "", data }, &mut parts), Ok(StreamProgress::More), "{data}");
        }
        let data = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#;
        assert_eq!(read_event(SseEvent { name: "", data }, &mut parts), Ok(StreamProgress::Closing));
        let end = SseEvent { name: "message_stop", data: r#"{"type":"message_stop"}"# };
        assert_eq!(read_event(end, &mut parts), Ok(StreamProgress::Ended));
        let text = |text: &str| ReplyPart::Text(text.into());
        let usage = |input, output| ReplyPart::Usage(Usage { input, output: Some(output) });
        let expected = [usage(Some(8), 1), ReplyPart::Reasoning("Hm".into()), text("A"), text("nswer"), usage(None, 3)];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_whole_reply_is_read_like_an_event() {
        let whole = r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"x"},
            {"type":"text","text":"Yes"}],"stop_reason":"end_turn","usage":{"input_tokens":8,"output_tokens":3}}"#;
        let mut parts = VecDeque::new();
        read_event(SseEvent { name: "", data: whole }, &mut parts).unwrap();
        let usage = ReplyPart::Usage(Usage { input: Some(8), output: Some(3) });
        assert_eq!(parts, [usage, ReplyPart::Reasoning("Hm".into()), ReplyPart::Text("Yes".into())]);
    }

    #[test]
    fn a_system_message_stands_beside_the_others_and_a_call_has_its_own_sampling() {
        let settings = ModelSettings {
            system_prompt: "Own.".into(),
            ..ModelSettings::minimal("m", crate::config::ProviderKind::Anthropic)
        };
        let http = crate::llm::http_client(std::time::Duration::from_secs(1)).unwrap();
        let model = AnthropicModel::new(&settings, None, &http).unwrap();
        let said = |role, content: &str| Message::of(role, content);
        let messages = [said(MessageRole::System, "Judge."), said(MessageRole::User, "?")];
        let sampling = Sampling { temperature: Some(0.0), max_tokens: Some(5), ..Sampling::default() };
        let body = model.body(&messages, &sampling);
        assert_eq!(
            (&body["system"], &body["temperature"], &body["max_tokens"]),
            (&json!("Judge."), &json!(0.0), &json!(5))
        );
        assert_eq!(body["messages"], json!([{"role": "user", "content": "?"}]));
        assert_eq!(model.body(&messages[1..], &Sampling::default())["system"], "Own.");
    }

    #[test]
    fn counts_in_a_form_of_their_own_take_nothing_from_the_text() {
        let delta = r#""delta":{"type":"text_delta","text":"a"}"#;
        for usage in ["1e400", r#"{"output_tokens":1e400}"#, r#"{"output_tokens":-1}"#, r#"{"output_tokens":"3"}"#] {
            let data =
                format!(r#"{{"type":"content_block_delta",{delta},"usage":{usage},"message":{{"usage":{usage}}}}}"#);
            let mut parts = VecDeque::new();
            assert_eq!(read_event(SseEvent { name: "", data: &data }, &mut parts), Ok(StreamProgress::More), "{usage}");
            assert_eq!(parts, [ReplyPart::Text("a".into())], "{usage}");
        }
    }

    #[test]
    fn an_error_event_is_reported() {
        let nested = r#"{"type":"error","error":{"type":"overloaded_error","message":"sk-SECRET"}}"#;
        let flat = r#"{"type":"error","message":"sk-SECRET"}"#;
        for (name, data) in [("", nested), ("error", nested), ("", flat)] {
            assert_eq!(read_event(SseEvent { name, data }, &mut VecDeque::new()), Err(ChatError::Reported), "{data}");
        }
    }
}
