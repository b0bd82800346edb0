//! Every queue has an end: what one client does costs the arena no memory and the others nothing.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::program::Server;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

const MIB: u64 = 1024 * 1024;
/// A ping as a client sends it.
const PING: [u8; 6] = [0x89, 0x80, 0, 0, 0, 0];
/// Longest wait for anything; reached only by a failing test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A figure of the process in bytes, such as `VmRSS` or, the highest so far, `VmHWM`.
fn memory(server: &Server, figure: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':')).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}

fn folder_with(upstream: &Upstream, battle: &str, models: [&str; 2]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let entry =
        |id: &str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    let settings =
        format!("[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n{battle}\n[providers]\npractice = \"never\"\n");
    std::fs::write(folder.path().join("langya.toml"), settings + &models.map(entry).concat()).unwrap();
    folder
}

fn serve(folder: &Path) -> Server {
    Server::start(folder, &["--config", "langya.toml"])
}

async fn two_short_models() -> (Upstream, TempDir) {
    let upstream = Upstream::start().await;
    upstream.script("one", Script::openai(["One."]));
    upstream.script("two", Script::openai(["Two."]));
    let folder = folder_with(&upstream, "", ["one", "two"]);
    (upstream, folder)
}

/// Opens a websocket by hand on a socket with little room for what comes back.
async fn raw_websocket(server: &Server) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let upgrade = format!(
        "GET /ws/battle HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    stream
}

/// A masked text frame, with a mask that changes nothing.
fn text_frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126);
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut read = Vec::new();
    let found = async {
        while !String::from_utf8_lossy(&read).contains(wanted) {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0, "the connection ended");
        }
    };
    let found = tokio::time::timeout(PATIENCE, found).await;
    let read = String::from_utf8_lossy(&read).into_owned();
    assert!(found.is_ok(), "{wanted:?} never came: {read}");
    read
}

#[actix_web::test]
async fn a_million_empty_continuation_frames_grow_no_memory() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut stream = raw_websocket(&server).await;
    stream.write_all(&text_frame("not JSON")).await.unwrap();
    read_until(&mut stream, "invalid_message").await;
    let before = memory(&server, "VmHWM");
    stream.write_all(&[0x01, 0x80, 0, 0, 0, 0]).await.unwrap();
    let ten_thousand = [0x00, 0x80, 0, 0, 0, 0].repeat(10_000);
    for _ in 0..100 {
        stream.write_all(&ten_thousand).await.unwrap();
    }
    stream.write_all(&[0x80, 0x81, 0, 0, 0, 0, b'x']).await.unwrap();
    read_until(&mut stream, "invalid_message").await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes");
    assert!(grown < 5 * MIB, "grown by {grown} bytes");
}

#[actix_web::test]
async fn a_reader_that_never_reads_holds_up_its_models_not_the_arena_and_is_dropped() {
    let upstream = Upstream::start().await;
    let long = (0..1_600).fold(Script::stream(), |script, _| script.text(&"x".repeat(10_000)));
    for model in ["one", "two"] {
        upstream.scripts(model, [long.clone().hang(), Script::openai(["Short."])]);
    }
    let folder = folder_with(&upstream, "max_reply_bytes = 100000000", ["one", "two"]);
    let server = serve(folder.path());
    let before = memory(&server, "VmHWM");
    let mut stalled = raw_websocket(&server).await;
    stalled.write_all(&text_frame(r#"{"type":"start","prompt":"Write at length"}"#)).await.unwrap();
    upstream.until_active(2).await;
    let mut other = Visitor::connect(&server.url).await;
    other.ask("Which?").await;
    assert_eq!(other.until_ready().await, ["Short.", "Short."]);
    assert_eq!(other.vote("a").await["type"], "revealed");
    upstream.until_active_for(0, PATIENCE).await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {grown} bytes of 32 MB that were offered");
    assert!(grown < 24 * MIB, "grown by {grown} bytes");
    // The connection itself is gone, though nothing was read: whoever writes to it learns so.
    let cut = async {
        while stalled.try_write(&PING).is_ok() {
            // Only the answer to the ping is waited for; where there is none, the next one asks again.
            let _ = tokio::time::timeout(Duration::from_millis(200), stalled.ready(Interest::ERROR)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, cut).await.is_ok(), "the connection lingers");
}

#[actix_web::test]
async fn idle_sockets_are_cheap() {
    const SOCKETS: u64 = 1_000;
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
    let mut first = Visitor::connect(&server.url).await;
    let before = memory(&server, "VmRSS");
    let mut idle = Vec::new();
    for _ in 0..SOCKETS {
        idle.push(Visitor::connect(&server.url).await);
    }
    let each = memory(&server, "VmRSS").saturating_sub(before) / SOCKETS;
    println!("{each} bytes a socket");
    assert!(each < 64 * 1024, "{each} bytes a socket");
    first.ask("Which?").await;
    first.until_ready().await;
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
    let mut codes: Vec<Value> = Vec::new();
    let closed = loop {
        if visitor.try_send(json!({"type": "stop"})).await.is_err() {
            panic!("the server closed without a word after {}", codes.len());
        }
        match visitor.try_next().await {
            Ok(answer) => codes.push(answer["code"].clone()),
            Err(code) => break code,
        }
        assert!(codes.len() < 5_000, "nothing stops the flood");
    };
    assert_eq!(closed, Some(CloseCode::Policy));
    let refused = codes.iter().position(|code| code == "flooding").unwrap();
    assert!(codes[refused..].iter().all(|code| code == "flooding"));
    assert!(codes[..refused].iter().all(|code| code == "unknown_battle"));
    Visitor::connect(&server.url).await.ask("Which?").await;
}

#[actix_web::test]
async fn a_body_that_nobody_asked_for_is_not_collected() {
    let (_upstream, folder) = two_short_models().await;
    let server = serve(folder.path());
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
    assert!(grown < 8 * MIB, "grown by {grown} bytes");
    Visitor::connect(&server.url).await.ask("Which?").await;
}
