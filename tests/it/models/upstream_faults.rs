//! Battles through a real provider whose server fails in every way that servers do.
//!
//! One faulty model stands beside two healthy ones, and its weight brings it into every battle.

use std::sync::Arc;
use std::time::Duration;

use langya::domain::battle::ModelId;
use langya::domain::battle::progress::Stage;
use langya::infra::config::{ModelSettings, PacingMode, ProviderKind};
use langya::infra::llm::http_client;
use langya::infra::llm::providers::openai::OpenAiModel;
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use secrecy::SecretString;
use serde_json::Value;

use crate::support::arena::{SEED, TestArena, card, quick_limits};
use crate::support::upstream::{Gate, MODES, Script, Upstream};
use crate::support::visitor::Visitor;

/// The faulty model is drawn unless the coin falls on one side a million times.
const FAULTY_WEIGHT: f64 = 1_000_000.0;
/// Shorter than any patience, and long enough for a request to arrive on a busy machine; reached only where a fault is a silence.
const SHORT: Duration = Duration::from_secs(1);
/// Longer than any patience of a test.
const NEVER: Duration = Duration::from_secs(600);
const FIRST: &str = "The first healthy reply.";
const SECOND: &str = "The second healthy reply.";

/// One test for each mode, and the list of them.
macro_rules! outcome_of_modes {
    ($outcome:ident: $($mode:ident)+) => {
        mod $outcome {
            pub(super) const MODES: &[&str] = &[$(stringify!($mode)),+];
            $(
                #[actix_web::test]
                async fn $mode() {
                    super::$outcome(stringify!($mode)).await;
                }
            )+
        }
    };
}

outcome_of_modes!(a_side_of_which_nothing_was_seen_is_replaced: hang err500 err429 err401 plain500 garbage empty);
outcome_of_modes!(a_side_that_breaks_off_voids_the_battle: hangmid reset badjson huge errmid);
outcome_of_modes!(an_odd_stream_ends_like_any_other: ok slow nodone split crlf long leak);

/// How a battle ends in which one model's server plays a mode.
pub(crate) enum Outcome {
    /// Another model answers in its place.
    Replaced,
    /// Nobody may vote.
    Voided,
    /// As any other.
    Ended,
}

/// How a battle ends in which one model's server plays this mode.
pub(crate) fn outcome_of(mode: &str) -> Outcome {
    if a_side_of_which_nothing_was_seen_is_replaced::MODES.contains(&mode) {
        Outcome::Replaced
    } else if a_side_that_breaks_off_voids_the_battle::MODES.contains(&mode) {
        Outcome::Voided
    } else {
        Outcome::Ended
    }
}

/// What the visitor reads of a server that plays a mode whose battles end as any other.
pub(crate) fn text_of(mode: &str) -> String {
    match mode {
        "split" => "one 😀 two 😀 three".to_owned(),
        "leak" => "I am canary-model, trained by Canary Corp.".to_owned(),
        "long" => "word ".repeat(2000),
        _ => "one two three".to_owned(),
    }
}

fn model(upstream: &Upstream, id: &str, weight: f64, limits: ReplyLimits) -> Arc<ResilientModel> {
    let settings = ModelSettings {
        base_url: format!("{}/v1", upstream.url()),
        model: format!("canary-{id}"),
        ..ModelSettings::minimal(id, ProviderKind::Openai)
    };
    let key = SecretString::from("sk-OUR-CANARY");
    let http = http_client(Duration::from_secs(2)).unwrap();
    let provider = Arc::new(OpenAiModel::new(&settings, Some(&key), &http).unwrap());
    Arc::new(ResilientModel::new(card(id), weight, provider, limits, ChaCha8Rng::seed_from_u64(SEED)))
}

/// A battle in which one model's server plays the mode.
struct Scene {
    upstream: Upstream,
    arena: TestArena,
    visitor: Visitor,
}

