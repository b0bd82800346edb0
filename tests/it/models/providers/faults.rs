//! Faults of providers, and how they are reported.

use std::time::Duration;

use langya::infra::config::{ModelSettings, ProviderKind};
use langya::infra::llm::{ChatError, ChatModel};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{check, conversation, deltas, guarded, listen, model_of, scripted_reply, settings};
use crate::support::upstream::{MODES, Script, Upstream, delta};

fn malformed(error: Option<&ChatError>) -> bool {
    matches!(error, Some(ChatError::Malformed(_)))
}

fn connection(error: Option<&ChatError>) -> bool {
    matches!(error, Some(ChatError::Unreached(_) | ChatError::Connection(_)))
}

#[tokio::test]
async fn error_statuses_are_reported_by_number_and_without_their_bodies() {
    for (mode, status, seconds) in
        [("err500", 500, None), ("plain500", 500, None), ("err401", 401, None), ("err429", 429, Some(1))]
    {
        let error = ChatError::Status { status, retry_after: seconds.map(Duration::from_secs) };
        check(&scripted_reply(Script::mode(mode)).await, "", Some(&error));
    }
    let shouted = Script::whole("429 Too Many Requests", "RETRY-AFTER: 1\r\n", "");
    let error = ChatError::Status { status: 429, retry_after: Some(Duration::from_secs(1)) };
    check(&scripted_reply(shouted).await, "", Some(&error));
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
async fn a_lost_connection_is_distinguished_from_the_end_of_a_reply() {
    let close = Script::stream().text("one ").close();
    let event = format!("data: {}\n\n", delta(&json!({"content": "one "})));
    // Cut between two events: only the header says that more was to come.
    let head = |length: usize| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n")
    };
    let short = Script::bytes(format!("{}{event}", head(2 * event.len()))).close();
    // The header says that what follows is no part of the reply.
    let long = Script::bytes(format!("{}{event}{event}", head(event.len()))).close();
    for script in [Script::mode("reset"), close, short, long, Script::stream().reset(), Script::nothing().reset()] {
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
async fn an_answer_that_is_not_http_is_distinguished_from_a_lost_connection() {
    for bytes in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"\x15\x03\x01\x00\x02\x02\x46"] {
        let told = scripted_reply(Script::bytes(bytes).close()).await;
        assert!(matches!(&told.error, Some(ChatError::Connection(words)) if words.contains("not HTTP")), "{told:?}");
    }
}

#[tokio::test]
async fn a_tls_handshake_that_fails_is_distinguished_from_an_unknown_host() {
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
        (Script::whole("200 OK", "Content-Type: Text/HTML; charset=utf-8\r\n", "<p>CANARY</p>"), "a web page"),
        (Script::json(&whole), "one JSON document"),
        (Script::json(&error), "one JSON document"),
        (packed, "compressed"),
        (Script::whole("200 OK", "", ""), "no event"),
        (Script::stream().chunk(": keep-alive\n\n").end(), "no event"),
        (Script::stream().event("ping").event("ping").end(), "no event"),
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
async fn keep_alives_move_no_limit_of_time() {
    // Two seconds of keep-alives, and then the text that comes too late.
    let alive = |script: Script| {
        let script = (0..200).fold(script, |script, _| script.event("ping").pause(Duration::from_millis(10)));
        script.text("late").event("[DONE]").end()
    };
    for (script, first_token_ms, awaited, text) in
        [(Script::stream(), 50, "first token", ""), (Script::stream().text("one "), 5_000, "next token", "one ")]
    {
        let upstream = Upstream::start().await;
        upstream.script("m", alive(script));
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |limits| {
            (limits.first_token_timeout_ms, limits.idle_timeout_ms) = (first_token_ms, 50);
        });
        let told = listen(model.reply(&conversation())).await;
        assert!(matches!(told.error, Some(ChatError::Timeout { awaited: a, .. }) if a == awaited), "{told:?}");
        assert_eq!(told.text, text);
        upstream.until_active(0).await;
    }
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

#[tokio::test]
async fn faults_of_the_other_providers_are_reported_alike() {
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
