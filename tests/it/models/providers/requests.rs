//! What each kind of provider is asked, and what a check of the models says.

use langya::cli::output::output_format::OutputFormat;
use langya::cli::output::table::render;
use langya::infra::config::{Environment, ModelSettings, ProviderKind, Settings};
use langya::infra::llm::ChatError;
use langya::infra::llm::roster::Roster;
use langya::services::model_check::check as check_models;
use serde_json::json;

use super::{check, conversation, listen, model_of, settings};
use crate::support::upstream::{Script, Upstream};

#[tokio::test]
async fn the_request_of_a_chat_completions_server_holds_all_settings() {
    let upstream = Upstream::start().await;
    upstream.script("name-there", Script::openai(["ok"]));
    let mut settings = settings(&upstream, ProviderKind::Openai);
    settings.model = "name-there".into();
    settings.system_prompt = "Be brief.".into();
    settings.temperature = Some(0.5);
    settings.max_tokens = 99;
    settings.extra_body.insert("top_k".into(), json!(3));
    listen(model_of(&settings).reply(&conversation())).await;
    let request = &upstream.received()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert!(request.head.contains("authorization: bearer sk-our-canary\r\n"), "{}", request.head);
    let expected = json!({
        "model": "name-there", "stream": true, "max_tokens": 99, "temperature": 0.5, "top_k": 3,
        "messages": [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "你好?"},
        ],
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn anthropic_is_asked_and_read_in_its_own_way() {
    let upstream = Upstream::start().await;
    upstream.script("m", Script::anthropic(["one ", "two"]));
    let mut settings = settings(&upstream, ProviderKind::Anthropic);
    settings.system_prompt = "Be brief.".into();
    check(&listen(model_of(&settings).reply(&conversation())).await, "one two", None);
    let request = &upstream.received()[0];
    assert_eq!(request.path, "/v1/messages");
    assert!(
        request.head.contains("x-api-key: sk-our-canary\r\n") && request.head.contains("anthropic-version: 2023-06-01")
    );
    assert_eq!((&request.body["system"], &request.body["max_tokens"]), (&json!("Be brief."), &json!(2048)));
    assert_eq!(request.body["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn ollama_is_asked_and_read_in_its_own_way() {
    let upstream = Upstream::start().await;
    upstream.script("m", Script::ollama(["one ", "two"]));
    let mut settings = settings(&upstream, ProviderKind::Ollama);
    settings.temperature = Some(0.0);
    check(&listen(model_of(&settings).reply(&conversation())).await, "one two", None);
    let request = &upstream.received()[0];
    assert_eq!(request.path, "/api/chat");
    assert_eq!(request.body["options"], json!({"num_predict": 2048, "temperature": 0.0}));
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let (upstream, elsewhere) = (Upstream::start().await, Upstream::start().await);
    let target = format!("location: {}/v1/chat/completions\r\n", elsewhere.url());
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        upstream.script("m", Script::whole(status, &target, ""));
        let told = listen(model_of(&settings(&upstream, ProviderKind::Openai)).reply(&conversation())).await;
        let number: u16 = status[..3].parse().unwrap();
        assert_eq!(told.error, Some(ChatError::Status { status: number, retry_after: None }), "{status}");
    }
    assert!(elsewhere.received().is_empty(), "the key went elsewhere");
}

#[tokio::test]
async fn a_check_says_for_each_model_what_to_change() {
    let upstream = Upstream::start().await;
    upstream.script("good", Script::mode("ok"));
    upstream.script("locked", Script::mode("err401"));
    let entry = |id: &str| ModelSettings {
        id: id.into(),
        api_key_env: "MY_KEY".into(),
        ..settings(&upstream, ProviderKind::Openai)
    };
    let models = vec![entry("good"), entry("locked"), entry("unknown")];
    let settings = Settings { models, ..Settings::default() };
    let roster = Roster::build(&settings, &Environment::of([("MY_KEY", "sk-CANARY")]), 1).unwrap();
    let checked = check_models(&settings, &roster).await;
    let ok: Vec<bool> = checked.iter().map(|model| model.ok).collect();
    assert_eq!(ok, [true, false, false]);
    let table = render(&checked, OutputFormat::Table).unwrap();
    assert!(table.contains("MY_KEY") && table.contains("\"unknown\""), "{table}");
    assert!(!table.to_uppercase().contains("CANARY"), "{table}");
}
