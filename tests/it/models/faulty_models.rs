//! Battles with models that fail in every way, beside battles with models that do not: each ends as it should, and the
//! healthy ones go on as if they were alone.
//!
//! Every healthy word says when it was sent, so what the arena adds to its way is known to the visitor. No test judges a
//! time here: the long form prints it, mode by mode, beside that of a round without faults.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use crate::models::upstream_faults::{Outcome, outcome_of, silenced, text_of};
use crate::support::program::Server;
use crate::support::upstream::{MODES, Received, Script, Upstream, clock};
use crate::support::visitor::Visitor;
use crate::support::{memory, size};

const MIB: u64 = 1024 * 1024;
const GAP: Duration = Duration::from_millis(20);
/// Shorter than any patience of a test, and longer than a busy machine holds up a healthy word.
const SILENCE_MS: u64 = 10_000;
/// What must not show before the vote: names, parts of the provider's protocol and of its error texts.
const SECRETS: [&str; 7] = ["canary", "-of-", "faulty", "chatcmpl", "sk-", "overloaded", "server_error"];

fn settings(upstream: &Upstream) -> String {
    // The faulty model is drawn unless the coin falls on one side a million times.
    let model = |(id, weight): (&str, f64)| {
        format!(
            "[[models]]\nid = \"{id}\"\nname = \"Name-of-{id}\"\nmodel = \"canary-{id}\"\nprovider = \"openai\"\n\
             weight = {weight:?}\nbase_url = \"{}/v1\"\n",
            upstream.url()
        )
    };
    let models = [("faulty", 1_000_000.0), ("first", 1.0), ("second", 1.0)].map(model).concat();
    format!(
        "[battle]\npacing = \"raw\"\n[limits]\nturns = []\n[providers]\npractice = \"never\"\n\
         retries = 0\nbreaker_failures = 1000000\nfirst_token_timeout_ms = {SILENCE_MS}\n\
         idle_timeout_ms = {SILENCE_MS}\n{models}"
    )
}

fn serve(folder: &Path, upstream: &Upstream) -> Server {
    std::fs::write(folder.join("langya.toml"), settings(upstream)).unwrap();
    Server::start(folder, &["--config", "langya.toml"])
}

/// The faulty model does what the prompt says; all others, and it too where nothing is said, tell the time.
fn answer(request: &Received, words: usize) -> Script {
    let is_faulty = request.body["model"] == "canary-faulty";
    match request.prompt().strip_prefix("mode ").filter(|_| is_faulty) {
        Some(mode) => Script::mode(mode),
        None => Script::stamped(words, GAP),
    }
}

/// A visitor who reads one battle to its end.
struct Reader {
    visitor: Visitor,
    /// The word of each side that is still being written.
    begun: [String; 2],
    /// How long each word was on its way, in microseconds.
    delays: Vec<u64>,
}

impl Reader {
    async fn ask(url: &str, prompt: &str) -> Self {
        let mut visitor = Visitor::connect(url).await;
        visitor.ask(prompt).await;
        Self { visitor, begun: Default::default(), delays: Vec::new() }
    }

    /// Reads until a vote may be cast, or the battle is voided and its other side has ended.
    async fn read(&mut self) {
        let (mut voided, mut done) = (false, false);
        while !(voided && done) {
            let frame = self.visitor.next().await;
            self.time(&frame);
            done |= frame["type"] == "done";
            voided |= frame["code"] == "voided";
            if frame["type"] == "ready" {
                return;
            }
        }
    }

    fn time(&mut self, frame: &Value) {
        let (now, Some(text)) = (clock(), frame["text"].as_str()) else { return };
        let begun = &mut self.begun[usize::from(frame["side"] == "b")];
        begun.push_str(text);
        while let Some((word, rest)) = begun.split_once(' ') {
            self.delays.extend(word.parse::<u64>().ok().map(|sent| now.saturating_sub(sent)));
            *begun = rest.to_owned();
        }
    }

