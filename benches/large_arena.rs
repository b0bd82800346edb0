//! A running arena with a large log: how long a vote takes to reach the published leaderboard, and what exports need.
//!
//! ```sh
//! cargo bench --bench large_arena -- [VOTES]
//! ```
//!
//! Everything is measured from outside: the arena is the program itself, the vote is cast over a websocket after a battle of practice
//! models, and the leaderboard is requested over HTTP. Linux only: memory is read from `/proc`.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::{SinkExt, StreamExt};
use langya::infra::config::StorageSettings;
use serde_json::{Value, json};
use sqlx::Connection;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const PROGRAM: &str = env!("CARGO_BIN_EXE_langya");
/// Number of votes cast one after the other in each arena.
const CAST: u64 = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Cargo adds a flag.
    let votes = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let votes: u32 = votes.map_or(Ok(2_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    support::fill(&settings, votes.into()).await?.close().await?;

    let mut rated = u64::from(votes);
    for name in ["the first start, nothing counted", "a restart"] {
        let started = Instant::now();
        let arena = Arena::start(folder.path())?;
        arena.until_rated(rated).await?;
        eprintln!("{name}: every one of {rated} votes on the leaderboard {:.3?} after the start", started.elapsed());
        for _ in 0..CAST {
            rated += 1;
            let cast = vote(&arena.url).await?;
            let acknowledged = cast.elapsed();
            arena.until_rated(rated).await?;
            eprintln!("  a vote: acknowledged in {acknowledged:.3?}, on the leaderboard in {:.3?}", cast.elapsed());
        }
        eprintln!("  memory of the arena, peak: {} MB", arena.end()?);
    }
    for format in ["jsonl", "csv", "parquet"] {
        let (out, started) = (folder.path().join("votes.out"), Instant::now());
        let mut export = langya(folder.path(), &["export", "votes", "--format", format]);
        let peak = peak_until_end(export.arg("--out").arg(&out).spawn()?)?;
        let size = std::fs::metadata(&out)?.len() / 1_000_000;
        eprintln!("export of {rated} votes as {format}: {:.1?}, {size} MB, memory {peak} MB", started.elapsed());
        std::fs::remove_file(&out)?;
    }
    Ok(())
}

fn langya(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.env("LANGYA__PROVIDERS__DISCOVER", "false").args(arguments).arg("--data-dir").arg(data);
    command
}

/// `langya serve` with practice models.
struct Arena {
    process: Child,
    url: String,
}

impl Arena {
    fn start(data: &Path) -> anyhow::Result<Self> {
        let mut command = langya(data, &["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("its output is a pipe")?).read_line(&mut line)?;
        let url = line.trim().strip_prefix("listening on ").context("the arena did not start")?;
        Ok(Self { process, url: url.to_owned() })
    }

    /// Polls the leaderboard until it has this number of votes.
    async fn until_rated(&self, votes: u64) -> anyhow::Result<()> {
        loop {
            let leaderboard: Value =
                serde_json::from_str(&reqwest::get(format!("{}/api/v1/leaderboard", self.url)).await?.text().await?)?;
            if leaderboard["votes"]["rated"].as_u64() >= Some(votes) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Stops the process as an operator does, so that it saves its counts.
    fn end(self) -> anyhow::Result<u64> {
        Command::new("kill").arg(self.process.id().to_string()).status()?;
        peak_until_end(self.process)
    }
}

/// Plays a battle and votes over a websocket. Returns the time when the vote was sent, as soon as it is acknowledged.
async fn vote(url: &str) -> anyhow::Result<Instant> {
    let address = format!("{}/ws/battle", url.replace("http://", "ws://"));
    let (mut socket, _) = tokio_tungstenite::connect_async(address).await?;
    socket.send(Message::text(json!({"type": "start", "prompt": "What is 12 times 12?"}).to_string())).await?;
    until(&mut socket, "ready").await?;
    let cast = Instant::now();
    socket.send(Message::text(json!({"type": "vote", "outcome": "a"}).to_string())).await?;
    until(&mut socket, "revealed").await?;
    Ok(cast)
}

async fn until(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>, kind: &str) -> anyhow::Result<()> {
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { continue };
        let frame: Value = serde_json::from_str(&text)?;
        anyhow::ensure!(frame["type"] != "error", "{text}");
        if frame["type"] == kind {
            return Ok(());
        }
    }
    anyhow::bail!("the socket was closed before {kind:?}")
}

/// Returns the peak memory of a process until its end, in MB.
fn peak_until_end(mut process: Child) -> anyhow::Result<u64> {
    let (status, mut peak) = (format!("/proc/{}/status", process.id()), 0);
    loop {
        let text = std::fs::read_to_string(&status)?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(peak);
        if let Some(code) = process.try_wait()? {
            anyhow::ensure!(code.success(), "the process ended with {code}");
            return Ok(peak / 1_000);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
