//! Discovers models without any settings: local servers on their default ports, and providers whose key is in the environment.
//!
//! Never fails: a server that is missing, slow or not a model server is skipped. Discovered models are logged; keys and responses are not.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;

use super::model_list::{self, is_embedding, is_usable};
use super::providers::{anthropic, ollama, openai};
use super::stream::lenient_field::lenient;
use super::{HttpClient, http_client_within};
use crate::allowed_addresses::AllowedAddresses;
use crate::config::{Environment, ModelSettings, ProviderKind, Settings};

/// Maximum number of models from one paid provider.
const MAX_PAID_MODELS: usize = 4;

/// Maximum number of models from one server: a longer list is not a model server's.
const MAX_MODELS: usize = 1_000;

/// Timeout of a provider on the Internet; that of local servers is much shorter.
pub const REMOTE_TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum size of a model list in bytes.
const MAX_LIST_BYTES: usize = 4 << 20;

/// Servers to query.
#[derive(Debug, Clone)]
pub struct DiscoveryTargets {
    /// Address of Ollama.
    pub ollama: String,
    /// Names and addresses (with `/v1`) of local servers with chat completions.
    pub compatible: Vec<(&'static str, String)>,
    /// Address of OpenAI.
    pub openai: String,
    /// Address of Anthropic.
    pub anthropic: String,
    /// Filter of allowed addresses.
    pub allowed: AllowedAddresses,
    /// Timeout of a local server.
    pub local_wait: Duration,
    /// Timeout of a provider on the Internet.
    pub remote_wait: Duration,
}

impl Default for DiscoveryTargets {
    fn default() -> Self {
        Self {
            ollama: ollama::DEFAULT_BASE_URL.into(),
            compatible: vec![
                ("llama.cpp", "http://127.0.0.1:8080/v1".into()),
                ("vLLM", "http://127.0.0.1:8000/v1".into()),
                ("LM Studio", "http://127.0.0.1:1234/v1".into()),
            ],
            openai: openai::DEFAULT_BASE_URL.into(),
            anthropic: anthropic::DEFAULT_BASE_URL.into(),
            allowed: AllowedAddresses::default(),
            local_wait: Duration::from_millis(200),
            remote_wait: REMOTE_TIMEOUT,
        }
    }
}

/// Returns the settings with the discovered models, if none are configured and `providers.discover` is set.
pub async fn with_discovered(mut settings: Settings, env: &Environment, places: &DiscoveryTargets) -> Settings {
    if settings.models.is_empty() && settings.providers.discover {
        let allowed = AllowedAddresses::new(&settings.providers.private_networks);
        settings.models = discover(env, &DiscoveryTargets { allowed, ..places.clone() }).await;
    }
    settings
}

/// Queries all servers at once.
pub async fn discover(env: &Environment, places: &DiscoveryTargets) -> Vec<ModelSettings> {
    let http = match http_client_within(places.remote_wait, &places.allowed) {
        Ok(http) => http,
        Err(error) => {
            tracing::warn!(%error, "model discovery is off");
            return Vec::new();
        }
    };
    let compatible = places.compatible.iter().map(|(name, base)| compatible_models(name, base, places, &http));
    let (from_ollama, from_compatible, from_openai, from_anthropic) = tokio::join!(
        ollama_models(places, &http),
        join_all(compatible),
        openai_models(env, places, &http),
        anthropic_models(env, places, &http)
    );
    if env.secret("OPENROUTER_API_KEY").is_some() {
        tracing::info!(
            "OPENROUTER_API_KEY is set: OpenRouter has hundreds of models, so name the ones to use under [[models]]"
        );
    }
    let found = [from_ollama].into_iter().chain(from_compatible).chain([from_openai, from_anthropic]);
    with_distinct_ids(found.flatten().collect())
}

async fn ollama_models(places: &DiscoveryTargets, http: &HttpClient) -> Vec<ModelSettings> {
    let Some(body) = fetch(&format!("{}/api/tags", places.ollama), HeaderMap::new(), places.local_wait, http).await
    else {
        return Vec::new();
    };
    let names = parse_ollama_tags(&body).into_iter();
    let models: Vec<ModelSettings> = names
        .map(|name| ModelSettings {
            base_url: places.ollama.clone(),
            ..ModelSettings::minimal(name, ProviderKind::Ollama)
        })
        .collect();
    log_found("Ollama", models)
}

async fn compatible_models(
    server: &str,
    base: &str,
    places: &DiscoveryTargets,
    http: &HttpClient,
) -> Vec<ModelSettings> {
    let Some(body) = fetch(&format!("{base}/models"), HeaderMap::new(), places.local_wait, http).await else {
        return Vec::new();
    };
    let chat = parse_list(&body).into_iter().filter(|listed| !is_embedding(&listed.id));
    let models = chat
        .map(|DiscoveredModel { id, .. }| ModelSettings {
            base_url: base.to_owned(),
            model: id.clone(),
            // llama.cpp lists the path of its file.
            ..ModelSettings::minimal(file_stem(&id), ProviderKind::Openai)
        })
        .collect();
    log_found(server, models)
}

async fn openai_models(env: &Environment, places: &DiscoveryTargets, http: &HttpClient) -> Vec<ModelSettings> {
    let variable = "OPENAI_API_KEY";
    let Some(headers) = key_header(env, variable, AUTHORIZATION, "Bearer ") else { return Vec::new() };
    let Some(body) = fetch(&format!("{}/models", places.openai), headers, places.remote_wait, http).await else {
        tracing::warn!("{variable} is set, and OpenAI's list of models cannot be read with it");
        return Vec::new();
    };
    let models = newest_chat_models(parse_list(&body)).into_iter().map(|listed| ModelSettings {
        organization: "OpenAI".into(),
        base_url: places.openai.clone(),
        api_key_env: variable.into(),
        ..ModelSettings::minimal(listed.id, ProviderKind::Openai)
    });
    log_found("OpenAI", models.collect())
}

async fn anthropic_models(env: &Environment, places: &DiscoveryTargets, http: &HttpClient) -> Vec<ModelSettings> {
    let variable = "ANTHROPIC_API_KEY";
    let Some(mut headers) = key_header(env, variable, HeaderName::from_static("x-api-key"), "") else {
        return Vec::new();
    };
    headers.insert("anthropic-version", HeaderValue::from_static(anthropic::API_VERSION));
    let Some(body) = fetch(&format!("{}/v1/models", places.anthropic), headers, places.remote_wait, http).await else {
        tracing::warn!("{variable} is set, and Anthropic's list of models cannot be read with it");
        return Vec::new();
    };
    // The list is sorted by date, the newest first.
    let models = parse_list(&body).into_iter().take(MAX_PAID_MODELS).map(|listed| ModelSettings {
        name: listed.display_name.unwrap_or_default(),
        organization: "Anthropic".into(),
        base_url: places.anthropic.clone(),
        api_key_env: variable.into(),
        ..ModelSettings::minimal(listed.id, ProviderKind::Anthropic)
    });
    log_found("Anthropic", models.collect())
}

fn log_found(server: &str, mut models: Vec<ModelSettings>) -> Vec<ModelSettings> {
    models.truncate(MAX_MODELS);
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    tracing::info!(server, models = ids.join(", "), "found a model server");
    models
}

fn key_header(env: &Environment, variable: &str, header: HeaderName, prefix: &str) -> Option<HeaderMap> {
    let key = env.secret(variable)?;
    let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose_secret().trim())) else {
        tracing::warn!("{variable} has characters that no key has, such as a line break");
        return None;
    };
    value.set_sensitive(true);
    Some(HeaderMap::from_iter([(header, value)]))
}

