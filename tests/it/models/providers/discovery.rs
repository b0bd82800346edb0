//! The search for model servers on this machine and for keys in the environment.

use std::time::Duration;

use langya::infra::allowed_addresses::AllowedAddresses;
use langya::infra::config::{Environment, ProviderKind, ProviderSettings, Settings};
use langya::infra::llm::model_discovery::{DiscoveryTargets, discover, with_discovered};
use langya::infra::llm::roster::Roster;
use serde_json::json;

use super::{TIMEOUT, settings};
use crate::support::upstream::{Script, Upstream};

fn nowhere() -> DiscoveryTargets {
    let closed = "http://127.0.0.1:9".to_owned();
    DiscoveryTargets {
        ollama: closed.clone(),
        compatible: vec![("vLLM", format!("{closed}/v1"))],
        openai: closed.clone(),
        anthropic: closed,
        allowed: AllowedAddresses::default(),
        local_wait: TIMEOUT,
        remote_wait: TIMEOUT,
    }
}

#[tokio::test]
async fn local_servers_and_keys_in_the_environment_are_found() {
    let (local, paid, ollama) = (Upstream::start().await, Upstream::start().await, Upstream::start().await);
    ollama.script("/api/tags", Script::json(&json!({"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text"}]})));
    local.script(
        "/v1/models",
        Script::json(&json!({"object": "list", "data": [{"id": "/models/q.gguf"}, {"id": "qwen3:8b"}]})),
    );
    let list = json!({"data": [{"id": "gpt-5", "created": 2}, {"id": "whisper-1", "created": 3}]});
    paid.script("/models", Script::json(&list));
    let list = json!({"data": [{"id": "claude-x", "display_name": "Claude X", "type": "model"}]});
    paid.script("/v1/models", Script::json(&list));
    let places = DiscoveryTargets {
        ollama: ollama.url(),
        compatible: vec![("llama.cpp", format!("{}/v1", local.url()))],
        openai: paid.url(),
        anthropic: paid.url(),
        ..nowhere()
    };
    let env =
        Environment::of([("OPENAI_API_KEY", "sk-1"), ("ANTHROPIC_API_KEY", "sk-2"), ("OPENROUTER_API_KEY", "sk-3")]);
    let settings = with_discovered(Settings::default(), &env, &places).await;
    let found: Vec<_> =
        settings.models.iter().map(|m| (m.id.as_str(), m.model.as_str(), m.api_key_env.as_str())).collect();
    let expected = [
        ("qwen3:8b", "qwen3:8b", ""),
        ("q", "/models/q.gguf", ""),
        ("qwen3:8b-2", "qwen3:8b", ""),
        ("gpt-5", "gpt-5", "OPENAI_API_KEY"),
        ("claude-x", "claude-x", "ANTHROPIC_API_KEY"),
    ];
    assert_eq!(found, expected);
    assert!(paid.received().iter().any(|request| request.head.contains("x-api-key: sk-2")));
    assert_eq!(Roster::build(&settings, &env, 1).unwrap().all().len(), 5);
}

#[tokio::test]
async fn servers_out_of_reach_are_not_even_looked_for() {
    let upstream = Upstream::start().await;
    upstream.script("/v1/models", Script::json(&json!({"data": [{"id": "m"}]})));
    let places = DiscoveryTargets { compatible: vec![("vLLM", format!("{}/v1", upstream.url()))], ..nowhere() };
    assert_eq!(discover(&Environment::default(), &places).await.len(), 1);
    let mut settings = Settings::default();
    settings.providers.private_networks = Vec::new();
    let found = with_discovered(settings, &Environment::default(), &places).await;
    assert!(found.models.is_empty());
    assert_eq!(upstream.received().len(), 1);
}

#[tokio::test]
async fn servers_that_are_absent_silent_or_something_else_are_passed_over() {
    let upstream = Upstream::start().await;
    upstream.script("/v1/models", Script::whole("200 OK", "content-type: text/html\r\n", "<h1>A shop</h1>"));
    upstream.script("/api/tags", Script::silence());
    let places = DiscoveryTargets {
        ollama: upstream.url(),
        compatible: vec![("vLLM", format!("{}/v1", upstream.url()))],
        local_wait: Duration::from_millis(100),
        ..nowhere()
    };
    let env = Environment::of([("OPENAI_API_KEY", "sk-1"), ("ANTHROPIC_API_KEY", "sk\n2")]);
    assert!(discover(&env, &places).await.is_empty());
}

#[tokio::test]
async fn configured_models_end_the_search() {
    let upstream = Upstream::start().await;
    let places = DiscoveryTargets { ollama: upstream.url(), ..nowhere() };
    let configured = Settings { models: vec![settings(&upstream, ProviderKind::Openai)], ..Settings::default() };
    let switched_off = Settings {
        providers: ProviderSettings { discover: false, ..ProviderSettings::default() },
        ..Settings::default()
    };
    for settings in [configured, switched_off] {
        assert_eq!(with_discovered(settings.clone(), &Environment::default(), &places).await, settings);
    }
    assert!(upstream.received().is_empty());
}
