//! Who leaves or stops in mid-stream leaves no request behind: every connection to a provider is closed at once.

use std::time::{Duration, Instant};

use crate::battles::queue_bounds::{folder_with, serve};
use crate::support::raw_socket::{RawSocket, frame, text_frame};
use crate::support::size;
use crate::support::upstream::{Script, Upstream};

/// How a visitor ends a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyEnd {
    Reset,
    NoCloseFrame,
    CloseFrame,
    Stop,
    NewStart,
}

const WAYS: [ReplyEnd; 5] =
    [ReplyEnd::Reset, ReplyEnd::NoCloseFrame, ReplyEnd::CloseFrame, ReplyEnd::Stop, ReplyEnd::NewStart];
/// What is promised; judged by the long form, which is run to measure.
const PROMISED: Duration = Duration::from_secs(2);
const START: &str = r#"{"type":"start","prompt":"Is anybody there?"}"#;

async fn endless_models() -> Upstream {
    let upstream = Upstream::start().await;
    for model in ["one", "two"] {
        upstream.script(model, Script::stream().text("Begun, ").text("and never ended.").hang());
    }
    upstream
}

/// Starts a battle and waits until its text comes.
async fn begin(url: &str) -> RawSocket {
    let mut socket = RawSocket::open(url).await;
    socket.send(&text_frame(START)).await;
    socket.until(r#""type":"delta""#).await;
    socket
}

/// Ends the replies of a battle that has begun, in this way; a socket that stays open is returned.
async fn end(mut socket: RawSocket, way: ReplyEnd, upstream: &Upstream) -> Option<RawSocket> {
    match way {
        ReplyEnd::Reset => socket.reset(),
        ReplyEnd::NoCloseFrame => drop(socket),
        ReplyEnd::CloseFrame => {
            socket.send(&frame(0x88, &1001_u16.to_be_bytes())).await;
            return Some(socket);
        }
        ReplyEnd::Stop => {
            socket.send(&text_frame(r#"{"type":"stop"}"#)).await;
            socket.until(r#""type":"ready""#).await;
            return Some(socket);
        }
        ReplyEnd::NewStart => {
            let before = upstream.received().len();
            socket.send(&text_frame(START)).await;
            upstream.until_received(before + 2).await;
            // The first battle's connections are closed, those of the second are open.
            upstream.until_active(2).await;
            socket.reset();
        }
    }
    None
}

#[actix_web::test]
async fn a_visitor_who_leaves_stops_or_starts_again_leaves_no_request_behind() {
    let upstream = endless_models().await;
    let folder = folder_with(&upstream, "resume_grace_ms = 1", ["one", "two"]);
    let server = serve(folder.path());
    let times = size(25, 200);
    let mut longest = Duration::ZERO;
    for way in WAYS.into_iter().cycle().take(times) {
        let socket = begin(&server.url).await;
        upstream.until_active(2).await;
        let began = Instant::now();
        let open = end(socket, way, &upstream).await;
        upstream.until_active(0).await;
        longest = longest.max(began.elapsed());
        drop(open);
    }
    println!("{times} times: closed after {longest:?} at most");
    assert!(times < 200 || longest < PROMISED, "it took {longest:?}");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[actix_web::test]
async fn a_crowd_that_leaves_at_once_leaves_no_request_behind() {
    let upstream = endless_models().await;
    let folder = folder_with(&upstream, "resume_grace_ms = 1", ["one", "two"]);
    let server = serve(folder.path());
    let battle_judging = size(20, 100);
    let mut sockets = Vec::new();
    for _ in 0..battle_judging {
        sockets.push(begin(&server.url).await);
    }
    upstream.until_active(2 * battle_judging).await;
    let began = Instant::now();
    sockets.into_iter().for_each(RawSocket::reset);
    upstream.until_active(0).await;
    println!("{battle_judging} at once: closed after {:?}", began.elapsed());
}

#[actix_web::test]
async fn a_process_that_ends_leaves_no_request_behind() {
    let upstream = endless_models().await;
    let folder = folder_with(&upstream, "", ["one", "two"]);
    let server = crate::support::program::Server::start_in(
        folder.path(),
        &["--config", "langya.toml"],
        &[("LANGYA__SERVER__DRAIN_SECONDS", "1")],
    );
    let battle_judging = size(10, 50);
    let mut sockets = Vec::new();
    for _ in 0..battle_judging {
        sockets.push(begin(&server.url).await);
    }
    upstream.until_active(2 * battle_judging).await;
    let began = Instant::now();
    server.signal("TERM");
    upstream.until_active(0).await;
    println!("{battle_judging} battles: closed {:?} after SIGTERM, with 1 s to drain", began.elapsed());
    assert_eq!(server.ended().await.code(), Some(0));
}
