//! What cannot be used gets one clear answer, and nothing is lost by it.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::Visitor;

async fn arena() -> TestArena {
    TestArena::start(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))]).await
}

#[actix_web::test]
async fn unusable_messages_get_a_code_and_a_way_out_and_the_battle_lives_on() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Still there?").await;
    visitor.until_ready().await;
    let cases = [
        (r#"{"type":"start","prompt":""}"#, "prompt_empty", "write a question"),
        (r#"{"type":"start","prompt":" \n\t"}"#, "prompt_empty", "write a question"),
        (r#"{"type":"start","prompt":"\u200b \u2060\ufeff\u3164"}"#, "prompt_empty", "write a question"),
        (r#"{"type":"start","prompt":"a\u0000b"}"#, "prompt_invalid", "NUL"),
        (r#"{"type":"start"}"#, "invalid_message", "prompt"),
        (r#"{"type":"start","prompt":"x","mode":"direct"}"#, "invalid_message", "needs \"model\""),
        (r#"{"type":"start","prompt":"x","intent":"no spaces"}"#, "invalid_message", "intent"),
        (r#"{"type":"start","prompt":"x","prompt":"y"}"#, "invalid_message", "duplicate"),
        ("{\"type\":\"start\",\"prompt\":\"a\0b\"}", "invalid_message", "JSON"),
        (r#"{"type":"start","prompt":"\ud800"}"#, "invalid_message", "JSON"),
        (r#"{"type":"vote","outcome":"a","satisfaction":NaN}"#, "invalid_message", "JSON"),
        (r#"{"type":"vote","outcome":"a","satisfaction":1e999}"#, "invalid_message", "JSON"),
        (r#"{"type":"resume","after":-1}"#, "invalid_message", "JSON"),
        (r#"{"type":"dance"}"#, "invalid_message", "dance"),
        (r#"{"type":"#, "invalid_message", "JSON"),
        ("[]", "invalid_message", "JSON"),
        (r#"{"type":"vote"}"#, "invalid_message", "outcome"),
        (r#"{"type":"vote","outcome":"left"}"#, "unknown_outcome", "both_bad"),
        (r#"{"type":"vote","outcome":"a","satisfaction":9}"#, "invalid_message", "1 to 5"),
        (r#"{"type":"vote","outcome":"a","satisfaction":-1}"#, "invalid_message", "1 to 5"),
        (r#"{"type":"vote","outcome":"a","reasons":{"a":["funny"]}}"#, "invalid_message", "ignored_instructions"),
        (r#"{"type":"vote","outcome":"a","reasons":["useful"]}"#, "invalid_message", "JSON"),
        (r#"{"type":"regenerate","prompt":" "}"#, "prompt_empty", "write a question"),
        (r#"{"type":"vote","battle":"no-such","outcome":"a"}"#, "unknown_battle", "start a new battle"),
        (r#"{"type":"vote","battle":"a\u0000b","outcome":"a"}"#, "unknown_battle", "start a new battle"),
        (r#"{"type":"resume","battle":"a\u0000b","after":0}"#, "unknown_battle", "start a new battle"),
        (r#"{"type":"stop"}"#, "not_ready", "nothing"),
    ];
    for (text, code, way_out) in cases {
        visitor.send_raw(Message::text(text)).await;
        let answer = visitor.next().await;
        assert_eq!(answer["code"], code, "{text}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains(way_out), "{text}: {answer}");
    }
    visitor.send_raw(Message::binary(vec![0, 159, 146, 150])).await;
    assert_eq!(visitor.next().await["code"], "invalid_message");
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn a_vote_without_a_battle_says_so() {
    let arena = arena().await;
    assert_eq!(arena.visitor().await.vote("a").await["code"], "unknown_battle");
}

#[actix_web::test]
async fn a_prompt_over_the_limit_is_refused_by_its_length() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask(&"x".repeat(40_000)).await;
    let answer = visitor.next().await;
    assert_eq!(answer["code"], "prompt_too_long");
    assert!(answer["message"].as_str().unwrap().contains("40000"));
}

#[actix_web::test]
async fn a_prompt_that_a_rule_refuses_reaches_no_model_and_costs_no_battle() {
    let models = [Scripted::saying("One."), Scripted::saying("Two.")];
    let rules = serde_json::from_value(json!({"refuse": ["(?i)\\bforbidden\\b"]})).unwrap();
    let arena =
        TestArena::start_with(&[("one", &models[0]), ("two", &models[1])], |settings| settings.moderation = rules)
            .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Is it Forbidden?").await;
    let refused = visitor.next().await;
    assert_eq!(refused["code"], "prompt_refused");
    assert!(!refused["message"].as_str().unwrap().to_lowercase().contains("forbidden"), "{refused}");
    assert_eq!(models.each_ref().map(Scripted::asked), [0, 0]);

    visitor.ask("Is it allowed?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "And is that forbidden?"})).await;
    assert_eq!(visitor.next_of(&["error", "turn"]).await["code"], "prompt_refused");
    visitor.send(json!({"type": "regenerate", "prompt": "What is forbidden?"})).await;
    assert_eq!(visitor.next_of(&["error", "turn"]).await["code"], "prompt_refused");
    assert_eq!(models.each_ref().map(Scripted::asked), [1, 1]);
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[track_caller]
fn assert_too_large(answer: &Value) {
    assert_eq!(answer["code"], "message_too_large");
    assert!(answer["message"].as_str().unwrap().contains("65536"), "{answer}");
}

#[actix_web::test]
async fn messages_over_64_kib_are_answered_then_closed_with_1009_and_the_battle_resumes() {
    let arena = arena().await;
    for bytes in [100_000, 2_000_000] {
        let mut visitor = arena.visitor().await;
        visitor.ask("Keep this").await;
        visitor.until_ready().await;
        let mut back = visitor.reconnect().await;
        visitor.send(json!({"type": "message", "prompt": "x".repeat(bytes)})).await;
        assert_too_large(&visitor.next().await);
        assert_eq!(visitor.try_next().await.unwrap_err(), Some(CloseCode::Size));
        back.send(json!({"type": "resume", "battle": visitor.battle(), "after": 0})).await;
        back.until_ready().await;
        assert_eq!(back.vote("tie").await["type"], "revealed");
    }
}

#[actix_web::test]
async fn a_page_of_another_site_cannot_open_a_socket() {
    let arena = arena().await;
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let refused = Visitor::connect_with(&arena.url, Some(("origin", origin.to_owned()))).await;
        let Err(tokio_tungstenite::tungstenite::Error::Http(answer)) = refused else { panic!("{origin} got in") };
        assert_eq!(answer.status(), 403, "{origin}");
    }
    assert!(Visitor::connect_with(&arena.url, Some(("origin", arena.url.clone()))).await.is_ok());
}

/// Sends raw bytes and returns all that comes until the server closes.
async fn answer_to(arena: &TestArena, parts: &[&[u8]]) -> Vec<u8> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = arena.url.strip_prefix("http://").unwrap();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    for part in parts {
        socket.write_all(part).await.unwrap();
    }
    let mut answer = Vec::new();
    tokio::time::timeout(std::time::Duration::from_secs(20), socket.read_to_end(&mut answer)).await.unwrap().unwrap();
    answer
}

/// Sends raw bytes after an upgrade and returns what answers them, without the head.
async fn frames_after(arena: &TestArena, frames: &[&[u8]]) -> Vec<u8> {
    let address = arena.url.strip_prefix("http://").unwrap();
    let upgrade = format!(
        "GET /ws/battle HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let answer = answer_to(arena, &[&[upgrade.as_bytes()], frames].concat()).await;
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    answer[body..].to_vec()
}

/// The code of the close frame that answers these frames.
async fn close_code_after(arena: &TestArena, frames: &[&[u8]]) -> Option<u16> {
    let answer = frames_after(arena, frames).await;
    let close = answer.windows(2).rposition(|pair| pair[0] == 0x88 && pair[1] >= 2)?;
    Some(u16::from_be_bytes(answer[close + 2..close + 4].try_into().unwrap()))
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_frame_that_claims_more_than_anybody_means_is_refused_by_its_header() {
    let arena = arena().await;
    for claimed in [1_u64 << 40, 1 << 62, u64::MAX] {
        for opcode in [0x81, 0x82, 0x01] {
            let header = [&[opcode, 0xff][..], &claimed.to_be_bytes(), &[0; 4]].concat();
            let answer = frames_after(&arena, &[&header, b"the first few bytes"]).await;
            let text = String::from_utf8_lossy(&answer);
            assert!(text.contains("message_too_large"), "{claimed} {opcode:x}: {text}");
            assert_eq!(close_code_after(&arena, &[&header]).await, Some(1009), "{claimed} {opcode:x}");
        }
    }
}

/// What the HTTP parser answers itself, which no code of ours sees: a status, no body, nothing of what was sent, and the end of
/// the connection. The day on which it says more, this fails.
#[actix_web::test]
async fn what_is_no_request_gets_a_bare_status_and_the_end_of_the_connection() {
    let arena = arena().await;
    // As long as the parser reads and no longer: what it leaves unread would reset the connection.
    let mut long = "GET / HTTP/1.1\r\nhost: localhost\r\nx-canary: ".to_owned();
    long.extend(std::iter::repeat_n('x', 128 * 1024 - long.len()));
    let cases: [(&str, &[u8], &str); 5] = [
        ("no request line", b"canary\r\n\r\n", "400 Bad Request"),
        ("HTTP/0.9", b"GET /canary\r\n\r\n", "400 Bad Request"),
        ("a binary header", b"GET / HTTP/1.1\r\nhost: localhost\r\nx-\x00canary: 1\r\n\r\n", "400 Bad Request"),
        (
            "two lengths of the body",
            b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\ncanary",
            "400 Bad Request",
        ),
        ("a head without end", long.as_bytes(), "431 Request Header Fields Too Large"),
    ];
    for (name, bytes, status) in cases {
        let answer = String::from_utf8(answer_to(&arena, &[bytes]).await).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{name}: {answer:?}"));
        assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{name}: {head}");
        let says_more =
            |line: &&str| !["connection: close", "content-length: 0"].contains(line) && !line.starts_with("date: ");
        assert_eq!((head.lines().skip(1).find(says_more), body), (None, ""), "{name}");
    }
}

#[actix_web::test]
async fn a_broken_chunk_is_answered_with_every_header() {
    let arena = arena().await;
    let request = "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n";
    let answer = String::from_utf8(answer_to(&arena, &[request.as_bytes()]).await).unwrap();
    println!("{answer}");
    assert!(answer.contains("content-security-policy"), "{answer}");
}

#[actix_web::test]
async fn malformed_frames_are_closed_with_the_code_that_names_them() {
    let arena = arena().await;
    let cases: [(&str, &[u8], u16); 5] = [
        ("no mask", &[0x81, 1, b'x'], 1002),
        ("a reserved bit", &[0xc1, 0x81, 0, 0, 0, 0, b'x'], 1002),
        ("a reserved opcode", &[0x83, 0x81, 0, 0, 0, 0, b'x'], 1002),
        ("a fragmented ping", &[0x09, 0x81, 0, 0, 0, 0, b'x'], 1002),
        ("text that is not UTF-8", &[0x81, 0x81, 0, 0, 0, 0, 0xff], 1007),
    ];
    for (name, frame, code) in cases {
        assert_eq!(close_code_after(&arena, &[frame]).await, Some(code), "{name}");
    }
    let claim = [&[0x81, 0xff][..], &(1_u64 << 40).to_be_bytes(), &[0; 4]].concat();
    let payload = vec![b'x'; 17 << 20];
    assert_eq!(close_code_after(&arena, &[&claim, &payload]).await, Some(1009), "a claim of a terabyte");
}
