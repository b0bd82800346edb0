//! Names, ids, keys, headers and numbers of models and their providers, planted in every field: none of them, in no
//! spelling, is on a battle's wire, on a page or in an export before the vote, and no number that names models moves by one
//! battle.

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::program::{Server, langya_beside};
use crate::support::routes::addresses;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;
use crate::support::{size, until};

const AT_ONCE: usize = 20;
const REPLY: &str = "The same words whoever writes them. ";
/// Addresses that name models: before and after a battle alike. No other address of the route table may name any.
const STEADY: [&str; 17] = [
    "/about",
    "/correlation",
    "/leaderboard",
    "/leaderboard.atom",
    "/leaderboard.svg",
    "/api/v1/leaderboard.csv",
    "/leaderboard/charts",
    "/leaderboard/value",
    "/models",
    "/exclusions",
    "/api/v1/leaderboard",
    "/api/v1/leaderboard/robustness",
    "/api/v1/leaderboard/rigging",
    "/api/v1/leaderboard/value",
    "/api/v1/pairing",
    "/api/v1/models",
    "/api/v1/exclusions",
];
/// Addresses of the public log, which names models of votes: no battle moves it before its vote.
const LOG: [&str; 3] = ["/log", "/log/checkpoint", "/api/v1/log"];
/// Of its metrics, those of single models are compared.
const METRICS: &str = "/metrics";
/// The metrics of single models. The first two wait for a crowd; the others count failures, of models that are in no battle with a vote.
const OF_MODELS: [&str; 4] = [
    "langya_model_first_token_seconds",
    "langya_model_reply_chars_per_second",
    "langya_model_errors_total",
    "langya_model_breaker_state",
];
/// Commands whose output names models, and of which an operator may publish it.
const COMMANDS: [&[&str]; 5] = [
    &["export", "votes", "--text", "--out", "-"],
    &["export", "leaderboard", "--out", "-"],
    &["votes", "list", "--limit", "0", "--format", "json"],
    &["votes", "prompts", "--min-votes", "1", "--format", "json"],
    &["models", "register", "--format", "json"],
];
/// Those that have a row for a battle.
const ROWS: [&[&str]; 3] =
    [COMMANDS[0], &["export", "battles", "--text", "--out", "-"], &["export", "replies", "--out", "-"]];
/// What a visitor does before the vote, by the number of the battle.
const WAYS: [&str; 6] = ["reads", "stops", "regenerates", "asks a second question", "resumes", "reads again"];

/// The addresses that name no model, also in another language, and one that is none.
fn nameless() -> Vec<String> {
    let mut all = addresses();
    assert!(STEADY.iter().all(|steady| all.iter().any(|path| path == steady)), "an address is gone: {all:?}");
    all.retain(|path| !STEADY.contains(&path.as_str()) && path != METRICS);
    all.extend(["/?lang=zh", "/nothing-here"].map(str::to_owned));
    all
}

fn openai(error: Option<&str>) -> Script {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-quetzal", "object": "chat.completion.chunk", "created": 77_201_337, "model": "quetzal-4o",
            "system_fingerprint": "fp_quetzal", "service_tier": "quetzal", "provider": "quetzal",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null}],
            "usage": {"prompt_tokens": 77_201_337, "completion_tokens": 77_201_337, "total_tokens": 77_201_337}})
        .to_string()
    };
    let begun = Script::stream().event(&chunk(json!({"role": "quetzal", "content": ""}), Value::Null));
    let said = begun.event(&chunk(json!({"content": REPLY.repeat(3), "refusal": null}), Value::Null));
    match error {
        Some(error) => said.event(&json!({"error": {"message": error, "code": "quetzal"}}).to_string()).end(),
        None => said.event(&chunk(json!({}), json!("quetzal_filter"))).event("[DONE]").end(),
    }
}