/// Returns the body of a successful response; `None` for everything else.
async fn fetch(address: &str, headers: HeaderMap, wait: Duration, http: &HttpClient) -> Option<Vec<u8>> {
    model_list::fetch(address, headers, wait, MAX_LIST_BYTES, http).await.ok()
}

#[derive(Debug, Deserialize)]
struct List {
    data: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct DiscoveredModel {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    display_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    created: Option<i64>,
}

/// Parses the models of a list; skips invalid ones.
fn parse_list(body: &[u8]) -> Vec<DiscoveredModel> {
    let listed = serde_json::from_slice::<List>(body).map(|list| list.data).unwrap_or_default();
    listed.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect()
}

#[derive(Deserialize)]
struct Tags {
    models: Vec<OllamaTag>,
}

#[derive(Deserialize)]
struct OllamaTag {
    name: String,
}

fn parse_ollama_tags(body: &[u8]) -> Vec<String> {
    let tags = serde_json::from_slice::<Tags>(body).map(|tags| tags.models).unwrap_or_default();
    tags.into_iter().map(|tag| tag.name).filter(|name| !is_embedding(name)).collect()
}

/// OpenAI lists everything that it serves; returns the newest chat models, each once.
fn newest_chat_models(mut listed: Vec<DiscoveredModel>) -> Vec<DiscoveredModel> {
    const OTHER: [&str; 13] = [
        "audio",
        "realtime",
        "transcribe",
        "tts",
        "image",
        "search",
        "instruct",
        "codex",
        "-pro",
        "research",
        "computer",
        "moderation",
        "embed",
    ];
    let ids: HashSet<String> = listed.iter().map(|model| model.id.clone()).collect();
    listed.retain(|DiscoveredModel { id, .. }| {
        let family = id.starts_with("gpt-") || id.starts_with("chatgpt-") || is_reasoning_model(id);
        // A dated copy of a model that is also listed without a date.
        let copy = ids.iter().any(|other| {
            let date = id.strip_prefix(other.as_str()).and_then(|rest| rest.strip_prefix('-'));
            date.is_some_and(|date| !date.is_empty() && date.chars().all(|c| c.is_ascii_digit() || c == '-'))
        });
        family && !copy && !OTHER.iter().any(|word| id.contains(word))
    });
    listed.sort_by_key(|model| std::cmp::Reverse(model.created));
    listed.truncate(MAX_PAID_MODELS);
    listed
}

/// Whether an id is `o3`, `o4-mini` or similar.
fn is_reasoning_model(id: &str) -> bool {
    id.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn file_stem(id: &str) -> &str {
    let file = id.rsplit(['/', '\\']).next().unwrap_or(id);
    file.strip_suffix(".gguf").map_or(id, |stem| stem)
}

/// Appends a number to the id of a model that several servers have.
fn with_distinct_ids(mut models: Vec<ModelSettings>) -> Vec<ModelSettings> {
    // No legitimate server uses such names, and the vote log cannot store them.
    models.retain(|model| is_usable(&model.id));
    let (mut seen, mut numbers) = (HashSet::new(), HashMap::new());
    for model in &mut models {
        if model.model.is_empty() {
            model.model.clone_from(&model.id);
        }
        let own = model.id.clone();
        let number = numbers.entry(own.clone()).or_insert(1_usize);
        while !seen.insert(model.id.clone()) {
            *number += 1;
            model.id = format!("{own}-{number}");
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(models: &[(&str, i64)]) -> Vec<DiscoveredModel> {
        models
            .iter()
            .map(|(id, created)| DiscoveredModel { id: (*id).into(), display_name: None, created: Some(*created) })
            .collect()
    }

    #[test]
    fn the_newest_chat_models_are_taken_once_each() {
        let all = listed(&[
            ("text-embedding-3-small", 99),
            ("gpt-4o", 10),
            ("gpt-4o-2024-08-06", 12),
            ("gpt-4o-audio-preview", 50),
            ("gpt-5", 30),
            ("gpt-5-pro", 31),
            ("o3", 20),
            ("o3-2025-04-16", 20),
            ("omni-moderation-latest", 60),
            ("gpt-4.1", 15),
            ("gpt-3.5-turbo", 1),
            ("whisper-1", 90),
        ]);
        let taken: Vec<String> = newest_chat_models(all).into_iter().map(|model| model.id).collect();
        assert_eq!(taken, ["gpt-5", "o3", "gpt-4.1", "gpt-4o"]);
    }

    #[test]
    fn an_odd_model_of_a_list_costs_only_itself() {
        let body = br#"{"data":[{"id":"a","created":null},{"id":7},null,{"id":"b","created":1.5,"display_name":3}]}"#;
        let ids: Vec<String> = parse_list(body).into_iter().map(|listed| listed.id).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn one_model_on_two_servers_is_two_entries() {
        let model = |id: &str| ModelSettings::minimal(id, ProviderKind::Ollama);
        let unprintable = model("b\u{1e}");
        let ids: Vec<_> = with_distinct_ids(vec![model("a"), model("a"), model("a-2"), unprintable, model("b")])
            .into_iter()
            .map(|m| (m.id, m.model))
            .collect();
        let expected = [("a", "a"), ("a-2", "a"), ("a-2-2", "a-2"), ("b", "b")];
        assert_eq!(ids, expected.map(|(id, model)| (id.to_owned(), model.to_owned())));
    }

    #[test]
    fn a_list_without_end_and_names_that_nothing_can_hold_are_cut() {
        let model = |id: &str| ModelSettings::minimal(id, ProviderKind::Ollama);
        let models = with_distinct_ids(log_found("a server", vec![model("a"); 2 * MAX_MODELS]));
        assert_eq!((models.len(), models[0].id.as_str()), (MAX_MODELS, "a"));
        assert_eq!(models[MAX_MODELS - 1].id, format!("a-{MAX_MODELS}"));
        assert!(with_distinct_ids(vec![model(&"n".repeat(201)), model("gpt\u{202e}live")]).is_empty());
    }

    #[test]
    fn a_file_gives_its_stem_and_other_ids_stay() {
        assert_eq!(file_stem("/models/qwen-7b.Q4.gguf"), "qwen-7b.Q4");
        assert_eq!(file_stem("C:\\m\\x.gguf"), "x");
        assert_eq!(file_stem("Qwen/Qwen-14B-Chat"), "Qwen/Qwen-14B-Chat");
    }
}
