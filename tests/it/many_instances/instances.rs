//! Two real processes on one PostgreSQL and one Redis.

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use langya::domain::time::Timestamp;
use langya::infra::time::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::postgres::TestDatabase;
use crate::support::program::Server;
use crate::support::redis::TestRedis;
use crate::support::visitor::Visitor;

/// Shorter than the half minute after which an instance looks for itself: what comes within it was announced.
const TOLD: Duration = Duration::from_secs(10);

const SETTINGS: &str = "[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n[rating]\ndebounce_ms = 50\n\
     [providers]\ndiscover = false\n";

/// An open leaderboard page.
struct LeaderboardSocket(tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>);

impl LeaderboardSocket {
    async fn open(server: &Server) -> Self {
        let url = format!("{}/ws/leaderboard", server.url.replace("http://", "ws://"));
        Self(tokio_tungstenite::connect_async(url).await.unwrap().0)
    }

    /// Reads on until the page shows so many votes.
    async fn shows(&mut self, votes: u64) {
        let reading = async {
            loop {
                let Some(Ok(Message::Text(text))) = self.0.next().await else { continue };
                let frame: Value = serde_json::from_str(&text).unwrap();
                if frame["votes"] == votes {
                    return;
                }
            }
        };
        let shown = tokio::time::timeout(TOLD, reading).await;
        assert!(shown.is_ok(), "the page does not show {votes} votes");
    }
}

struct Place {
    database: TestDatabase,
    redis: TestRedis,
    folder: tempfile::TempDir,
}

impl Place {
    async fn prepare() -> Option<Self> {
        let (database, redis) = (TestDatabase::create().await?, TestRedis::start()?);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("langya.toml"), SETTINGS).unwrap();
        Some(Self { database, redis, folder })
    }

    fn serve(&self) -> Server {
        self.serve_in(&[])
    }

    fn serve_in(&self, environment: &[(&str, &str)]) -> Server {
        let (database, redis) = (self.database.url.as_str(), self.redis.settings().url.expose().to_owned());
        let folder: &Path = self.folder.path();
        let arguments = ["--config", "langya.toml", "--database", database, "--redis", &redis];
        Server::start_in(folder, &arguments, environment)
    }

    /// An instance whose machine shows another time of day, so much beside the true one as `shown` holds.
    fn serve_beside_the_time(&self, shown: &Path) -> Server {
        self.serve_in(&[
            // Debian's package faketime; the loader knows the folder of the system's libraries.
            ("LD_PRELOAD", "/usr/$LIB/faketime/libfaketime.so.1"),
            ("FAKETIME_TIMESTAMP_FILE", shown.to_str().unwrap()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ])
    }
}

async fn vote(server: &Server) {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("What is 2 + 2?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
}

#[actix_web::test]
async fn a_vote_on_any_instance_moves_the_pages_of_all() {
    let Some(place) = Place::prepare().await else { return };
    let servers = [place.serve(), place.serve()];
    let mut boards = [LeaderboardSocket::open(&servers[0]).await, LeaderboardSocket::open(&servers[1]).await];
    for (votes, server) in [(1, &servers[0]), (2, &servers[1]), (3, &servers[1]), (4, &servers[0])] {
        vote(server).await;
        for leaderboard in &mut boards {
            leaderboard.shows(votes).await;
        }
    }
    drop(servers);
    place.database.drop().await;
}

#[actix_web::test]
async fn the_instance_that_is_left_takes_the_lead() {
    let Some(place) = Place::prepare().await else { return };
    let first = place.serve();
    first.logged("now the leader").await;
    let second = place.serve();
    let mut leaderboard = LeaderboardSocket::open(&second).await;
    vote(&second).await;
    leaderboard.shows(1).await;
    first.kill();
    vote(&second).await;
    leaderboard.shows(2).await;
    second.logged("now the leader").await;
    drop(second);
    place.database.drop().await;
}

#[actix_web::test]
async fn a_battle_goes_on_at_another_process_when_its_own_is_killed() {
    let Some(place) = Place::prepare().await else { return };
    let (first, second) = (place.serve(), place.serve());
    let mut visitor = Visitor::connect(&first.url).await;
    visitor.ask("Tell me about the Great Wall, at length.").await;
    visitor.next_of(&["delta"]).await;
    let (battle, seen, cookie) = (visitor.battle(), visitor.last_seq(), visitor.cookie().to_owned());
    first.kill();
    let mut back = Visitor::connect_with(&second.url, Some(("cookie", cookie))).await.unwrap();
    back.send(json!({"type": "resume", "battle": battle, "after": seen})).await;
    let [a, b] = back.until_ready().await;
    assert!(!a.is_empty() && !b.is_empty());
    assert_eq!(back.vote("b").await["type"], "revealed");
    drop(second);
    place.database.drop().await;
}

#[actix_web::test]
async fn a_battle_of_an_instance_whose_clock_is_hours_behind_waits_for_its_vote() {
    let Some(place) = Place::prepare().await else { return };
    let shown = place.folder.path().join("shown");
    std::fs::write(&shown, "-3h").unwrap();
    let server = place.serve_beside_the_time(&shown);
    server.logged("this machine's clock differs from the database's").await;
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("What is 2 + 2?").await;
    visitor.until_ready().await;
    let store = place.database.open().await;
    let an_hour_ago = Timestamp(SystemClock.now().0 - 3_600_000);
    let left = store.abandon_battles(an_hour_ago, Timestamp(i64::MAX)).await.unwrap();
    assert_eq!(left, 0, "an instance whose clock is right takes it for left");
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
    std::fs::write(&shown, "+0").unwrap();
    server.logged("this machine's clock agrees with the database's again").await;
    store.close().await;
    drop(server);
    place.database.drop().await;
}
