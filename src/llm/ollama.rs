//! Ollama's own chat API: one JSON object a line.

use std::collections::VecDeque;

use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::client::HttpClient;
use super::openai::with_system_prompt;
use super::reading::{LineReader, parse_json};
use super::transport::{Endpoint, Progress, stream_reply};
use super::{ChatError, ChatModel, Message, ReplyPart, ReplyStream};
use crate::config::{ConfigError, ModelSettings};

/// Where Ollama listens unless told otherwise.
pub const DEFAULT_BASE_URL: &str = "http://127.0.0.1:11434";

/// A model that Ollama runs.
#[derive(Debug)]
pub struct OllamaModel {
    endpoint: Endpoint,
    template: Map<String, Value>,
    system_prompt: String,
}

impl OllamaModel {
    /// Takes the settings of one model and, for a server behind a proxy, the value of its key variable.
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
        Ok(Self { endpoint, template: template(settings), system_prompt: settings.system_prompt.clone() })
    }
}

impl ChatModel for OllamaModel {
    fn reply(&self, messages: &[Message]) -> ReplyStream {
        let mut body = self.template.clone();
        body.insert("messages".into(), json!(with_system_prompt(&self.system_prompt, messages)));
        stream_reply(self.endpoint.post(&body), LineReader::new(read_line))
    }
}

/// Temperature and length are `options` here; an `options` table of the extra body is laid over them.
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
struct Line {
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    error: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct Said {
    content: Option<String>,
    thinking: Option<String>,
}

fn read_line(line: &str, parts: &mut VecDeque<ReplyPart>) -> Result<Progress, ChatError> {
    let line: Line = parse_json(line)?;
    if line.error.is_some() {
        return Err(ChatError::Reported);
    }
    let said = line.message.unwrap_or_default();
    parts.extend(said.thinking.filter(|text| !text.is_empty()).map(ReplyPart::Reasoning));
    parts.extend(said.content.filter(|text| !text.is_empty()).map(ReplyPart::Text));
    Ok(if line.done { Progress::Ended } else { Progress::More })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderKind;

    #[test]
    fn thinking_is_kept_apart_and_done_ends_the_reply() {
        let mut parts = VecDeque::new();
        let thinking = r#"{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#;
        assert_eq!(read_line(thinking, &mut parts), Ok(Progress::More));
        let last = r#"{"message":{"role":"assistant","content":"Yes"},"done":true,"eval_count":3}"#;
        assert_eq!(read_line(last, &mut parts), Ok(Progress::Ended));
        assert_eq!(parts, [ReplyPart::Reasoning("Hm".into()), ReplyPart::Text("Yes".into())]);
        assert_eq!(read_line(r#"{"error":"model runner gone"}"#, &mut parts), Err(ChatError::Reported));
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
    }
}
