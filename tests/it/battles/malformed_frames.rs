//! Frames that break the websocket protocol (RFC 6455), byte by byte: each ends its own socket with the code that names
//! the fault, and nobody else notices.

use crate::battles::queue_bounds::{has_started, serve, two_short_models};
use crate::support::memory;
use crate::support::program::Server;
use crate::support::raw_socket::{RawSocket, frame, text_frame};
use crate::support::visitor::Visitor;

const PROTOCOL: u16 = 1002;
const NOT_TEXT: u16 = 1007;
const FLOOD: u16 = 1008;
const TOO_LARGE: u16 = 1009;
const MIB: u64 = 1024 * 1024;

/// What a socket that gets these bytes is closed with.
#[track_caller]
fn closes(name: &str, bytes: impl AsRef<[u8]>, code: u16) -> (String, Vec<u8>, u16) {
    (name.to_owned(), bytes.as_ref().to_vec(), code)
}

fn close_frame(code: u16, reason: &[u8]) -> Vec<u8> {
    frame(0x88, &[&code.to_be_bytes(), reason].concat())
}

fn broken_headers() -> Vec<(String, Vec<u8>, u16)> {
    let reserved_bits = [0xc1, 0xa1, 0x91, 0xf1, 0xc9].map(|first| (first, "reserved bits"));
    let reserved_opcodes =
        (3..=7).chain(0xb..=0xf).flat_map(|opcode| [opcode, 0x80 | opcode]).map(|first| (first, "a reserved opcode"));
    let fragmented = [0x08, 0x09, 0x0a].map(|first| (first, "a fragmented control frame"));
    let all = reserved_bits.into_iter().chain(reserved_opcodes).chain(fragmented);
    let mut cases: Vec<_> =
        all.map(|(first, name)| closes(&format!("{name}: {first:#x}"), frame(first, b"x"), PROTOCOL)).collect();
    cases.push(closes("no mask", [0x81, 1, b'x'], PROTOCOL));
    cases.extend(
        [0x88, 0x89, 0x8a]
            .map(|first| closes(&format!("a long control frame: {first:#x}"), frame(first, &[b'x'; 126]), PROTOCOL)),
    );
    cases
}

fn broken_sequences() -> Vec<(String, Vec<u8>, u16)> {
    let (begin_text, begin_binary) = (frame(0x01, b"a"), frame(0x02, b"a"));
    vec![
        closes("a continuation of nothing", frame(0x00, b"x"), PROTOCOL),
        closes("an end of nothing", frame(0x80, b"x"), PROTOCOL),
        closes("text within text", [begin_text.clone(), text_frame("x")].concat(), PROTOCOL),
        closes("binary within text", [begin_text.clone(), frame(0x82, b"x")].concat(), PROTOCOL),
        closes("a beginning within text", [begin_text.clone(), begin_text].concat(), PROTOCOL),
        closes("text within binary", [begin_binary, text_frame("x")].concat(), PROTOCOL),
    ]
}

fn broken_closes() -> Vec<(String, Vec<u8>, u16)> {
    let reserved = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, u16::MAX];
    let mut cases: Vec<_> = reserved
        .iter()
        .map(|&code| closes(&format!("close with the reserved code {code}"), close_frame(code, b""), PROTOCOL))
        .collect();
    cases.push(closes("close with half a code", frame(0x88, &[3]), PROTOCOL));
    // The websocket crate does not distinguish this from a bad code.
    cases.push(closes("close with a reason that is not UTF-8", close_frame(1000, b"\xff"), PROTOCOL));
    let valid = [1000, 1001, 1003, 1007, 1011, 3000, 4999];
    cases.extend(valid.map(|code| closes(&format!("close with {code}"), close_frame(code, b"bye"), code)));
    cases
}

fn broken_text() -> Vec<(String, Vec<u8>, u16)> {
    let split = |first: &[u8], last: &[u8]| [frame(0x01, first), frame(0x89, b"between"), frame(0x80, last)].concat();
    vec![
        closes("a byte that is no text", text_bytes(b"\xff"), NOT_TEXT),
        closes("an overlong character", text_bytes(b"\xc0\xaf"), NOT_TEXT),
        closes("half a surrogate pair", text_bytes(b"\xed\xa0\x80"), NOT_TEXT),
        closes("a character beyond Unicode", text_bytes(b"\xf4\x90\x80\x80"), NOT_TEXT),
        closes("a character that breaks off", text_bytes(b"\xe4\xbd"), NOT_TEXT),
        closes("a wrong end in the next frame", split(b"\xe4\xbd", b" "), NOT_TEXT),
        closes("a character that breaks off over two frames", split(b"\xe4", b"\xbd"), NOT_TEXT),
    ]
}

