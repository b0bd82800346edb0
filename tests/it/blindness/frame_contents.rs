//! Before the vote no byte on the wire depends on who the models are, other than their text.

use futures_util::future::join_all;
use langya::infra::config::PacingMode;
use langya::infra::llm::ChatError;
use serde_json::{Value, json};

use crate::support::arena::{TestArena, card};
use crate::support::scripted::{Scripted, Step};

const BATTLES: usize = 1_000;
const AT_ONCE: usize = 50;
const PROMPTS: usize = 10;

/// What every model answers: the text follows from the prompt alone.
fn answer(prompt: &str) -> String {
    let number: usize = prompt.bytes().map(usize::from).sum();
    let words = (0..40 + number % 30).map(|at| format!("word{} ", (at * number) % 89)).collect::<String>();
    format!("# About {number}\n\n{words}\n\n- one\n- **two** 琅琊\n\n```rust\nfn f() {{}}\n```\n\n{words}")
}

/// A model with a speed and a chunk size of its own; one in six fails before its first token.
fn model(number: usize) -> Scripted {
    Scripted::new(move |messages| {
        if number % 6 == 5 {
            return vec![Step::Yield(number), Step::Fail(ChatError::Status { status: 401, retry_after: None })];
        }
        let text: Vec<char> = answer(&messages.last().unwrap().content).chars().collect();
        let thinking = (0..number % 3).map(|_| Step::Think("I am Name-of-canary".into()));
        let chunks = text.chunks(1 + 13 * number);
        let pause = (number > 0).then_some(Step::Yield(number * number));
        let spoken = chunks.flat_map(|chunk| pause.clone().into_iter().chain([Step::Say(chunk.iter().collect())]));
        thinking.chain(spoken).collect()
    })
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_thousand_battles_show_nothing_but_the_texts() {
    show_nothing_but_the_texts(PacingMode::Common, BATTLES).await;
}

#[actix_web::test]
async fn battles_in_classes_and_whole_ones_show_nothing_but_the_texts() {
    for pacing in [PacingMode::Classes, PacingMode::Whole] {
        show_nothing_but_the_texts(pacing, 2 * AT_ONCE).await;
    }
}

async fn show_nothing_but_the_texts(pacing: PacingMode, battles: usize) {
    let models: Vec<(String, Scripted)> =
        (0..12).map(|number| (format!("canary-{number:02}"), model(number))).collect();
    let named: Vec<(&str, &Scripted)> = models.iter().map(|(id, model)| (id.as_str(), model)).collect();
    let arena = TestArena::start_with(&named, |settings| {
        settings.battle.pacing = pacing;
        settings.battle.pace_chars_per_second = 4_000;
        settings.battle.start_classes_ms = vec![10, 100];
        settings.battle.tempo_classes = vec![4_000, 3_000];
    })
    .await;
    let mut seen: Vec<Option<Vec<String>>> = vec![None; 2 * PROMPTS];
    let mut played = 0;
    while played < battles {
        let runs = join_all((played..played + AT_ONCE).map(|number| play(&arena, number))).await;
        for (number, frames) in (played..).zip(runs) {
            let first = seen[number % (2 * PROMPTS)].get_or_insert_with(|| frames.clone());
            assert_eq!(*first, frames, "two battles on one prompt differ before the vote");
        }
        played += AT_ONCE;
    }
    for (id, model) in &models {
        assert!(model.asked() > 0, "{id} never took part");
    }
}

/// Plays one battle up to its vote and returns what was on the wire, with ids and the session taken out.
async fn play(arena: &TestArena, number: usize) -> Vec<String> {
    let mut visitor = arena.visitor().await;
    let mut start = json!({"type": "start", "prompt": format!("Prompt {}", number % PROMPTS)});
    if number % (2 * PROMPTS) >= PROMPTS {
        start["render"] = json!("html");
    }
    visitor.send(start).await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    let begun: Value = serde_json::from_str(&visitor.frames[0]).unwrap();
    let answer = begun["answer"].as_str().unwrap();
    assert_eq!(answer.len(), 16, "its length says nothing");
    let without_ids = |frame: &String| frame.replace(battle.as_str(), "ID").replace(answer, "ANSWER");
    let mut lines: Vec<String> = visitor.frames.iter().map(without_ids).collect();
    lines.extend(visitor.headers.iter().filter(|line| is_constant(line)).cloned());
    let wire = lines.concat();
    let canary = card("canary");
    for secret in [canary.id.as_str(), &canary.name, &canary.organization, &canary.license] {
        assert!(!wire.contains(secret), "{secret} shows before the vote");
    }
    let revealed: Value = visitor.vote("tie").await;
    assert!(revealed["a"]["name"].as_str().unwrap().starts_with("Name-of-canary-"), "{revealed}");
    lines
}

fn is_constant(header: &str) -> bool {
    !["set-cookie:", "sec-websocket-accept:", "date:", "x-request-id:"].iter().any(|name| header.starts_with(name))
}
