//! An edited settings file is taken up while the arena runs, and battles under way are not disturbed.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;

use crate::support::program::Server;
use crate::support::upstream::{Gate, Script, Upstream};
use crate::support::visitor::{Visitor, get};

/// The longest wait; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(30);

struct SettingsFixture {
    folder: TempDir,
    upstream: Upstream,
}

impl SettingsFixture {
    async fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), upstream: Upstream::start().await }
    }

    /// Writes the settings: these lines, and models at the upstream.
    fn write(&self, settings: &str, models: &[&str]) {
        let entry = |id: &&str| {
            format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", self.upstream.url())
        };
        let models: String = models.iter().map(entry).collect();
        let text = format!("{settings}\n[providers]\npractice = \"never\"\n{models}");
        // Under another name first, as editors do: nobody reads half a file.
        std::fs::write(self.folder.path().join("edited"), text).unwrap();
        std::fs::rename(self.folder.path().join("edited"), self.folder.path().join("langya.toml")).unwrap();
    }

    fn serve(&self) -> Server {
        Server::start(self.folder.path(), &[])
    }
}

fn ids(receipt: &Value) -> Vec<&str> {
    let mut ids = vec![receipt["a"]["id"].as_str().unwrap(), receipt["b"]["id"].as_str().unwrap()];
    ids.sort_unstable();
    ids
}

#[actix_web::test]
async fn new_models_take_part_at_once_and_those_that_left_finish_their_battles() {
    let (bench, gate) = (SettingsFixture::new().await, Gate::new());
    for model in ["one", "two"] {
        let gated = Script::stream().text("Begun, ").wait(&gate).text("and ended.").event("[DONE]").end();
        bench.upstream.scripts(model, [gated, Script::openai(["Again."])]);
        bench.upstream.script(&format!("new-{model}"), Script::openai(["New."]));
    }
    bench.write("[battle]\npacing = \"raw\"", &["one", "two"]);
    let server = bench.serve();
    let mut early = Visitor::connect(&server.url).await;
    early.ask("Which?").await;
    bench.upstream.until_active(2).await;
    bench.write("[battle]\npacing = \"raw\"\nmax_prompt_bytes = 20", &["new-one", "new-two"]);
    server.logged("the edited settings are in force").await;

    let mut late = Visitor::connect(&server.url).await;
    late.ask("A prompt of more than twenty bytes").await;
    assert_eq!(late.next_of(&["error", "battle"]).await["code"], "prompt_too_long");
    late.ask("Which?").await;
    late.until_ready().await;
    assert_eq!(ids(&late.vote("a").await), ["new-one", "new-two"]);

    gate.open();
    assert_eq!(early.until_ready().await, ["Begun, and ended.", "Begun, and ended."]);
    early.send(json!({"type": "message", "prompt": "And now?"})).await;
    assert_eq!(early.until_ready().await, ["Again.", "Again."]);
    assert_eq!(ids(&early.vote("b").await), ["one", "two"]);
}

#[actix_web::test]
async fn what_cannot_be_used_is_reported_in_one_line_and_what_needs_a_restart_is_named() {
    let bench = SettingsFixture::new().await;
    for model in ["one", "two"] {
        bench.upstream.script(model, Script::openai(["Said."]));
    }
    bench.write("[battle]\nmax_turns = 1", &["one", "two"]);
    let server = bench.serve();
    bench.write("[battle]\nmax_turns = \"many\"", &["one", "two"]);
    server.signal("HUP");
    let log = server.logged("the previous settings stay in force").await;
    let told: Vec<_> = log.lines().filter(|line| line.contains("previous settings stay")).collect();
    assert!(told.iter().all(|line| line.contains("max_turns") && line.contains("line 2")), "{log}");
    bench.write("[battle]\nmax_turns = 1", &["one"]);
    server.logged("a battle needs two models and 1 can take part").await;

    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "More?"})).await;
    assert_eq!(visitor.next_of(&["error", "battle"]).await["code"], "too_many_turns");

    bench.write("[server]\nworkers = 7\n[battle]\nmax_turns = 2\n[storage]\ndata_dir = \"x\"", &["one", "two"]);
    let log = server.logged("the edited settings are in force").await;
    // The data folder is a flag of this process, which the file cannot change.
    let named = log.lines().find(|line| line.contains("at the next start")).unwrap();
    assert!(named.contains("server.workers") && !named.contains("storage"), "{named}");
    visitor.send(json!({"type": "message", "prompt": "More?"})).await;
    visitor.until_ready().await;
}

