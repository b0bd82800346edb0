//! SIGTERM: what was begun comes to its end, nothing new begins, and the process ends with code 0.

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use langya::domain::battle::progress::Stage;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use serde_json::json;
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::program::Server;
use crate::support::upstream::{Gate, Script, Upstream};
use crate::support::visitor::Visitor;

/// A folder whose settings name two models at the upstream.
fn folder_with(upstream: &Upstream, server: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model =
        |id: &str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    let settings =
        format!("[server]\nworkers = 2\n{server}\n[battle]\npacing = \"raw\"\n[providers]\npractice = \"never\"\n");
    std::fs::write(folder.path().join("langya.toml"), format!("{settings}{}{}", model("one"), model("two"))).unwrap();
    folder
}

fn serve(folder: &Path) -> Server {
    Server::start(folder, &["--config", "langya.toml"])
}

/// A reply that begins and goes on when the gate opens.
fn gated(gate: &Gate) -> Script {
    Script::stream().text("Begun, ").wait(gate).text("and ended.").event("[DONE]").end()
}

async fn upstream_saying(scripts: &[Script]) -> Upstream {
    let upstream = Upstream::start().await;
    for model in ["one", "two"] {
        upstream.scripts(model, scripts.iter().cloned());
    }
    upstream
}

/// Starts a battle and waits until both sides have begun.
async fn begin(visitor: &mut Visitor) {
    visitor.ask("Which?").await;
    visitor.next_of(&["battle"]).await;
    visitor.until_both_begin().await;
}

#[actix_web::test]
async fn a_drain_finishes_battles_takes_votes_refuses_what_is_new_and_the_next_process_goes_on() {
    let gate = Gate::new();
    let upstream = upstream_saying(&[Script::openai(["At ", "once."]), gated(&gate)]).await;
    let folder = folder_with(&upstream, "");
    let server = serve(folder.path());
    let mut idle = Visitor::connect(&server.url).await;
    let mut busy = Visitor::connect(&server.url).await;
    busy.ask("First?").await;
    busy.until_ready().await;
    let first = busy.battle();
    begin(&mut busy).await;
    server.signal("TERM");

    assert_eq!(idle.try_next().await.unwrap_err(), Some(CloseCode::Restart));
    let late = tokio::time::timeout(Duration::from_secs(5), Visitor::connect_with(&server.url, None)).await;
    assert!(matches!(late, Ok(Err(_))), "new connections are refused, not left waiting");
    server.logged("battles.under_way=1").await;
    busy.send(json!({"type": "start", "prompt": "Another?"})).await;
    assert_eq!(busy.next_of(&["error"]).await["code"], "draining");
    busy.send(json!({"type": "vote", "battle": first, "outcome": "a"})).await;
    assert_eq!(busy.next_of(&["revealed", "error"]).await["type"], "revealed");
    gate.open();
    assert_eq!(busy.until_ready().await, ["Begun, and ended.", "Begun, and ended."]);
    assert_eq!(busy.try_next().await.unwrap_err(), Some(CloseCode::Restart));
    server.logged("drained").await;
    assert_eq!(server.ended().await.code(), Some(0));

    let next = serve(folder.path());
    let mut back = Visitor::connect_with(&next.url, Some(("cookie", busy.cookie().to_owned()))).await.unwrap();
    back.send(json!({"type": "resume", "battle": busy.battle(), "after": busy.last_seq()})).await;
    back.until_ready().await;
    assert_eq!(back.vote("b").await["type"], "revealed");
    back.send(json!({"type": "resume", "battle": first})).await;
    assert_eq!(back.next_of(&["revealed"]).await["outcome"], "a", "the vote of the drain was kept");
}

#[actix_web::test]
async fn a_battle_that_does_not_end_is_cut_and_kept_as_ready() {
    let upstream = upstream_saying(&[Script::stream().text("Begun.").hang()]).await;
    let folder = folder_with(&upstream, "drain_seconds = 1");
    let server = serve(folder.path());
    let mut visitor = Visitor::connect(&server.url).await;
    begin(&mut visitor).await;
    server.signal("INT");
    server.logged("drain timeout").await;
    assert_eq!(server.ended().await.code(), Some(0));
    upstream.until_active(0).await;

    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    let row = store.battle(&visitor.battle()).await.unwrap().unwrap();
    assert_eq!(row.progress.stage, Stage::Ready);
    let kept: Vec<_> = store.replies(&row.id).await.unwrap().into_iter().map(|kept| kept.reply.text).collect();
    assert_eq!(kept, ["Begun.", "Begun."]);
    store.close().await;
}

#[actix_web::test]
async fn a_second_signal_ends_the_process_at_once() {
    let upstream = upstream_saying(&[Script::stream().text("Begun.").hang()]).await;
    let folder = folder_with(&upstream, "drain_seconds = 25");
    let server = serve(folder.path());
    begin(&mut Visitor::connect(&server.url).await).await;
    let mut visitor = Visitor::connect(&server.url).await;
    begin(&mut visitor).await;
    server.signal("TERM");
    server.logged("draining").await;
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(128 + 15));
}

#[actix_web::test]
async fn a_leaderboard_page_is_asked_to_come_back() {
    let upstream = upstream_saying(&[Script::openai(["Never asked."])]).await;
    let folder = folder_with(&upstream, "");
    let server = serve(folder.path());
    let url = format!("{}/ws/leaderboard", server.url.replace("http://", "ws://"));
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    server.signal("TERM");
    let code = loop {
        match socket.next().await {
            Some(Ok(Message::Close(frame))) => break frame.map(|frame| frame.code),
            Some(Ok(_)) => {}
            ended => panic!("no goodbye: {ended:?}"),
        }
    };
    assert_eq!(code, Some(CloseCode::Restart));
    server.logged("drained").await;
    assert_eq!(server.ended().await.code(), Some(0));
}
