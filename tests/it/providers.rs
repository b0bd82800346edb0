//! Every provider against a scripted server: what real servers do differently, and every way in which they fail.

mod discovery;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use langya::cli::output_format::OutputFormat;
use langya::cli::table::render;
use langya::domain::battle::ModelId;
use langya::infra::config::{Environment, ModelSettings, ProviderKind, ProviderSettings, Settings};
use langya::infra::llm::anthropic::AnthropicModel;
use langya::infra::llm::ollama::OllamaModel;
use langya::infra::llm::openai::OpenAiModel;
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use langya::infra::llm::{
    ChatError, ChatModel, Message, MessageRole, ModelCard, ReplyPart, ReplyStream, Usage, http_client,
};
use langya::services::model_check::check as check_models;
use rand::SeedableRng;
use secrecy::SecretString;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::support::upstream::{Gate, MODES, Script, Upstream, delta};

const PATIENCE: Duration = Duration::from_secs(10);

fn settings(upstream: &Upstream, provider: ProviderKind) -> ModelSettings {
    let path = if provider == ProviderKind::Openai { "/v1" } else { "" };
    ModelSettings { base_url: format!("{}{path}", upstream.url()), ..ModelSettings::minimal("m", provider) }
}

fn model_of(settings: &ModelSettings) -> Arc<dyn ChatModel> {
    let http = http_client(Duration::from_secs(2)).unwrap();
    let key = SecretString::from("sk-OUR-CANARY");
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
    while let Some(part) = timeout(PATIENCE, reply.next()).await.expect("the reply goes on") {
        assert!(told.error.is_none(), "nothing comes after an error");
        match part {
            Ok(ReplyPart::Text(text)) => told.text.push_str(&text),
            Ok(ReplyPart::Reasoning(text)) => told.reasoning.push_str(&text),
            Ok(ReplyPart::Usage(usage)) => told.usage = Some(usage),
            Ok(ReplyPart::Numbers(_)) => panic!("nobody asked for probabilities"),
            Err(error) => {
                assert!(!error.to_string().to_uppercase().contains("CANARY"), "{error}");
                told.error = Some(error);
            }
        }
    }
    told
}

/// Plays a script to an OpenAI model and returns what it told.
async fn scripted_reply(script: Script) -> Told {
    let upstream = Upstream::start().await;
    upstream.script("m", script);
    listen(model_of(&settings(&upstream, ProviderKind::Openai)).reply(&conversation())).await
}

#[track_caller]
fn check(told: &Told, text: &str, error: Option<&ChatError>) {
    assert_eq!((told.text.as_str(), told.error.as_ref()), (text, error));
}

fn malformed(error: Option<&ChatError>) -> bool {
    matches!(error, Some(ChatError::Malformed(_)))
}

fn connection(error: Option<&ChatError>) -> bool {
    matches!(error, Some(ChatError::Unreached(_) | ChatError::Connection(_)))
}

fn deltas<const N: usize>(deltas: [serde_json::Value; N]) -> Script {
    deltas.iter().fold(Script::stream(), |script, part| script.event(&delta(part)))
}

#[tokio::test]
async fn usual_streams_are_read_whole() {
    check(&scripted_reply(Script::mode("ok")).await, "one two three", None);
    check(&scripted_reply(Script::mode("nodone")).await, "one two three", None);
    check(&scripted_reply(Script::mode("slow")).await, "one two three", None);
    check(&scripted_reply(Script::mode("crlf")).await, "one two three", None);
    check(&scripted_reply(Script::mode("split")).await, "one 😀 two 😀 three", None);
    check(&scripted_reply(Script::mode("long")).await, &"word ".repeat(2000), None);
    check(&scripted_reply(Script::mode("leak")).await, "I am canary-model, trained by Canary Corp.", None);
}

#[tokio::test]
async fn first_deltas_of_every_kind_are_read() {
    let role_and_text = deltas([json!({"role": "assistant", "content": "Hi"}), json!({"content": " you"})]);
    check(&scripted_reply(role_and_text.event("[DONE]").end()).await, "Hi you", None);
    let no_content = deltas([json!({"role": "assistant"}), json!({"content": "Hi"})]);
    check(&scripted_reply(no_content.end()).await, "Hi", None);
    let null_content = deltas([json!({"role": "assistant", "content": null}), json!({"content": "Hi"})]);
    check(&scripted_reply(null_content.end()).await, "Hi", None);
}

