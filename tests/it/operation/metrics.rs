//! `/metrics`: what it counts, who may read it, and whether Prometheus's own tool is content with it.

use std::io::Write;
use std::process::{Command, Stdio};

use actix_web::http::StatusCode;
use langya::infra::metrics;

use crate::log::public_log::folder_of_a_log_that_is_behind;
use crate::support::arena::TestArena;
use crate::support::program::{Server, langya_beside};
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, get, http};

/// The value of a sample; a sample that is not there is a failure.
#[track_caller]
fn value(text: &str, sample: &str) -> f64 {
    let found = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("{sample} is missing in:\n{text}")).parse().unwrap()
}

/// Two models of a scripted server; `broken` breaks off after its first words.
fn settings(upstream: &Upstream) -> String {
    let models = ["steady", "other"]
        .map(|id| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url()));
    format!("[rating]\ndebounce_ms = 10\n[providers]\nretries = 0\n{}", models.concat())
}

/// A battle with a vote, a battle that is voided, and the leaderboard that holds the vote.
async fn scrape_of_two_battles() -> String {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    std::fs::write(folder.path().join("langya.toml"), settings(&upstream)).unwrap();
    let server = Server::start(folder.path(), &["--config", "langya.toml"]);
    let mut visitor = Visitor::connect(&server.url).await;
    upstream.script("steady", Script::openai(["one ", "two"]));
    upstream.script("other", Script::openai(["three ", "four"]));
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor.vote("tie").await;
    upstream.script("other", Script::stream().text("five ").reset());
    visitor.ask("And now?").await;
    loop {
        if visitor.next_of(&["error"]).await["code"] == "voided" {
            break;
        }
    }
    // The other side goes on to its end, and the leaderboard follows the vote: both are awaited, not timed.
    until(async || {
        let text = get(&format!("{}/metrics", server.url)).await.text().await.unwrap();
        let through = ["langya_battles_voided_total 1", "langya_leaderboard_votes 1"];
        through.iter().all(|line| text.lines().any(|said| said == *line)).then_some(text)
    })
    .await
}

#[actix_web::test]
async fn a_vote_and_a_voided_battle_are_counted_once_each() {
    let text = scrape_of_two_battles().await;
    for (sample, expected) in [
        ("langya_battles_started_total", 2.0),
        ("langya_turns_ready_total", 1.0),
        ("langya_battles_voided_total", 1.0),
        ("langya_battles_abandoned_total", 0.0),
        ("langya_battles_live", 1.0),
        ("langya_votes_total{outcome=\"tie\",rated=\"true\"}", 1.0),
        ("langya_votes_total{outcome=\"a\",rated=\"true\"}", 0.0),
        ("langya_leaderboard_votes", 1.0),
        ("langya_refit_lag_seconds_count", 1.0),
        ("langya_model_errors_total{model=\"other\",kind=\"connection\"}", 1.0),
        ("langya_model_breaker_state{model=\"other\",state=\"closed\"}", 1.0),
        ("langya_store_seconds_count{operation=\"insert_vote\"}", 1.0),
        ("langya_store_seconds_count{operation=\"finish_turn\"}", 2.0),
        ("langya_queue_depth{queue=\"votes\"}", 0.0),
        ("langya_sockets_open{kind=\"battle\"}", 1.0),
        ("langya_http_requests_total{route=\"/ws/battle\",status=\"101\"}", 1.0),
        ("langya_models_drawable", 2.0),
        ("langya_ready", 1.0),
        ("langya_draining", 0.0),
    ] {
        assert!((value(&text, sample) - expected).abs() < 1e-9, "{sample} is not {expected}:\n{text}");
    }
    for name in ["langya_model_first_token_seconds_count", "langya_model_reply_chars_per_second_count"] {
        let shown = text.lines().filter(|line| line.starts_with(name) && !line.ends_with(" 0")).count();
        assert_eq!(shown, 0, "{name} tells who was in these two battles");
    }
    assert!(value(&text, "process_resident_memory_bytes") > 1e6, "{text}");
}

#[actix_web::test]
async fn every_metric_is_in_the_table_and_promtool_is_content() {
    let text = scrape_of_two_battles().await;
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        let known = name.starts_with("process_") || metrics::ALL.iter().any(|metric| metric.name == name);
        assert!(known, "{name} is in no table");
        assert!(text.contains(&format!("# HELP {name} ")), "{name} says nothing of itself");
    }
    if std::env::var("LANGYA_TESTS").as_deref() != Ok("all") {
        println!("skipped: promtool check metrics (set LANGYA_TESTS=all)");
        return;
    }
    let mut promtool = Command::new("promtool");
    let promtool =
        promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().expect("promtool is installed (Debian package prometheus)");
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[actix_web::test]
async fn the_time_of_the_last_backup_is_shown_once_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let text = async || get(&format!("{}/metrics", server.url)).await.text().await.unwrap();
    assert!(!text().await.contains("\nlangya_backup_timestamp_seconds "), "there is none yet");
    let copied = langya_beside(folder.path(), &["backup", "--out", "copy"]).await;
    assert_eq!(copied.code, Some(0), "{copied:?}");
    assert!(value(&text().await, "langya_backup_timestamp_seconds") > 1.7e9);
}

#[actix_web::test]
async fn the_age_of_the_oldest_vote_that_the_public_log_lacks_is_shown_until_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let obstacle = folder_of_a_log_that_is_behind(&folder.path().join("data")).await;
    let server = Server::start(folder.path(), &[]);
    let lag = async || {
        let text = get(&format!("{}/metrics", server.url)).await.text().await.unwrap();
        value(&text, "langya_public_log_lag_seconds")
    };
    until(async || (lag().await >= 120.0).then_some(())).await;
    std::fs::remove_dir(obstacle).unwrap();
    until(async || (lag().await < 1.0).then_some(())).await;
}

#[actix_web::test]
async fn a_visitor_finds_no_metrics() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let url = format!("{}/metrics", arena.url);
    let (status, body) = answer(&url, None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(body.contains("langya_battles_started_total"));
    let unknown = answer(&format!("{}/nothing-here", arena.url), None).await;
    for name in ["x-forwarded-for", "forwarded", "x-real-ip", "via"] {
        assert_eq!(answer(&url, Some(name)).await, unknown, "{name}");
    }
    let mut settings = (*arena.app.settings.now()).clone();
    settings.server.metrics_allow = vec!["192.0.2.0/24".parse().unwrap()];
    arena.app.settings.replace(settings);
    assert_eq!(answer(&url, None).await, unknown, "from a network that is not allowed");
    arena.end().await;
}

async fn answer(url: &str, header: Option<&str>) -> (StatusCode, String) {
    let mut request = http().get(url);
    if let Some(name) = header {
        request = request.header(name, "203.0.113.9");
    }
    let response = request.send().await.unwrap();
    (StatusCode::from_u16(response.status().as_u16()).unwrap(), response.text().await.unwrap())
}
