//! The log as a machine reads it, and what must never be in it.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::program::{Server, program};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, get};

/// Every one of these is in what a visitor or a model says, or is a secret.
const PROMPT: &str = "canary-of-the-prompt";
const REPLY: &str = "canary-of-the-reply";
const KEY: &str = "sk-canary-of-the-key";

/// Two sound models, and one whose every request fails; all of them have a key.
fn settings(upstream: &Upstream, format: &str) -> String {
    let models = ["sound", "other", "broken"].map(|id| {
        format!(
            "[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\napi_key_env = \"KEY\"\n",
            upstream.url()
        )
    });
    format!("[log]\nformat = \"{format}\"\n[providers]\nretries = 1\nbreaker_failures = 1\n{}", models.concat())
}

/// Battles until the broken model was drawn and rests, a turn more, a vote; the whole log, and the visitor's cookie.
async fn log_of_battles(format: &str) -> (String, String) {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    std::fs::write(folder.path().join("langya.toml"), settings(&upstream, format)).unwrap();
    upstream.script("sound", Script::openai([REPLY, " one"]));
    upstream.script("other", Script::openai([REPLY, " two"]));
    upstream.script("broken", Script::mode("err500"));
    let environment = [("KEY", KEY), ("RUST_LOG", "warn,actix_http=off,langya=trace")];
    let server = Server::start_in(folder.path(), &["--config", "langya.toml"], &environment);
    let mut visitor = Visitor::connect(&server.url).await;
    while !upstream.received().iter().any(|request| request.body["model"] == "broken") {
        visitor.ask(PROMPT).await;
        visitor.until_ready().await;
    }
    visitor.send(json!({"type": "message", "prompt": PROMPT})).await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    // A message that cannot be read, and an address that leads nowhere.
    visitor.send(json!({"type": PROMPT})).await;
    visitor.next_of(&["error"]).await;
    get(&format!("{}/{PROMPT}?{PROMPT}", server.url)).await;
    let cookie = visitor.cookie().split_once('=').unwrap().1.to_owned();
    visitor.drop_connection();
    // The link for the first owner is printed past the log.
    let printed = server.log_at_end().await;
    let log = printed.lines().filter(|line| !line.starts_with("no owner yet: ")).map(|line| format!("{line}\n"));
    (log.collect(), cookie)
}

#[actix_web::test]
async fn the_log_of_a_battle_holds_no_content_no_secret_and_no_address() {
    for format in ["json", "text"] {
        let (log, cookie) = log_of_battles(format).await;
        assert!(log.contains("a side failed"), "the failure was logged:\n{log}");
        for canary in [PROMPT, REPLY, KEY, &cookie, "127.0.0.1"] {
            assert!(!log.contains(canary), "{canary} is in the log:\n{log}");
        }
    }
}

#[actix_web::test]
async fn every_line_of_a_json_log_is_an_object_with_its_time_and_its_request() {
    let (log, _) = log_of_battles("json").await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(lines.iter().all(|line| line["timestamp"].is_string() && line["level"].is_string()), "{log}");
    let failed = lines.iter().find(|line| line["message"] == "a side failed").unwrap_or_else(|| panic!("{log}"));
    assert_eq!(failed["model"], "broken", "{failed}");
    assert!(failed["battle.id"].is_string(), "{failed}");
    let spans: Vec<&str> =
        failed["spans"].as_array().unwrap().iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(spans, ["request", "socket"], "{failed}");
    assert_eq!(failed["spans"][0]["request.id"].as_str().unwrap().len(), 32, "{failed}");
    assert_eq!(failed["spans"][1]["socket.kind"], "battle", "{failed}");
}

#[actix_web::test]
async fn every_answer_has_a_number_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut seen = HashSet::new();
    for path in ["/", "/nothing-here", "/healthz", "/static/none.css", "/readyz"] {
        let answer = get(&format!("{}{path}", server.url)).await;
        let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert!(id.len() == 32 && seen.insert(id), "{path}");
    }
    let visitor = Visitor::connect(&server.url).await;
    assert!(visitor.headers.iter().any(|header| header.starts_with("x-request-id: ")), "{:?}", visitor.headers);
}

#[actix_web::test]
async fn an_arena_whose_log_cannot_be_written_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut arena = Command::new(program());
    arena.env_clear().env("LANGYA__PROVIDERS__DISCOVER", "false").current_dir(folder.path());
    let mut arena =
        arena.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(full).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(arena.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let healthy = match said.trim().strip_prefix("listening on ") {
        Some(url) => get(&format!("{url}/healthz")).await.status().is_success(),
        None => false,
    };
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(healthy, "{said:?}");
}