#[tokio::test]
async fn a_usage_chunk_without_choices_is_counted_and_adds_no_text() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#;
    let told = scripted_reply(deltas([json!({"content": "Hi"})]).event(usage).event("[DONE]").end()).await;
    check(&told, "Hi", None);
    assert_eq!(told.usage, Some(Usage { input: Some(5), output: Some(3) }));
}

#[tokio::test]
async fn reasoning_is_kept_apart_from_the_answer() {
    let script = deltas([json!({"reasoning_content": "Hm, "}), json!({"reasoning": "so"}), json!({"content": "Yes"})]);
    let told = scripted_reply(script.end()).await;
    assert_eq!((told.reasoning.as_str(), told.text.as_str()), ("Hm, so", "Yes"));
}

#[tokio::test]
async fn a_last_event_without_its_blank_line_counts() {
    let script = Script::stream().text("one ").chunk(format!("data: {}", delta(&json!({"content": "two"}))));
    check(&scripted_reply(script.end()).await, "one two", None);
}

#[tokio::test]
async fn every_byte_may_come_by_itself() {
    let event = format!("\u{feff}: hello\r\ndata: {}\r\n\r\ndata: [DONE]\n\n", delta(&json!({"content": "你好 😀"})));
    let script = event.as_bytes().chunks(1).fold(Script::stream(), Script::chunk);
    check(&scripted_reply(script.end()).await, "你好 😀", None);
}