impl Scene {
    async fn start(mode: &str, script: Script) -> Self {
        let upstream = Upstream::start().await;
        upstream.script("canary-faulty", script);
        upstream.script("canary-first", Script::openai(FIRST.split_inclusive(' ')));
        upstream.script("canary-second", Script::openai(SECOND.split_inclusive(' ')));
        let roster = Roster::new(vec![
            model(&upstream, "faulty", FAULTY_WEIGHT, limits(mode)),
            model(&upstream, "first", 1.0, quick_limits()),
            model(&upstream, "second", 1.0, quick_limits()),
        ]);
        // Common pacing would hold back the few words before a fault.
        let pacing = if a_side_that_breaks_off_voids_the_battle::MODES.contains(&mode) {
            PacingMode::Raw
        } else {
            PacingMode::Common
        };
        let arena = TestArena::start_with_roster(roster, |settings| settings.battle.pacing = pacing).await;
        let mut visitor = arena.visitor().await;
        visitor.ask("What now?").await;
        Self { upstream, arena, visitor }
    }

    /// The battle's models and stage as they are kept.
    async fn kept(&self) -> (Vec<String>, Stage) {
        let row = self.arena.app.store.battle(&self.visitor.battle()).await.unwrap().unwrap();
        (row.models.iter().map(|id| id.as_str().to_owned()).collect(), row.progress.stage)
    }

    /// What must hold in every battle; `own_words` is what the faulty model may say about itself.
    async fn end(self, mode: &str, own_words: &str) {
        let asked = self.upstream.received();
        assert!(asked.iter().any(|request| request.body["model"] == "canary-faulty"), "{mode}: it was never asked");
        let [a, b] = self.visitor.texts();
        let spoken = [a.replace(own_words, ""), b.replace(own_words, "")];
        let frames = self.visitor.frames.iter().map(|frame| silenced(frame));
        let wire = frames.chain(spoken).chain(self.visitor.headers.iter().cloned()).collect::<String>().to_lowercase();
        for secret in ["canary", "-of-", "faulty", "chatcmpl", "sk-", "overloaded", "server_error"] {
            assert!(!wire.contains(secret), "{mode}: {secret} shows before the vote");
        }
        self.upstream.until_active(0).await;
        self.arena.end().await;
    }
}

/// A frame without its text, which is looked at as a whole.
pub(crate) fn silenced(frame: &str) -> String {
    let mut frame: Value = serde_json::from_str(frame).unwrap();
    if frame["type"] == "delta" {
        frame["text"].take();
    }
    frame.to_string()
}

/// Only a silence is met with a short limit, so that a busy machine changes no outcome.
fn limits(mode: &str) -> ReplyLimits {
    let mut limits = quick_limits();
    match mode {
        "hang" => limits.timeouts.first_token = SHORT,
        "hangmid" => limits.timeouts.idle = SHORT,
        _ => {}
    }
    limits
}

#[test]
fn every_mode_has_an_outcome() {
    let replaced = a_side_of_which_nothing_was_seen_is_replaced::MODES;
    let voided = a_side_that_breaks_off_voids_the_battle::MODES;
    let mut known = [replaced, voided, an_odd_stream_ends_like_any_other::MODES].concat();
    let mut modes = MODES.to_vec();
    known.sort_unstable();
    modes.sort_unstable();
    assert_eq!(known, modes);
}

async fn a_side_of_which_nothing_was_seen_is_replaced(mode: &str) {
    let mut scene = Scene::start(mode, Script::mode(mode)).await;
    let mut texts = scene.visitor.until_ready().await;
    texts.sort();
    assert_eq!(texts, [FIRST, SECOND], "{mode}");
    let (mut models, stage) = scene.kept().await;
    models.sort();
    assert_eq!((models, stage), (vec!["first".to_owned(), "second".to_owned()], Stage::Ready), "{mode}");
    scene.end(mode, "-").await;
}