fn anthropic() -> Script {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let usage = json!({"input_tokens": 77_201_337, "output_tokens": 77_201_337});
    let message =
        json!({"id": "msg_quetzal", "role": "assistant", "model": "quetzal-opus", "content": [], "usage": usage});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": REPLY.repeat(3)}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "quetzal", "stop_sequence": "quetzal"}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    events.into_iter().fold(Script::stream(), |script, data| script.chunk(event(data))).end()
}

fn ollama() -> Script {
    let line = |content: &str, done: bool| {
        let message = json!({"role": "quetzal", "content": content});
        let line = json!({"model": "quetzal:7b", "created_at": "quetzal", "message": message, "done": done,
            "done_reason": "quetzal", "total_duration": 77_201_337, "eval_count": 77_201_337});
        format!("{line}\n")
    };
    Script::stream_of("application/x-ndjson").chunk(line(&REPLY.repeat(3), false)).chunk(line("", true)).end()
}

fn refusal() -> Script {
    let body =
        json!({"error": {"message": "Incorrect API key provided: sk-quetzal", "type": "quetzal", "param": "quetzal"}});
    let headers = "content-type: application/json\r\nx-quetzal: quetzal\r\nset-cookie: quetzal=quetzal\r\n";
    Script::whole("401 Unauthorized", headers, &body.to_string())
}

/// Each protocol twice, with a model that fails before its first token and one that breaks off.
fn upstream_models(upstream: &Upstream) -> String {
    let model = |(number, (provider, script)): (usize, (&str, Script))| {
        let id = format!("quetzal-{number}");
        upstream.script(&id, script);
        let base = if provider == "openai" { format!("{}/v1", upstream.url()) } else { upstream.url() };
        format!(
            "[[models]]\nid = \"Quetzal/Id-{number}\"\nname = \"Quetzal Name {number}\"\nmodel = \"{id}\"\n\
             organization = \"Quetzal & Sons\"\nlicense = \"Quetzal-2.0\"\nprovider = \"{provider}\"\nbase_url = \"{base}\"\n\
             api_key_env = \"PLANTED_KEY\"\n"
        )
    };
    let models = [
        ("openai", openai(None)),
        ("openai", openai(None)),
        ("anthropic", anthropic()),
        ("anthropic", anthropic()),
        ("ollama", ollama()),
        ("ollama", ollama()),
        ("openai", refusal()),
        ("openai", openai(Some("overloaded: sk-quetzal"))),
    ];
    models.into_iter().enumerate().map(model).collect()
}

/// What must not be found: planted words and the provider's address in lower case, in base64 at each alignment, in
/// hexadecimal and in escapes for addresses.
fn needles(upstream: &Upstream) -> Vec<String> {
    let address = upstream.url().replace("http://", "");
    let mut needles = Vec::new();
    for word in ["quetzal", "Quetzal", "QUETZAL", "77201337", "planted_key", &address] {
        needles.push(word.to_lowercase());
        needles.push(word.bytes().map(|byte| format!("{byte:02x}")).collect());
        needles.push(word.bytes().map(|byte| format!("%{byte:02x}")).collect());
        for pad in 0..3 {
            let encoded = base64(&format!("{}{word}", "x".repeat(pad)));
            // The first and the last characters depend on what stands beside the word.
            needles.push(encoded[(4 * pad).div_ceil(3)..encoded.len() - 1].to_lowercase());
        }
    }
    needles
}

/// Without padding.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = text.bytes().flat_map(|byte| (0..8).rev().map(move |bit| (byte >> bit) & 1)).collect();
    let digit =
        |six: &[u8]| six.iter().chain([0; 6].iter()).take(6).fold(0, |value, bit| 2 * value + usize::from(*bit));
    bits.chunks(6).map(|six| char::from(DIGITS[digit(six)])).collect()
}

fn found(text: &str, needles: &[String]) -> Option<String> {
    let lower = text.to_lowercase();
    needles.iter().find(|needle| lower.contains(needle.as_str())).map(|needle| format!("{needle:?} in {text}"))
}

