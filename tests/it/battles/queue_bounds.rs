//! Every queue has an end: what one client does costs the arena no memory and the others nothing.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::program::Server;
use crate::support::raw_socket::{RawSocket, frame, text_frame};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, get};
use crate::support::{memory, size, until};

const MIB: u64 = 1024 * 1024;
/// Longest wait for anything; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Messages of one socket in ten seconds that are accepted; as many again are refused.
const ACCEPTED: usize = 500;
/// Resumes of one visitor that are granted at once.
const RESUMES: usize = 60;

/// A folder whose settings name two models at the upstream.
pub(crate) fn folder_with(upstream: &Upstream, battle: &str, models: [&str; 2]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let entry =
        |id: &str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    let settings = format!(
        "[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n{battle}\n[limits]\nturns = []\nvotes = []\n\
         turns_per_arena = []\nvotes_per_arena = []\nconcurrent_battles = 0\n[providers]\npractice = \"never\"\n"
    );
    std::fs::write(folder.path().join("langya.toml"), settings + &models.map(entry).concat()).unwrap();
    folder
}

pub(crate) fn serve(folder: &Path) -> Server {
    Server::start(folder, &["--config", "langya.toml"])
}

/// Waits until the jobs that run at the start have had the memory that they need.
pub(crate) async fn has_started(url: &str) {
    let url = format!("{url}/api/v1/correlation");
    until(async || get(&url).await.status().is_success().then_some(())).await;
}

/// An upstream with two models that say one word each, and a folder whose settings name them.
pub(crate) async fn two_short_models() -> (Upstream, TempDir) {
    let upstream = Upstream::start().await;
    upstream.script("one", Script::openai(["One."]));
    upstream.script("two", Script::openai(["Two."]));
    let folder = folder_with(&upstream, "", ["one", "two"]);
    (upstream, folder)
}

