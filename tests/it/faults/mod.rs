//! What goes wrong around the real program: its database, its disk, its Redis, its other instances. Each time the log has
//! one line that says what to do, no acknowledged vote is lost, and all goes on by itself once it is mended.

mod disk;
mod instances;
mod pages;
mod postgres;
mod redis;
mod start;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::Server;
use crate::support::until;
use crate::support::upstream::{Gate, Script, Upstream};
use crate::support::visitor::{Visitor, get};

/// An arena of two scripted models.
struct Place {
    _upstream: Upstream,
    gate: Gate,
    folder: TempDir,
}

impl Place {
    /// So many battles are answered at once, the next one waits at the gate, and all others are answered at once.
    async fn with_replies(at_once: usize) -> Self {
        let (upstream, gate) = (Upstream::start().await, Gate::new());
        let quick = Script::openai(["At ", "once."]);
        let held = Script::stream().text("Begun, ").wait(&gate).text("and ended.").event("[DONE]").end();
        for model in ["one", "two"] {
            upstream.scripts(model, std::iter::repeat_n(quick.clone(), at_once).chain([held.clone(), quick.clone()]));
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("langya.toml"), settings(&upstream, &["one", "two"])).unwrap();
        Self { _upstream: upstream, gate, folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn serve(&self, arguments: &[&str]) -> Server {
        Server::start(self.path(), &[&["--config", "langya.toml"], arguments].concat())
    }
}

fn settings(upstream: &Upstream, models: &[&str]) -> String {
    let model =
        |id: &&str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    let models: String = models.iter().map(model).collect();
    format!(
        "[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n[rating]\ndebounce_ms = 50\n\
         [limits]\nturns = []\nvotes = []\nturns_per_address = []\nvotes_per_address = []\n\
         turns_per_arena = []\nvotes_per_arena = []\nconcurrent_battles = 0\n[providers]\npractice = \"never\"\n{models}"
    )
}

/// A visitor whose battle waits for the vote.
async fn ready(server: &Server) -> Visitor {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor
}

/// A visitor both of whose replies have begun and wait at the gate.
async fn begun(server: &Server) -> Visitor {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which, slowly?").await;
    visitor.until_both_begin().await;
    visitor
}

/// The answer has this type, or is an error with this code.
#[track_caller]
fn check(answer: &Value, expected: &str) {
    let key = if answer["type"] == "error" { "code" } else { "type" };
    assert_eq!(answer[key], json!(expected), "{answer}");
}

async fn readyz(server: &Server) -> (u16, String) {
    let answer = get(&format!("{}/readyz", server.url)).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Waits until the leaderboard counts so many votes.
async fn leaderboard_of(server: &Server, votes: u64) {
    let url = format!("{}/api/v1/leaderboard", server.url);
    until(async || {
        let leaderboard: Value = get(&url).await.json().await.unwrap();
        (leaderboard["votes"]["read"] == votes).then_some(())
    })
    .await;
}

/// How many lines of the log hold these words.
fn lines(log: &str, words: &str) -> usize {
    log.lines().filter(|line| line.contains(words)).count()
}

/// The log has one outage of the database, in these words, and of its end, and of nothing else that is wrong.
#[track_caller]
fn check_reported_once(log: &str, words: &str) {
    let wrong: Vec<&str> = log.lines().filter(|line| line.contains("ERROR") || line.contains("WARN")).collect();
    assert_eq!(wrong.len(), 1, "{log}");
    assert!(wrong[0].contains("the database fails") && wrong[0].contains(words), "{log}");
    assert_eq!(lines(log, "the database answers again"), 1, "{log}");
}