/// One battle up to its vote, on one of several ways; what was on the wire.
async fn play(url: &str, number: usize) -> (Visitor, Vec<String>) {
    let mut visitor = Visitor::connect(url).await;
    let mut wire = visitor.headers.clone();
    let render = if number.is_multiple_of(2) { "html" } else { "text" };
    visitor.send(json!({"type": "start", "prompt": format!("Prompt {}", number % 7), "render": render})).await;
    if number % 6 == 1 {
        visitor.send(json!({"type": "stop"})).await;
    }
    visitor.next_of(&["ready", "error"]).await;
    match number % 6 {
        2 => visitor.send(json!({"type": "regenerate"})).await,
        3 => visitor.send(json!({"type": "message", "prompt": "And then?"})).await,
        4 => {
            let mut back = visitor.reconnect().await;
            wire.extend(back.headers.clone());
            wire.append(&mut visitor.frames);
            let battle: Value = serde_json::from_str(&wire[visitor.headers.len() + back.headers.len()]).unwrap();
            back.send(json!({"type": "resume", "battle": battle["battle"], "after": 0, "render": render})).await;
            visitor = back;
        }
        _ => {}
    }
    if (2..=4).contains(&(number % 6)) {
        visitor.next_of(&["ready", "error"]).await;
    }
    wire.extend(visitor.frames.iter().cloned());
    (visitor, wire)
}

/// A page with its status and headers, but for what differs from request to request.
async fn page(server: &Server, path: &str) -> String {
    let answer = crate::support::visitor::get(&format!("{}{path}", server.url)).await;
    assert_ne!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR, "{path}");
    let varies = ["date", "x-request-id", "age"];
    let headers = answer.headers().iter().filter(|(name, _)| !varies.contains(&name.as_str()));
    let mut headers: Vec<String> = headers.map(|(name, value)| format!("{name}: {value:?}")).collect();
    headers.sort();
    format!("{path} {} {headers:?} {}", answer.status(), answer.text().await.unwrap())
}

/// What commands print beside the arena that serves.
async fn printed(folder: &Path, commands: &[&[&str]]) -> Vec<String> {
    let mut printed = Vec::new();
    for command in commands {
        let run = langya_beside(folder, &[*command, &["--data-dir", "data"]].concat()).await;
        assert_eq!(run.code, Some(0), "{command:?}: {}", run.stderr);
        printed.push(format!("{command:?} {}", run.stdout));
    }
    printed
}

/// The metrics in which a word of a model stands, whatever the label.
async fn metrics_of_models(server: &Server, needles: &[String]) -> BTreeSet<String> {
    let metrics = page(server, METRICS).await;
    let of_models = metrics.lines().filter(|line| !line.starts_with('#') && found(line, needles).is_some());
    let family =
        |line: &str| OF_MODELS.iter().find(|name| line.starts_with(**name)).map_or(line, |name| name).to_owned();
    of_models.map(family).collect()
}

/// All that names models, as it stands.
async fn steady(server: &Server, folder: &Path) -> Vec<String> {
    let mut shown = printed(folder, &COMMANDS).await;
    for path in STEADY.iter().chain(&LOG) {
        shown.push(page(server, path).await);
    }
    let metrics = page(server, METRICS).await;
    let names_models =
        |line: &&str| line.contains("model=") && !line.contains("errors_total") && !line.contains("breaker");
    shown.push(metrics.lines().filter(names_models).collect::<Vec<_>>().join("\n"));
    shown
}

fn serve(folder: &Path, upstream: &Upstream, pacing: &str) -> Server {
    let settings = format!(
        "[battle]\npacing = \"{pacing}\"\nstart_classes_ms = [1, 50]\ntempo_classes = [4000, 3000]\nreserve_ms = 0\npace_chars_per_second = 4000\n[limits]\nturns = []\nvotes = []\n\
         turns_per_address = []\nvotes_per_address = []\nturns_per_arena = []\nvotes_per_arena = []\nproof_above = 1.0\nconcurrent_battles = 0\n\
         concurrent_battles_per_address = 0\n[providers]\npractice = \"never\"\nretries = 0\nbreaker_failures = 1000000\n{}",
        upstream_models(upstream)
    );
    std::fs::write(folder.join("langya.toml"), settings).unwrap();
    Server::start_in(folder, &["--config", "langya.toml"], &[("PLANTED_KEY", "sk-quetzal-key")])
}