fn text_bytes(bytes: &[u8]) -> Vec<u8> {
    frame(0x81, bytes)
}

/// Lengths that nobody will ever send, known from the header alone.
fn claims() -> Vec<(String, Vec<u8>, u16)> {
    let claim = |first, length: u64| [&[first, 0xff][..], &length.to_be_bytes(), &[0; 4]].concat();
    let panicked_once = [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xeb, 0x0e, 0x8f, 0x00];
    vec![
        closes("2^40 bytes", claim(0x81, 1 << 40), TOO_LARGE),
        closes("2^62 bytes", claim(0x81, 1 << 62), TOO_LARGE),
        closes("2^63 bytes, which the protocol forbids", claim(0x81, 1 << 63), TOO_LARGE),
        closes("2^64 - 1 bytes of a fragment", claim(0x01, u64::MAX), TOO_LARGE),
        closes("the bytes on which actix-http 3.11.0 panicked", panicked_once, TOO_LARGE),
    ]
}

/// Each on a socket of its own that has talked before, while a witness has a battle to vote on.
async fn each_is_closed_with_its_code(cases: Vec<(String, Vec<u8>, u16)>) {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut witness = Visitor::connect(&server.url).await;
    witness.ask("Which?").await;
    witness.until_ready().await;
    let mut wrong = Vec::new();
    for (name, bytes, code) in cases {
        let mut socket = RawSocket::open(&server.url).await;
        socket.send(&text_frame(r#"{"type":"stop"}"#)).await;
        socket.until("unknown_battle").await;
        socket.send(&bytes).await;
        let got = socket.close_code().await;
        if got != Some(code) {
            wrong.push(format!("{name}: {got:?}, not {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(witness.vote("a").await["type"], "revealed");
    assert_no_panic(&server);
}

fn assert_no_panic(server: &Server) {
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_frame_whose_header_is_wrong_is_a_protocol_error() {
    each_is_closed_with_its_code(broken_headers()).await;
}

#[actix_web::test]
async fn frames_in_the_wrong_order_are_a_protocol_error() {
    each_is_closed_with_its_code(broken_sequences()).await;
}

#[actix_web::test]
async fn a_close_frame_is_answered_in_kind_and_a_wrong_one_is_a_protocol_error() {
    each_is_closed_with_its_code(broken_closes()).await;
}

#[actix_web::test]
async fn text_that_is_not_utf8_is_named_as_such_also_over_several_frames() {
    each_is_closed_with_its_code(broken_text()).await;
}

#[actix_web::test]
async fn a_length_that_nobody_can_send_is_refused_from_its_header() {
    each_is_closed_with_its_code(claims()).await;
}

#[actix_web::test]
async fn frames_that_come_byte_by_byte_or_in_pieces_are_messages_like_any_other() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let start = r#"{"type":"start","prompt":"你好 😀?"}"#;
    let in_pieces = start.as_bytes().chunks(3).map(|piece| frame(0x00, piece)).collect::<Vec<_>>().concat();
    let fragmented = [frame(0x01, b""), frame(0x89, b"ping"), in_pieces, frame(0x80, b"")].concat();
    for message in [text_frame(start), fragmented] {
        let mut socket = RawSocket::open(&server.url).await;
        for byte in &message {
            socket.send(std::slice::from_ref(byte)).await;
        }
        socket.until(r#""type":"ready""#).await;
    }
    assert_no_panic(&server);
}

#[actix_web::test]
async fn ten_megabytes_of_pings_are_cut_off_and_grow_no_memory() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    has_started(&server.url).await;
    let mut witness = Visitor::connect(&server.url).await;
    let before = memory(&server, "VmHWM");
    let pings = frame(0x89, &[b'x'; 125]).repeat(1_000);
    let mut socket = RawSocket::open(&server.url).await;
    for _ in 0..80 {
        // The server closes in the middle, and then nothing more is taken.
        if socket.pour(&pings).await.is_err() {
            break;
        }
    }
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes");
    assert!(grown < 5 * MIB, "grown by {grown} bytes");
    let mut slower = RawSocket::open(&server.url).await;
    slower.send(&pings).await;
    slower.send(&frame(0x89, b"one more")).await;
    assert_eq!(slower.close_code().await, Some(FLOOD));
    witness.ask("Which?").await;
    witness.until_ready().await;
    assert_no_panic(&server);
}