#[tokio::test]
async fn error_statuses_are_told_by_number_and_without_their_bodies() {
    for (mode, status, seconds) in
        [("err500", 500, None), ("plain500", 500, None), ("err401", 401, None), ("err429", 429, Some(1))]
    {
        let error = ChatError::Status { status, retry_after: seconds.map(Duration::from_secs) };
        check(&scripted_reply(Script::mode(mode)).await, "", Some(&error));
    }
    let moved = Script::whole("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "");
    check(&scripted_reply(moved).await, "", Some(&ChatError::Status { status: 307, retry_after: None }));
}

#[tokio::test]
async fn an_error_in_mid_stream_is_reported_after_the_text_before_it() {
    check(&scripted_reply(Script::mode("errmid")).await, "one two ", Some(&ChatError::Reported));
}

#[tokio::test]
async fn broken_json_and_endless_events_are_malformed_after_the_text_before_them() {
    for mode in ["badjson", "huge"] {
        let told = scripted_reply(Script::mode(mode)).await;
        assert!(told.text == "one two " && malformed(told.error.as_ref()), "{mode}: {told:?}");
    }
    let both = format!("data: {}\n\ndata: {{\n\n", delta(&json!({"content": "in one chunk"})));
    let told = scripted_reply(Script::stream().chunk(both).end()).await;
    assert!(told.text == "in one chunk" && malformed(told.error.as_ref()), "{told:?}");
}

#[tokio::test]
async fn a_lost_connection_is_told_from_the_end_of_a_reply() {
    let close = Script::stream().text("one ").close();
    let event = format!("data: {}\n\n", delta(&json!({"content": "one "})));
    // Cut between two events: only the header says that more was to come.
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", 2 * event.len());
    let short = Script::bytes(format!("{head}{event}")).close();
    for script in [Script::mode("reset"), close, short, Script::stream().reset(), Script::nothing().reset()] {
        let told = scripted_reply(script).await;
        assert!(connection(told.error.as_ref()), "{told:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_connection_error() {
    let upstream = Upstream::start().await;
    let settings = settings(&upstream, ProviderKind::Openai);
    drop(upstream);
    tokio::task::yield_now().await;
    let told = listen(model_of(&settings).reply(&conversation())).await;
    assert_eq!(told.error, Some(ChatError::Unreached("refused: nothing listens there".into())));
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_told_from_a_lost_connection() {
    for bytes in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"\x15\x03\x01\x00\x02\x02\x46"] {
        let told = scripted_reply(Script::bytes(bytes).close()).await;
        assert!(matches!(&told.error, Some(ChatError::Connection(words)) if words.contains("not HTTP")), "{told:?}");
    }
}

#[tokio::test]
async fn a_tls_handshake_that_fails_is_told_from_an_unknown_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        // Open until the client hangs up, which it may do with a reset.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    });
    let settings = ModelSettings { base_url, ..ModelSettings::minimal("m", ProviderKind::Openai) };
    let told = listen(model_of(&settings).reply(&conversation())).await;
    assert!(matches!(&told.error, Some(ChatError::Unreached(words)) if words.contains("TLS handshake")), "{told:?}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_reply_without_any_text_is_empty() {
    let invisible = Script::openai(["\u{0}", "\u{200b}", " "]);
    let tool = deltas([json!({"tool_calls": [{"index": 0, "function": {"name": "canary", "arguments": "{}"}}]})]);
    for script in [Script::mode("empty"), invisible, tool.event("[DONE]").end()] {
        let upstream = Upstream::start().await;
        upstream.script("m", script);
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |_| {});
        assert_eq!(listen(model.reply(&conversation())).await.error, Some(ChatError::Empty));
    }
}

#[tokio::test]
async fn a_body_that_is_no_stream_is_malformed_and_not_an_empty_reply() {
    let html = Script::whole("200 OK", "content-type: text/html\r\n", "<h1>Welcome, CANARY</h1>");
    let whole = json!({"choices": [{"message": {"content": "CANARY: the server does not stream"}}]});
    let error = json!({"error": {"message": "Incorrect API key provided: sk-CANARY"}});
    let packed = Script::whole("200 OK", "content-encoding: gzip\r\n", "CANARY");
    for (script, expected) in [
        (html, "a web page"),
        (Script::json(&whole), "one JSON document"),
        (Script::json(&error), "one JSON document"),
        (packed, "compressed"),
        (Script::whole("200 OK", "", ""), "no event"),
        (Script::stream().chunk(": keep-alive\n\n").end(), "no event"),
        (Script::mode("garbage"), "no event"),
    ] {
        let error = scripted_reply(script).await.error;
        assert!(malformed(error.as_ref()) && error.as_ref().unwrap().to_string().contains(expected), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_without_a_body_or_with_a_part_of_one_is_no_reply() {
    let body = format!("data: {}\n\n", delta(&json!({"content": "one"})));
    for (status, number, body) in [("204 No Content", 204, ""), ("206 Partial Content", 206, body.as_str())] {
        let error = ChatError::Status { status: number, retry_after: None };
        check(&scripted_reply(Script::whole(status, "", body)).await, "", Some(&error));
    }
}

#[tokio::test]
async fn what_is_late_or_broken_after_the_reason_of_the_end_takes_nothing_from_the_reply() {
    let finished = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    let said = || Script::stream().text("one").event(&finished);
    let half = said().chunk("data: [DO").end();
    for script in [said().hang(), said().close(), half, said().event("[DONE]").event("[DONE]").text("more").end()] {
        check(&scripted_reply(script).await, "one", None);
    }
    let failed = r#"{"error":{"message":"sk-CANARY"}}"#;
    check(&scripted_reply(said().event(failed).end()).await, "one", Some(&ChatError::Reported));
}

#[tokio::test]
async fn a_reply_without_the_end_that_its_protocol_has_broke_off() {
    let line = json!({"message": {"role": "assistant", "content": "one"}, "done": false});
    let text = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}"#;
    let stopped = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let broke_off = ChatError::Connection("it broke off".into());
    for (provider, script, error) in [
        (ProviderKind::Ollama, Script::stream_of("application/x-ndjson").chunk(format!("{line}\n")), Some(&broke_off)),
        (ProviderKind::Anthropic, Script::stream().event(text), Some(&broke_off)),
        (ProviderKind::Anthropic, Script::stream().event(text).event(stopped), None),
    ] {
        let upstream = Upstream::start().await;
        upstream.script("m", script.end());
        check(&listen(model_of(&settings(&upstream, provider)).reply(&conversation())).await, "one", error);
    }
}

#[tokio::test]
async fn hanging_servers_are_cut_and_their_connections_closed() {
    for (mode, awaited) in [("hang", "first token"), ("hangmid", "next token")] {
        let upstream = Upstream::start().await;
        upstream.script("m", Script::mode(mode));
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |limits| {
            (limits.first_token_timeout_ms, limits.idle_timeout_ms) = (if mode == "hang" { 50 } else { 5_000 }, 50);
        });
        let error = listen(model.reply(&conversation())).await.error;
        assert!(matches!(error, Some(ChatError::Timeout { awaited: a, .. }) if a == awaited), "{mode}: {error:?}");
        upstream.until_active(0).await;
    }
}

#[tokio::test]
async fn a_dropped_reply_closes_the_connection() {
    let upstream = Upstream::start().await;
    for script in [Script::stream().text("one").hang(), Script::stream().text("one").wait(&Gate::new())] {
        upstream.script("m", script);
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |_| {});
        let mut reply = model.reply(&conversation());
        assert_eq!(timeout(PATIENCE, reply.next()).await.unwrap(), Some(Ok(ReplyPart::Text("one".into()))));
        assert_eq!(upstream.active(), 1);
        drop(reply);
        upstream.until_active(0).await;
    }
}

#[tokio::test]
async fn a_reply_dropped_before_its_first_token_closes_the_connection() {
    let upstream = Upstream::start().await;
    upstream.script("m", Script::silence());
    let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |_| {});
    let listening = tokio::spawn(listen(model.reply(&conversation())));
    upstream.until_active(1).await;
    listening.abort();
    upstream.until_active(0).await;
}

#[tokio::test]
async fn a_part_is_passed_on_before_the_next_one_comes() {
    let (upstream, gate) = (Upstream::start().await, Gate::new());
    upstream.script("m", Script::stream().text("one").wait(&gate).text("two").end());
    let mut reply = model_of(&settings(&upstream, ProviderKind::Openai)).reply(&conversation());
    assert_eq!(timeout(PATIENCE, reply.next()).await.unwrap(), Some(Ok(ReplyPart::Text("one".into()))));
    gate.open();
    assert_eq!(listen(reply).await.text, "two");
}

#[tokio::test]
async fn a_failing_server_is_asked_again_until_it_answers() {
    let upstream = Upstream::start().await;
    upstream.scripts("m", [Script::mode("err500"), Script::mode("plain500"), Script::mode("ok")]);
    let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |_| {});
    check(&listen(model.reply(&conversation())).await, "one two three", None);
    assert_eq!(upstream.received().len(), 3);
}