#[actix_web::test]
async fn a_million_empty_continuation_frames_grow_no_memory() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    has_started(&server.url).await;
    let mut socket = RawSocket::open(&server.url).await;
    socket.send(&text_frame("not JSON")).await;
    socket.until("invalid_message").await;
    let before = memory(&server, "VmHWM");
    socket.send(&frame(0x01, b"")).await;
    let ten_thousand = frame(0x00, b"").repeat(10_000);
    for _ in 0..100 {
        socket.send(&ten_thousand).await;
    }
    socket.send(&frame(0x80, b"x")).await;
    socket.until("invalid_message").await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes");
    assert!(grown < 5 * MIB, "grown by {grown} bytes");
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_reader_that_never_reads_holds_up_its_models_not_the_arena_and_is_dropped() {
    let upstream = Upstream::start().await;
    let long = (0..1_600).fold(Script::stream(), |script, _| script.text(&"x".repeat(10_000)));
    for model in ["one", "two"] {
        let short = || Script::openai(["Short."]);
        upstream.scripts(model, [short(), long.clone().hang(), short()]);
    }
    let folder = folder_with(&upstream, "max_reply_bytes = 100000000", ["one", "two"]);
    let server = serve(folder.path());
    has_started(&server.url).await;
    // What a process keeps from its first battle and vote on is there before.
    let mut first = Visitor::connect(&server.url).await;
    first.ask("Which?").await;
    assert_eq!(first.until_ready().await, ["Short.", "Short."]);
    assert_eq!(first.vote("a").await["type"], "revealed");
    let before = memory(&server, "VmHWM");
    let mut stalled = RawSocket::open(&server.url).await;
    stalled.send(&text_frame(r#"{"type":"start","prompt":"Write at length"}"#)).await;
    upstream.until_active(2).await;
    let mut other = Visitor::connect(&server.url).await;
    other.ask("Which?").await;
    assert_eq!(other.until_ready().await, ["Short.", "Short."]);
    assert_eq!(other.vote("a").await["type"], "revealed");
    upstream.until_active_for(0, TIMEOUT).await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes of 32 MB that were offered");
    assert!(grown < 24 * MIB, "grown by {grown} bytes");
    // The connection itself is gone, though nothing was read.
    stalled.until_cut().await;
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn readers_that_never_read_are_dropped_while_others_stream_on() {
    let readers = size(10, 100);
    let upstream = Upstream::start().await;
    let long = (0..1_600).fold(Script::stream(), |script, _| script.text(&"x".repeat(10_000))).hang();
    for model in ["one", "two"] {
        let long = long.clone();
        upstream.respond(model, move |request| match request.prompt() {
            "Write at length" => long.clone(),
            _ => Script::openai(std::iter::repeat_n("word ", 100)),
        });
    }
    let folder = folder_with(&upstream, "max_reply_bytes = 100000000", ["one", "two"]);
    let server = serve(folder.path());
    has_started(&server.url).await;
    let mut other = Visitor::connect(&server.url).await;
    let before = memory(&server, "VmHWM");
    let mut stalled = Vec::new();
    for _ in 0..readers {
        let mut socket = RawSocket::open(&server.url).await;
        socket.send(&text_frame(r#"{"type":"start","prompt":"Write at length"}"#)).await;
        stalled.push(socket);
    }
    upstream.until_received(2 * readers).await;
    let mut streamed = 0;
    while upstream.active() > 0 {
        other.ask("Which?").await;
        other.until_ready().await;
        assert_eq!(other.vote("tie").await["type"], "revealed");
        streamed += 1;
    }
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!(
        "{readers} readers that never read: {} bytes each; {streamed} battles beside them",
        grown / readers as u64
    );
    assert!(grown < 24 * MIB * readers as u64, "grown by {grown} bytes");
    assert!(streamed > 0, "nobody else had a battle");
    for socket in &mut stalled {
        socket.until_cut().await;
    }
}

#[actix_web::test]
async fn long_answers_to_readers_that_never_read_are_bounded_in_bytes() {
    let (readers, asked) = (6, 60);
    let upstream = Upstream::start().await;
    let piece = format!("{}\n\n", "x".repeat(9_998));
    upstream.respond("one", move |request| match request.prompt() {
        "Write at length" => Script::openai(std::iter::repeat_n(piece.as_str(), 25)),
        _ => Script::openai(["Short."]),
    });
    upstream.script("two", Script::openai(["Short."]));
    let folder = folder_with(&upstream, "", ["one", "two"]);
    let server = serve(folder.path());
    has_started(&server.url).await;
    let mut other = Visitor::connect(&server.url).await;
    // What a process keeps from its first battle and vote on is there before.
    other.ask("Which?").await;
    other.until_ready().await;
    assert_eq!(other.vote("a").await["type"], "revealed");
    let mut stalled = Vec::new();
    for _ in 0..readers {
        let mut socket = RawSocket::open(&server.url).await;
        let start = r#"{"type":"start","mode":"direct","model":"one","prompt":"Write at length","render":"blocks"}"#;
        socket.send(&text_frame(start)).await;
        socket.until(r#""type":"ready""#).await;
        stalled.push(socket);
    }
    let before = memory(&server, "VmHWM");
    // The reply as it was written, 250 kB, again and again.
    let questions = text_frame(r#"{"type":"text","turn":1,"side":"a"}"#).repeat(asked);
    for socket in &mut stalled {
        socket.send(&questions).await;
    }
    // One thread serves all sockets, so by the end of this battle the answers to the others have gone as far as they get.
    other.ask("Which?").await;
    assert_eq!(other.until_ready().await, ["Short.", "Short."]);
    assert_eq!(other.vote("a").await["type"], "revealed");
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("{readers} readers that never read: {} bytes each", grown / readers);
    assert!(grown < 4 * MIB * readers, "grown by {grown} bytes");
}

#[actix_web::test]
async fn a_battle_that_is_resumed_without_end_is_refused_and_goes_on() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let resume = json!({"type": "resume", "battle": visitor.battle(), "after": 0, "render": "html"});
    let mut shown = 0;
    let refused = loop {
        visitor.send(resume.clone()).await;
        match visitor.next_of(&["ready", "error"]).await {
            ready if ready["type"] == "ready" => shown += 1,
            refused => break refused,
        }
    };
    assert_eq!((&refused["code"], &refused["battle"]), (&json!("rate_limited"), &resume["battle"]), "{refused}");
    assert!(refused["retry_after"].is_u64(), "{refused}");
    assert!(shown >= RESUMES, "refused after {shown}");
    let mut other = Visitor::connect(&server.url).await;
    other.ask("Which?").await;
    other.until_ready().await;
    other.send(json!({"type": "resume", "after": 0})).await;
    assert_eq!(other.next_of(&["ready", "error"]).await["type"], "ready", "another visitor");
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn a_storm_of_starts_is_bounded_and_leaves_no_request_behind() {
    let (sockets, starts) = (20, size(5, 250));
    let upstream = Upstream::start().await;
    for model in ["one", "two"] {
        upstream.respond(model, |request| match request.prompt() {
            "Storm" => Script::stream().text("Begun.").hang(),
            _ => Script::openai(["Calm."]),
        });
    }
    let folder = folder_with(&upstream, "resume_grace_ms = 1", ["one", "two"]);
    let server = serve(folder.path());
    has_started(&server.url).await;
    let before = memory(&server, "VmHWM");
    let storm = text_frame(r#"{"type":"start","prompt":"Storm"}"#).repeat(starts);
    let began = Instant::now();
    let sent = join_all((0..sockets).map(async |_| {
        let mut socket = RawSocket::open(&server.url).await;
        socket.pour(&storm).await.unwrap();
        // An answer to what came last says that all before it was answered.
        socket.send(&text_frame("the end")).await;
        socket.until("invalid_message").await;
        starts
    }));
    let sent: usize = sent.await.iter().sum();
    let took = began.elapsed();
    upstream.until_active(0).await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("{sent} starts in {took:?}, {} requests to models; grown by {grown} bytes", upstream.received().len());
    assert!(grown < 64 * MIB, "grown by {grown} bytes");
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    assert_eq!(visitor.until_ready().await, ["Calm.", "Calm."]);
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[actix_web::test]
async fn idle_sockets_are_cheap() {
    let sockets = size(1_000, 5_000);
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    if ![server.pid(), std::process::id()].into_iter().all(|pid| may_open(pid, sockets + 1_000)) {
        println!("skipped: this system does not let a process open {sockets} sockets");
        return;
    }
    has_started(&server.url).await;
    let mut first = Visitor::connect(&server.url).await;
    let before = memory(&server, "VmRSS");
    let mut idle = Vec::new();
    for _ in 0..sockets {
        idle.push(Visitor::connect(&server.url).await);
    }
    let each = memory(&server, "VmRSS").saturating_sub(before) / sockets as u64;
    println!("{sockets} sockets, {each} bytes each");
    assert!(each < 64 * 1024, "{each} bytes a socket");
    first.ask("Which?").await;
    first.until_ready().await;
    let mut last = idle.pop().unwrap();
    last.ask("Which?").await;
    last.until_ready().await;
}

/// Lets a process open so many files, if it may not already; false where that is not to be had.
fn may_open(pid: u32, files: usize) -> bool {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let soft = line.split_whitespace().next().and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    let raise = || Command::new("prlimit").arg(format!("--pid={pid}")).arg(format!("--nofile={files}:")).status();
    soft >= files || raise().is_ok_and(|raised| raised.success())
}

#[actix_web::test]
async fn json_in_great_depth_is_refused_without_harm() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut visitor = Visitor::connect(&server.url).await;
    let (open, close) = ("[".repeat(30_000), "]".repeat(30_000));
    for text in [open.clone(), format!("{open}{close}"), format!(r#"{{"type":{open}{close}}}"#)] {
        visitor.send_raw(Message::text(text)).await;
        assert_eq!(visitor.next().await["code"], "invalid_message");
    }
    // Beside the known fields it is skipped, without a step for each level on the stack.
    visitor.send_raw(Message::text(format!(r#"{{"type":"start","prompt":"x","other":{open}{close}}}"#))).await;
    visitor.until_ready().await;
    for bytes in [50_000, 100_000] {
        visitor.send_raw(Message::text("[".repeat(bytes))).await;
        let code = if bytes > 65_536 { "message_too_large" } else { "invalid_message" };
        assert_eq!(visitor.next_of(&["error"]).await["code"], code);
    }
}

#[actix_web::test]
async fn messages_without_end_are_refused_and_then_closed_with_1008() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut visitor = Visitor::connect(&server.url).await;
    // All at once: the arena counts the messages of ten seconds, in which a client that waits for each answer may not come that far.
    for _ in 0..=2 * ACCEPTED {
        visitor.send(json!({"type": "stop"})).await;
    }
    let mut codes: Vec<Value> = Vec::new();
    let closed = loop {
        match visitor.try_next().await {
            Ok(answer) => codes.push(answer["code"].clone()),
            Err(code) => break code,
        }
    };
    assert_eq!((closed, codes.len()), (Some(CloseCode::Policy), 2 * ACCEPTED));
    assert!(codes[..ACCEPTED].iter().all(|code| code == "unknown_battle"));
    assert!(codes[ACCEPTED..].iter().all(|code| code == "flooding"));
    Visitor::connect(&server.url).await.ask("Which?").await;
}

#[actix_web::test]
async fn a_body_that_nobody_asked_for_is_not_collected() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    has_started(&server.url).await;
    let before = memory(&server, "VmHWM");
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).await.unwrap();
    let head = "POST /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mib = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        // The server may close in the middle, which is as good.
        if stream.write_all(&mib).await.is_err() {
            break;
        }
    }
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes for a body of 64 MiB");
    assert!(grown < 8 * MIB, "grown by {grown} bytes");
    Visitor::connect(&server.url).await.ask("Which?").await;
}

#[actix_web::test]
async fn a_packed_body_is_not_unpacked() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    has_started(&server.url).await;
    // As small as can be, so that the first piece that is read holds a whole member.
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![0; 16 << 20]).unwrap();
    // Members one after the other are one file: 256 MiB.
    let bomb = packer.finish().unwrap().repeat(16);
    let before = memory(&server, "VmHWM");
    for method in ["GET", "POST"] {
        // The last two collect bodies: those of annotators, and of forms.
        for path in ["/", "/api/v1/leaderboard", "/ws/battle", "/nothing", "/api/v1/campaigns/x/next", "/admin"] {
            let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).await.unwrap();
            let head = format!(
                "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-encoding: gzip\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n",
                bomb.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            // The server may answer and close before the body has come, which is as good.
            let _ = stream.write_all(&bomb).await;
            let ended = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut Vec::new())).await;
            assert!(ended.is_ok(), "{method} {path}: no end of the connection");
        }
    }
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes for {} packed ones", bomb.len());
    assert!(grown < 8 * MIB, "grown by {grown} bytes");
    // Nor is a packed message: the extension that packs them is not offered.
    let packed = Some(("sec-websocket-extensions", "permessage-deflate".to_owned()));
    let mut visitor = Visitor::connect_with(&server.url, packed).await.unwrap();
    assert!(!visitor.headers.iter().any(|line| line.contains("deflate")), "{:?}", visitor.headers);
    visitor.ask("Which?").await;
    visitor.until_ready().await;
}
