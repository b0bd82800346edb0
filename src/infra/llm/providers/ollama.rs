//! Client of Ollama's chat API: one JSON object per line.

use std::collections::VecDeque;

use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::http::http_client::HttpClient;
use super::super::http::transport::{Endpoint, StreamProgress, stream_reply};
use super::super::stream::lenient_field::{has_content, lenient};
use super::super::stream::lone_surrogates::without_half_characters;
use super::super::stream::stream_readers::{LineReader, parse_json};
use super::super::{ChatError, ChatModel, Message, PromptImage, ReplyPart, ReplyStream, Sampling, Usage};
use super::openai::with_system_prompt;
use crate::config::{ConfigError, ModelSettings};

/// Default address of Ollama.
pub const DEFAULT_BASE_URL: &str = "http://127.0.0.1:11434";

/// A model served by Ollama.
#[derive(Debug)]
pub struct OllamaModel {
    endpoint: Endpoint,
    template: Map<String, Value>,
    system_prompt: String,
    /// Options of the settings' extra body, which are never overridden.
    fixed: Map<String, Value>,
}

impl OllamaModel {
    /// Creates the client from the settings of one model and, for a server behind a proxy, the value of its key variable.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an unusable address or key.
    pub fn new(settings: &ModelSettings, key: Option<&SecretString>, http: &HttpClient) -> Result<Self, ConfigError> {
        let endpoint = Endpoint::new(settings, DEFAULT_BASE_URL, "/api/chat", http)?.with_key(
            settings,
            AUTHORIZATION,
            "Bearer ",
            key,
        )?;
        let fixed = settings.extra_body.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { endpoint, template: template(settings), system_prompt: settings.system_prompt.clone(), fixed })
    }

    fn body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        let mut body = self.template.clone();
        let messages = with_system_prompt(&self.system_prompt, messages);
        body.insert("messages".into(), messages.iter().map(message_json).collect());
        let sampled = [
            ("temperature", sampling.temperature.map(Value::from)),
            ("num_predict", sampling.max_tokens.map(Value::from)),
            ("seed", sampling.seed.map(Value::from)),
        ];
        for (key, value) in sampled {
            if let Some(value) = value.filter(|_| !self.fixed.contains_key(key)) {
                body["options"][key] = value;
            }
        }
        body
    }
}

impl ChatModel for OllamaModel {
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        stream_reply(&self.endpoint, &self.body(messages, sampling), LineReader::new(read_line))
    }
}

/// Converts a message to Ollama's format: images are beside the text.
fn message_json(message: &Message) -> Value {
    let mut body = json!(message);
    if !message.images.is_empty() {
        body["images"] = message.images.iter().map(PromptImage::base64).collect();
    }
    body
}

/// Builds the request: temperature and length are `options`, overridden by an `options` table of the extra body.
fn template(settings: &ModelSettings) -> Map<String, Value> {
    let mut options = Map::new();
    options.insert("num_predict".into(), json!(settings.max_tokens));
    if let Some(temperature) = settings.temperature {
        options.insert("temperature".into(), json!(temperature));
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.name_at_provider()));
    body.insert("stream".into(), json!(true));
    for (key, value) in &settings.extra_body {
        match value {
            Value::Object(extra) if key == "options" => options.extend(extra.clone()),
            _ => drop(body.insert(key.clone(), value.clone())),
        }
    }
    body.insert("options".into(), Value::Object(options));
    body
}

#[derive(Deserialize)]
struct ChatChunk {
    message: Option<ReplyLine>,
    #[serde(default)]
    done: bool,
    error: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    eval_count: Option<u64>,
}

#[derive(Default, Deserialize)]
struct ReplyLine {
    content: Option<String>,
    thinking: Option<String>,
}

pub(in crate::llm) fn read_line(line: &str, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
    let line: ChatChunk = parse_json(&without_half_characters(line))?;
    if line.error.as_ref().is_some_and(has_content) {
        return Err(ChatError::Reported);
    }
    let said = line.message.unwrap_or_default();
    parts.extend(said.thinking.filter(|text| !text.is_empty()).map(ReplyPart::Reasoning));
    parts.extend(said.content.filter(|text| !text.is_empty()).map(ReplyPart::Text));
    let usage = Usage::reported(line.prompt_eval_count, line.eval_count);
    parts.extend((usage != Usage::default()).then_some(ReplyPart::Usage(usage)));
    Ok(if line.done { StreamProgress::Ended } else { StreamProgress::More })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderKind;
    use crate::domain::battle::message::ImageType;

    #[test]
    fn images_stand_beside_the_text() {
        let images = vec![PromptImage { media_type: ImageType::Png, bytes: (*b"abc").into() }];
        let expected = json!({"role": "user", "content": "What?", "images": ["YWJj"]});
        assert_eq!(message_json(&Message { images, ..Message::user("What?") }), expected);
    }

    #[test]
    fn thinking_is_kept_apart_and_done_ends_the_reply() {
        let mut parts = VecDeque::new();
        let thinking = r#"{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#;
        assert_eq!(read_line(thinking, &mut parts), Ok(StreamProgress::More));
        let last = r#"{"message":{"role":"assistant","content":"Yes"},"done":true,"eval_count":3}"#;
        assert_eq!(read_line(last, &mut parts), Ok(StreamProgress::Ended));
        let usage = ReplyPart::Usage(Usage { input: None, output: Some(3) });
        assert_eq!(parts, [ReplyPart::Reasoning("Hm".into()), ReplyPart::Text("Yes".into()), usage]);
        assert_eq!(read_line(r#"{"error":"model runner gone"}"#, &mut parts), Err(ChatError::Reported));
    }

    #[test]
    fn counts_in_a_form_of_their_own_take_nothing_from_the_text() {
        for count in ["1e400", "-1", "7.5", r#""7""#, "{}"] {
            let line = format!(r#"{{"message":{{"content":"a"}},"prompt_eval_count":{count},"eval_count":3}}"#);
            let mut parts = VecDeque::new();
            assert_eq!(read_line(&line, &mut parts), Ok(StreamProgress::More), "{count}");
            let usage = ReplyPart::Usage(Usage { input: None, output: Some(3) });
            assert_eq!(parts, [ReplyPart::Text("a".into()), usage], "{count}");
        }
    }

    #[test]
    fn options_of_the_extra_body_are_merged_with_ours() {
        let mut settings = ModelSettings::minimal("m", ProviderKind::Ollama);
        settings.temperature = Some(0.5);
        settings.extra_body.insert("options".into(), json!({"num_ctx": 4096, "temperature": 0.1}));
        settings.extra_body.insert("keep_alive".into(), json!("5m"));
        let body = template(&settings);
        assert_eq!(body["options"], json!({"num_predict": 2048, "temperature": 0.1, "num_ctx": 4096}));
        assert_eq!(body["keep_alive"], "5m");
        let http = crate::llm::http_client(std::time::Duration::from_secs(1)).unwrap();
        let sampling = Sampling { temperature: Some(0.9), max_tokens: Some(7), seed: Some(1), ..Sampling::default() };
        let body = OllamaModel::new(&settings, None, &http).unwrap().body(&[], &sampling);
        assert_eq!(body["options"], json!({"num_predict": 7, "temperature": 0.1, "num_ctx": 4096, "seed": 1}));
    }
}
