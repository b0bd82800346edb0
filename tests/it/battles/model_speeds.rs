//! An arena notes how fast its models wrote, for later turns; an instance that was taken for gone does not.

use std::time::Duration;

use langya::domain::battle::{ModelId, RunId};
use langya::domain::time::Timestamp;

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::Visitor;

/// A model that writes word by word, and one that says a word once the other one has written all of its own: until both have text,
/// nothing is shown, and what comes is read at once.
fn word_by_word_and_late() -> [Scripted; 2] {
    let word = [Step::Pause(Duration::from_millis(5)), Step::Say("word ".into())];
    let words: Vec<Step> = std::iter::repeat_n(word, 40).flatten().chain([Step::Gate]).collect();
    [Scripted::new(move |_| words.clone()), Scripted::new(|_| vec![Step::Gate, Step::Say("word".into())])]
}

/// Starts a battle of both models, in which the first one has written all of its words.
async fn written([slow, late]: &[Scripted; 2]) -> (TestArena, Visitor) {
    let arena = TestArena::start(&[("slow", slow), ("late", late)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("How fast?").await;
    visitor.next_of(&["battle"]).await;
    slow.active_becomes(1).await;
    slow.open_gate();
    slow.active_becomes(0).await;
    (arena, visitor)
}

fn usual(arena: &TestArena, model: &str) -> Option<Duration> {
    arena.app.models.mean_byte_time(&ModelId::new(model))
}

#[actix_web::test]
async fn a_turn_notes_how_fast_its_models_wrote() {
    let models = word_by_word_and_late();
    let (arena, mut visitor) = written(&models).await;
    assert_eq!(usual(&arena, "slow"), None, "the turn has not ended");
    models[1].open_gate();
    visitor.until_ready().await;
    until(async || usual(&arena, "slow")).await;
    assert_eq!(usual(&arena, "late"), None, "a word shows no speed");
}

#[actix_web::test]
async fn an_instance_that_was_taken_for_gone_does_not_note_how_fast_its_models_wrote() {
    let models = word_by_word_and_late();
    let (arena, mut visitor) = written(&models).await;
    let (battle, store) = (visitor.battle(), &arena.app.store);
    let run = store.battle(&battle).await.unwrap().unwrap().answered_by;
    let taken = store.take_over_turn(&battle, run.as_ref(), &RunId::new("other.0"), Timestamp(1)).await.unwrap();
    assert!(taken.is_some());
    models[1].open_gate();
    let end = loop {
        match visitor.try_next().await {
            Ok(frame) => assert_ne!(frame["type"], "ready"),
            Err(code) => break code,
        }
    };
    assert_eq!(end.map(u16::from), Some(1012), "come back for it");
    assert_eq!(usual(&arena, "slow"), None);
}