#[actix_web::test]
async fn a_settings_file_that_was_emptied_leaves_the_previous_settings_in_force() {
    let bench = SettingsFixture::new().await;
    for model in ["one", "two"] {
        bench.upstream.script(model, Script::openai(["Said."]));
    }
    bench.write("", &["one", "two"]);
    let server = bench.serve();
    // The file is read before it is emptied.
    bench.write("[battle]\nmax_turns = 1", &["one", "two"]);
    server.logged("the edited settings are in force").await;
    // As an editor leaves it on a full disk.
    std::fs::write(bench.folder.path().join("langya.toml"), "\n").unwrap();
    let said = "the settings file is missing, unreadable or empty: the previous settings stay in force";
    server.logged(said).await;
    // Another look makes no settings of it either.
    server.signal("HUP");
    server.logged_times(said, 2).await;
    // As an editor leaves it that writes UTF-16: the log says what to do.
    std::fs::write(bench.folder.path().join("langya.toml"), b"\xff\xfe[\0").unwrap();
    server.logged("it is UTF-16: convert it").await;
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Who?").await;
    visitor.until_ready().await;
    assert_eq!(ids(&visitor.vote("a").await), ["one", "two"]);
}

#[actix_web::test]
async fn an_edit_that_is_undone_is_logged_and_what_the_next_start_would_refuse_too() {
    let bench = SettingsFixture::new().await;
    bench.write("", &["one", "two"]);
    let server = bench.serve();
    bench.write("[battle]\nmax_turns = 1", &["one", "two"]);
    server.logged("the edited settings are in force").await;
    bench.write("[battle]\nmax_turns = \"many\"", &["one", "two"]);
    server.logged("the previous settings stay in force").await;
    bench.write("[battle]\nmax_turns = 1", &["one", "two"]);
    server.logged("the settings file can be used again").await;
    let hook = "[[webhooks]]\nid = \"ours\"\nurl = \"http://127.0.0.1:9/\"\nsecret_env = \"NO_SUCH_SECRET\"";
    bench.write(hook, &["one", "two"]);
    let log = server.logged("the next start will reject the edited settings").await;
    let told = log.lines().find(|line| line.contains("the next start will reject")).unwrap();
    assert!(told.contains("webhooks.secret_env"), "{told}");
}

#[actix_web::test]
async fn an_edited_rating_rule_changes_the_leaderboard_without_a_vote() {
    let bench = SettingsFixture::new().await;
    for model in ["one", "two"] {
        bench.upstream.script(model, Script::openai(["Said."]));
    }
    bench.write("[rating]\ndebounce_ms = 10", &["one", "two"]);
    let server = bench.serve();
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor.vote("tie").await;
    let url = format!("{}/ws/leaderboard", server.url.replace("http://", "ws://"));
    let (mut live, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    until_provisional(true, &server.url, &mut live).await;
    bench.write("[rating]\ndebounce_ms = 10\nmin_votes = 1", &["one", "two"]);
    until_provisional(false, &server.url, &mut live).await;
}

/// Looks at the leaderboard whenever a new one is announced.
async fn until_provisional<S>(wanted: bool, url: &str, live: &mut WebSocketStream<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let is_wanted = async {
        loop {
            let answer = get(&format!("{url}/api/v1/leaderboard")).await.text().await.unwrap();
            let leaderboard: Value = serde_json::from_str(&answer).unwrap();
            if leaderboard["models"][0]["provisional"] == wanted {
                return;
            }
            live.next().await.unwrap().unwrap();
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, is_wanted).await.is_ok(), "provisional never became {wanted}");
}