async fn a_side_that_breaks_off_voids_the_battle(mode: &str) {
    let gate = Gate::new();
    // A reset may overtake the text on its way, so it waits until the text was seen.
    let script = Script::mode(mode);
    let script = if mode == "reset" { script.last_step_behind(&gate) } else { script };
    let mut scene = Scene::start(mode, script).await;
    while !scene.visitor.texts().iter().any(|text| text.starts_with("one ")) {
        scene.visitor.next().await;
    }
    gate.open();
    let healthy_done = until_voided_and_done(&mut scene.visitor).await;
    let texts = scene.visitor.texts();
    assert!([FIRST, SECOND].contains(&texts[healthy_done].as_str()), "{mode}: {texts:?}");
    assert!("one two ".starts_with(&texts[1 - healthy_done]), "{mode}: {texts:?}");
    let vote = scene.visitor.vote("a").await;
    assert_eq!(vote["code"], "voided", "{mode}: {vote}");
    let (models, stage) = scene.kept().await;
    assert!(models.contains(&"faulty".to_owned()), "{mode}: {models:?}");
    assert_eq!(stage, Stage::Voided, "{mode}");
    scene.end(mode, "-").await;
}

/// Reads until the battle is voided and one side has ended, in either order; returns that side.
async fn until_voided_and_done(visitor: &mut Visitor) -> usize {
    let (mut voided, mut done) = (false, None);
    loop {
        let seen: Vec<Value> = visitor.frames.iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
        for frame in seen {
            assert_ne!(frame["type"], "ready", "a broken reply was put to the vote");
            voided |= frame["code"] == "voided";
            if frame["type"] == "done" {
                done = Some(usize::from(frame["side"] == "b"));
            }
        }
        match done {
            Some(side) if voided => return side,
            _ => drop(visitor.next().await),
        }
    }
}

async fn an_odd_stream_ends_like_any_other(mode: &str) {
    let expected = &text_of(mode);
    let mut scene = Scene::start(mode, Script::mode(mode)).await;
    let texts = scene.visitor.until_ready().await;
    let faulty = texts.iter().position(|text| text == expected);
    let faulty = faulty.unwrap_or_else(|| panic!("{mode}: {texts:?}"));
    assert!([FIRST, SECOND].contains(&texts[1 - faulty].as_str()), "{mode}: {texts:?}");
    let before_the_vote = std::mem::take(&mut scene.visitor.frames);
    let revealed = scene.visitor.vote("tie").await;
    assert_eq!(revealed[["a", "b"][faulty]]["name"], "Name-of-faulty", "{mode}");
    scene.visitor.frames = before_the_vote;
    scene.end(mode, expected).await;
}

#[actix_web::test]
async fn a_side_that_writes_nothing_but_white_space_is_replaced() {
    let mut scene = Scene::start("empty", Script::openai([" ", "\n\n"])).await;
    let mut texts = scene.visitor.until_ready().await;
    texts.sort();
    assert_eq!(texts, [FIRST, SECOND]);
    assert_eq!(scene.kept().await.1, Stage::Ready);
    scene.end("white space", "-").await;
}

#[actix_web::test]
async fn twenty_visitors_who_leave_leave_no_request_behind() {
    let upstream = Upstream::start().await;
    let mut limits = quick_limits();
    limits.timeouts.first_token = NEVER;
    limits.timeouts.idle = NEVER;
    limits.timeouts.total = NEVER;
    let models = ["one", "two"].map(|id| model(&upstream, id, 1.0, limits));
    let arena = TestArena::start_with_roster(Roster::new(models.to_vec()), |settings| {
        settings.battle.pacing = PacingMode::Raw;
        settings.battle.resume_grace_ms = 1;
    })
    .await;
    for number in 0..20 {
        let mode = ["hang", "hangmid"][number % 2];
        for id in ["one", "two"] {
            upstream.script(&format!("canary-{id}"), Script::mode(mode));
        }
        let mut visitor = arena.visitor().await;
        visitor.ask("Is anybody there?").await;
        upstream.until_active(2).await;
        if mode == "hangmid" {
            visitor.next_of(&["delta"]).await;
        }
        visitor.drop_connection();
        upstream.until_active(0).await;
    }
    assert_eq!(upstream.received().len(), 40);
    assert!(arena.app.models.current().get(&ModelId::new("one")).unwrap().healthy(), "who leaves proves nothing");
    arena.end().await;
}