#[actix_web::test]
async fn no_planted_word_shows_before_the_vote() {
    let mut ready = [0; WAYS.len()];
    for pacing in ["common", "classes", "whole"] {
        search(pacing, size(24, 340), &mut ready).await;
    }
    assert!(ready.iter().all(|count| *count > 0), "battles that were ready for a vote, by {WAYS:?}: {ready:?}");
}

async fn search(pacing: &str, battles: usize, ready_by_way: &mut [usize; WAYS.len()]) {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let server = serve(folder.path(), &upstream, pacing);
    let (needles, nameless) = (needles(&upstream), nameless());
    assert!(found(&base64("of a Quetzal here"), &needles).is_some(), "the search finds what is there");
    let (mut voided, mut ready, mut voted) = (0, 0, None);
    for from in (0..battles).step_by(AT_ONCE) {
        let runs = join_all((from..battles.min(from + AT_ONCE)).map(|number| play(&server.url, number))).await;
        let rows = printed(folder.path(), &ROWS).await;
        for (number, (mut visitor, wire)) in (from..).zip(runs) {
            for line in &wire {
                assert_eq!(found(line, &needles), None);
            }
            let battle = visitor.battle();
            if visitor.frames.last().is_some_and(|frame| frame.contains("\"ready\"")) {
                ready_by_way[number % WAYS.len()] += 1;
                for exported in &rows {
                    assert!(!exported.contains(battle.as_str()), "battle {battle} before its vote: {exported}");
                }
            }
            let revealed = visitor.vote("tie").await;
            if revealed["type"] == "revealed" {
                ready += 1;
                voted = Some(battle);
                assert!(found(&revealed.to_string(), &needles).is_some(), "the vote names the models: {revealed}");
            } else {
                voided += 1;
                assert_eq!(found(&revealed.to_string(), &needles), None);
            }
        }
        for path in &nameless {
            assert_eq!(found(&page(&server, path).await, &needles), None);
        }
    }
    println!(
        "{pacing}: {battles} battles, {ready} with a vote, {voided} without; none of {} spellings found",
        needles.len()
    );
    assert!(ready > 0 && voided > 0, "{ready} ready, {voided} voided");
    server.logged("replaced_by").await;
    let replaced = server.log().lines().any(|line| line.contains("a side failed") && line.contains("replaced_by"));
    assert!(replaced, "no side was replaced");
    let voted = voted.expect("a battle has its vote");
    for exported in printed(folder.path(), &ROWS).await {
        assert!(exported.contains(voted.as_str()), "the vote of {voted} shows in {exported}");
    }
}

#[actix_web::test]
async fn a_battle_without_its_vote_moves_nothing_that_names_models() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let server = serve(folder.path(), &upstream, "common");
    // The first leaderboard and the first report on it, of no votes, come a moment after the start.
    for path in ["/api/v1/leaderboard", "/api/v1/leaderboard/robustness"] {
        let dated = async || (!page(&server, path).await.contains("\"as_of\":null")).then_some(());
        until(dated).await;
    }
    until(async || page(&server, "/log/checkpoint").await.contains(" 200 ").then_some(())).await;
    let before = steady(&server, folder.path()).await;
    for path in addresses() {
        page(&server, &path).await;
    }
    for number in 0..5 {
        let (visitor, _) = play(&server.url, 6 * number).await;
        assert_eq!(steady(&server, folder.path()).await, before);
        drop(visitor);
    }
    let named = metrics_of_models(&server, &needles(&upstream)).await;
    assert!(named.iter().all(|name| OF_MODELS.contains(&name.as_str())), "a metric names models: {named:?}");
    assert!(named.contains("langya_model_breaker_state"), "the search finds what is there: {named:?}");
}