#[tokio::test]
async fn each_mode_ends_a_guarded_reply_in_one_way() {
    for mode in MODES {
        let upstream = Upstream::start().await;
        upstream.script("m", Script::mode(mode));
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |limits| {
            limits.retries = 0;
            if mode.starts_with("hang") {
                (limits.first_token_timeout_ms, limits.idle_timeout_ms) = (2_000, 1_000);
            }
        });
        let failed = listen(model.reply(&conversation())).await.error.is_some();
        let fine = ["ok", "slow", "nodone", "split", "crlf", "long", "leak"].contains(&mode);
        assert_eq!(failed, !fine, "{mode}");
        upstream.until_active(0).await;
    }
}

/// A reply whose end is that of its connection.
fn until_closed(events: &[&str]) -> Script {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Script::bytes(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}")).close()
}

#[tokio::test]
async fn a_reply_that_ends_with_its_connection_is_whole_only_if_the_provider_said_so() {
    let upstream = Upstream::start().await;
    let finished = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    let text = delta(&json!({"content": "one"}));
    let whole = [&[text.as_str(), &finished][..], &[text.as_str(), "[DONE]"]];
    upstream.scripts("m", whole.into_iter().chain([&[text.as_str()][..]]).map(until_closed));
    let model = model_of(&settings(&upstream, ProviderKind::Openai));
    for _ in 0..2 {
        check(&listen(model.reply(&conversation())).await, "one", None);
    }
    let cut = listen(model.reply(&conversation())).await;
    assert_eq!((cut.text.as_str(), cut.error), ("one", Some(ChatError::Connection("it broke off".into()))));
}

#[tokio::test]
async fn connections_are_used_again() {
    let upstream = Upstream::start().await;
    upstream.script("m", Script::mode("ok"));
    let model = model_of(&settings(&upstream, ProviderKind::Openai));
    for _ in 0..5 {
        check(&listen(model.reply(&conversation())).await, "one two three", None);
    }
    assert_eq!(upstream.connections(), 1);
}

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
async fn faults_of_the_other_providers_are_told_alike() {
    for provider in [ProviderKind::Anthropic, ProviderKind::Ollama] {
        let error_line = Script::stream().chunk("{\"error\":\"sk-CANARY\"}\n").end();
        let error_event = Script::stream().chunk("event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n").end();
        let reported = if provider == ProviderKind::Ollama { error_line } else { error_event };
        let broken = Script::stream().chunk("data: {\n\n").end();
        for (script, expected) in [
            (reported, "the provider reported an error in mid-stream"),
            (broken, "malformed"),
            (Script::stream().chunk("x".repeat((1 << 20) + 9)).hang(), "malformed"),
            (Script::stream().reset(), "connection"),
            (Script::mode("err401"), "401"),
        ] {
            let upstream = Upstream::start().await;
            upstream.script("m", script);
            let error = listen(model_of(&settings(&upstream, provider)).reply(&conversation())).await.error;
            assert!(error.as_ref().is_some_and(|e| e.to_string().contains(expected)), "{provider:?}: {error:?}");
        }
    }
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
