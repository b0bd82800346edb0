//! Every provider against a scripted server: what real servers do differently, and every way in which they fail.

mod discovery;
mod faults;
mod requests;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use langya::domain::battle::ModelId;
use langya::infra::config::{ModelSettings, ProviderKind, ProviderSettings};
use langya::infra::llm::http_client;
use langya::infra::llm::providers::anthropic::AnthropicModel;
use langya::infra::llm::providers::ollama::OllamaModel;
use langya::infra::llm::providers::openai::OpenAiModel;
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::{ChatError, ChatModel, Message, MessageRole, ModelCard, ReplyPart, ReplyStream, Usage};
use rand::SeedableRng;
use secrecy::SecretString;
use tokio::time::timeout;

use crate::support::upstream::{Script, Upstream, delta};

const TIMEOUT: Duration = Duration::from_secs(10);

fn settings(upstream: &Upstream, provider: ProviderKind) -> ModelSettings {
    let path = if provider == ProviderKind::Openai { "/v1" } else { "" };
    ModelSettings { base_url: format!("{}{path}", upstream.url()), ..ModelSettings::minimal("m", provider) }
}

fn model_of(settings: &ModelSettings) -> Arc<dyn ChatModel> {
    model_with_key(settings, "sk-OUR-CANARY")
}

fn model_with_key(settings: &ModelSettings, key: &str) -> Arc<dyn ChatModel> {
    let http = http_client(Duration::from_secs(2)).unwrap();
    let key = SecretString::from(key);
    match settings.provider {
        ProviderKind::Openai => Arc::new(OpenAiModel::new(settings, Some(&key), &http).unwrap()),
        ProviderKind::Anthropic => Arc::new(AnthropicModel::new(settings, Some(&key), &http).unwrap()),
        ProviderKind::Ollama => Arc::new(OllamaModel::new(settings, None, &http).unwrap()),
        ProviderKind::Builtin => panic!("practice models have no server"),
    }
}

fn guarded(model: Arc<dyn ChatModel>, change: impl FnOnce(&mut ProviderSettings)) -> ResilientModel {
    let mut limits = ProviderSettings { retry_backoff_ms: 1, ..ProviderSettings::default() };
    change(&mut limits);
    let card = ModelCard {
        id: ModelId::new("m"),
        name: "M".into(),
        organization: String::new(),
        license: String::new(),
        practice: false,
    };
    ResilientModel::new(card, 1.0, model, ReplyLimits::from(&limits), rand_chacha::ChaCha8Rng::seed_from_u64(1))
}

fn conversation() -> Vec<Message> {
    let message = |role, content: &str| Message::of(role, content);
    vec![
        message(MessageRole::User, "Hi"),
        message(MessageRole::Assistant, "Hello"),
        message(MessageRole::User, "你好?"),
    ]
}

#[derive(Debug, Default, PartialEq)]
struct Told {
    text: String,
    reasoning: String,
    usage: Option<Usage>,
    error: Option<ChatError>,
}

async fn listen(mut reply: ReplyStream) -> Told {
    let mut told = Told::default();
    while let Some(part) = timeout(TIMEOUT, reply.next()).await.expect("the reply goes on") {
        assert!(told.error.is_none(), "nothing comes after an error");
        match part {
            Ok(ReplyPart::Text(text)) => told.text.push_str(&text),
            Ok(ReplyPart::Reasoning(text)) => told.reasoning.push_str(&text),
            Ok(ReplyPart::Usage(usage)) => told.usage = Some(usage),
            Ok(ReplyPart::Numbers(_)) => panic!("nobody asked for probabilities"),
            Ok(ReplyPart::TextEnded) => {}
            Err(error) => {
                assert!(!error.to_string().to_uppercase().contains("CANARY"), "{error}");
                told.error = Some(error);
            }
        }
    }
    told
}

/// Plays a script to an OpenAI model and returns what it sent.
async fn scripted_reply(script: Script) -> Told {
    let upstream = Upstream::start().await;
    upstream.script("m", script);
    listen(model_of(&settings(&upstream, ProviderKind::Openai)).reply(&conversation())).await
}

#[track_caller]
fn check(told: &Told, text: &str, error: Option<&ChatError>) {
    assert_eq!((told.text.as_str(), told.error.as_ref()), (text, error));
}

fn deltas<const N: usize>(deltas: [serde_json::Value; N]) -> Script {
    deltas.iter().fold(Script::stream(), |script, part| script.event(&delta(part)))
}