    fn is_ready(&self) -> bool {
        self.visitor.frames.last().is_some_and(|frame| frame.contains(r#""type":"ready""#))
    }

    /// Sides whose healthy text came whole.
    fn healthy_sides(&self, words: usize) -> usize {
        let is_healthy = |text: &str| {
            text.split_whitespace().count() == words && text.split_whitespace().all(|word| word.parse::<u64>().is_ok())
        };
        self.visitor.texts().iter().filter(|text| is_healthy(text)).count()
    }

    fn check_secrets(&self, mode: &str) {
        // What a model says of itself stands in its text.
        let own_words = |frame: &String| if mode == "leak" { silenced(frame) } else { frame.clone() };
        let wire: String = self.visitor.frames.iter().map(own_words).collect();
        let wire = wire.to_lowercase();
        for secret in SECRETS {
            assert!(!wire.contains(secret), "{mode}: {secret} shows before the vote");
        }
    }
}

/// A battle in which the faulty model plays this mode: it ends as the mode has it, and is put to the vote accordingly.
async fn faulty_battle(url: &str, mode: &str, words: usize) -> Vec<u64> {
    let mut reader = Reader::ask(url, &format!("mode {mode}")).await;
    reader.read().await;
    reader.check_secrets(mode);
    let texts = reader.visitor.texts();
    let ready = reader.is_ready();
    let expected = match outcome_of(mode) {
        // What was sent before a reset may be lost with it, and then nothing of that side was seen.
        Outcome::Voided if mode == "reset" && ready => Outcome::Replaced,
        outcome => outcome,
    };
    match expected {
        Outcome::Replaced => assert_eq!((ready, reader.healthy_sides(words)), (true, 2), "{mode}: {texts:?}"),
        Outcome::Voided => assert_eq!((ready, reader.healthy_sides(words)), (false, 1), "{mode}: {texts:?}"),
        Outcome::Ended => {
            assert_eq!((ready, reader.healthy_sides(words)), (true, 1), "{mode}: {texts:?}");
            assert!(texts.contains(&text_of(mode)), "{mode}: {texts:?}");
        }
    }
    let vote = reader.visitor.vote("a").await;
    match ready {
        true => assert_eq!(vote["type"], "revealed", "{mode}: {vote}"),
        false => assert_eq!(vote["code"], "voided", "{mode}: {vote}"),
    }
    reader.delays
}

async fn healthy_battle(url: &str, words: usize) -> Vec<u64> {
    let mut reader = Reader::ask(url, "Which?").await;
    reader.read().await;
    reader.check_secrets("healthy");
    assert_eq!((reader.is_ready(), reader.healthy_sides(words)), (true, 2), "{:?}", reader.visitor.texts());
    assert_eq!(reader.visitor.vote("tie").await["type"], "revealed");
    reader.delays
}

/// Median and 99th percentile, in milliseconds.
fn percentiles(mut delays: Vec<u64>) -> [f64; 2] {
    delays.sort_unstable();
    [50, 99].map(|percent| Duration::from_micros(delays[(delays.len() - 1) * percent / 100]).as_secs_f64() * 1e3)
}

#[actix_web::test]
async fn every_fault_ends_as_it_should_and_no_healthy_battle_notices() {
    let (each, healthy, words) = (size(2, 50), size(10, 50), size(20, 150));
    let upstream = Upstream::start().await;
    for model in ["canary-faulty", "canary-first", "canary-second"] {
        upstream.respond(model, move |request| answer(request, words));
    }
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), &upstream);
    let before = memory(&server, "VmHWM");
    for modes in rounds() {
        let url = &server.url;
        let beside = join_all((0..healthy).map(|_| healthy_battle(url, words)));
        let faulty = join_all(modes.iter().flat_map(|mode| (0..each).map(|_| faulty_battle(url, mode, words))));
        let (beside, _) = tokio::join!(beside, faulty);
        let [median, late] = percentiles(beside.concat());
        println!("{healthy} healthy beside {each} of each of {modes:?}: p50 {median:.1} ms, p99 {late:.1} ms");
    }
    upstream.until_active(0).await;
    let grown = memory(&server, "VmHWM").saturating_sub(before);
    println!("grown by {} MiB", grown / MIB);
    assert!(grown < 256 * MIB, "grown by {grown} bytes");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// Which modes are played at once: none for comparison, then all, or in the long form one after the other. A model that
/// was asked too often rests for a moment, so that mode comes last.
fn rounds() -> Vec<Vec<&'static str>> {
    let faults = MODES.into_iter().filter(|mode| !["ok", "err429"].contains(mode)).collect::<Vec<_>>();
    let per_round = size(faults.len(), 1);
    let mut rounds = vec![Vec::new()];
    rounds.extend(faults.chunks(per_round).map(<[_]>::to_vec));
    rounds.push(vec!["err429"]);
    rounds
}
