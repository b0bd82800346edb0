//! How replies are read from the connection: piece by piece, up to their end.

use futures_util::StreamExt;
use langya::infra::config::ProviderKind;
use langya::infra::llm::{ChatError, ChatModel, ReplyPart, Usage};
use serde_json::json;
use tokio::time::timeout;

use super::{
    TIMEOUT, check, conversation, deltas, guarded, listen, model_of, model_with_key, scripted_reply, settings,
};
use crate::support::upstream::{Gate, Script, Upstream, delta};

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
async fn what_only_shows_that_the_connection_lives_takes_nothing_from_the_reply() {
    let between = |script: Script| {
        let script = script.event("ping").event("").chunk(": comment\n\n").chunk("event: keep-alive\ndata: now\n\n");
        script.event(": PROCESSING").event(r#"{"choices":[null],"usage":{"prompt_tokens":1e400}}"#)
    };
    let script = between(between(between(Script::stream()).text("one ")).text("two")).event("[DONE]").end();
    let told = scripted_reply(script).await;
    check(&told, "one two", None);
    assert_eq!(told.usage, None, "a count that nothing holds is not known");
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
async fn what_is_late_or_broken_after_the_reason_of_the_end_takes_nothing_from_the_reply() {
    let finished = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    let said = || Script::stream().text("one").event(&finished);
    let half = said().chunk("data: [DO").end();
    let broken_beside_it = Script::stream().text("one").chunk(format!("data: {finished}\n\ndata: {{\n\n")).hang();
    let broken = [half, said().event("{").hang(), broken_beside_it];
    let late = [said().hang(), said().close(), said().event("[DONE]").event("[DONE]").text("more").end()];
    for script in broken.into_iter().chain(late) {
        check(&scripted_reply(script).await, "one", None);
    }
    let failed = r#"{"error":{"message":"sk-CANARY"}}"#;
    check(&scripted_reply(said().event(failed).end()).await, "one", Some(&ChatError::Reported));
}

#[tokio::test]
async fn the_reason_of_the_end_is_known_before_the_provider_has_nothing_more_to_say() {
    let upstream = Upstream::start().await;
    let finished = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    upstream.script("m", Script::stream().text("one").event(&finished).hang());
    let mut reply = model_of(&settings(&upstream, ProviderKind::Openai)).reply(&conversation());
    for part in [ReplyPart::Text("one".into()), ReplyPart::TextEnded] {
        assert_eq!(timeout(TIMEOUT, reply.next()).await.unwrap(), Some(Ok(part)));
    }
}

#[tokio::test]
async fn a_provider_that_writes_our_key_into_a_reply_shows_it_to_nobody() {
    let (upstream, key) = (Upstream::start().await, "sk-OUR-CANARY-0123456789");
    let echo = ["authorization: Bearer ", &key[..9], &key[9..], "\nhost: localhost"];
    for (provider, script) in
        [(ProviderKind::Openai, Script::openai(echo)), (ProviderKind::Anthropic, Script::anthropic(echo))]
    {
        upstream.script("m", script);
        let told = listen(model_with_key(&settings(&upstream, provider), key).reply(&conversation())).await;
        check(&told, "authorization: Bearer [redacted]\nhost: localhost", None);
    }
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
async fn a_dropped_reply_closes_the_connection() {
    let upstream = Upstream::start().await;
    for script in [Script::stream().text("one").hang(), Script::stream().text("one").wait(&Gate::new())] {
        upstream.script("m", script);
        let model = guarded(model_of(&settings(&upstream, ProviderKind::Openai)), |_| {});
        let mut reply = model.reply(&conversation());
        assert_eq!(timeout(TIMEOUT, reply.next()).await.unwrap(), Some(Ok(ReplyPart::Text("one".into()))));
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
    assert_eq!(timeout(TIMEOUT, reply.next()).await.unwrap(), Some(Ok(ReplyPart::Text("one".into()))));
    gate.open();
    assert_eq!(listen(reply).await.text, "two");
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

/// A reply that somebody on the way has collected and counted.
fn collected(events: &[&str]) -> Script {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Script::whole("200 OK", "content-type: text/event-stream\r\n", &body)
}

#[tokio::test]
async fn a_reply_with_a_length_is_whole_only_if_the_provider_said_so() {
    let upstream = Upstream::start().await;
    let finished = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    let text = delta(&json!({"content": "one"}));
    let replies = [&[text.as_str(), &finished][..], &[text.as_str(), "[DONE]"], &[text.as_str()]];
    upstream.scripts("m", replies.map(collected));
    let model = model_of(&settings(&upstream, ProviderKind::Openai));
    for _ in 0..2 {
        check(&listen(model.reply(&conversation())).await, "one", None);
    }
    let broke_off = ChatError::Connection("it broke off".into());
    check(&listen(model.reply(&conversation())).await, "one", Some(&broke_off));
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
