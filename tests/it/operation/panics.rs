//! What panics: a job comes back and says so, a turn ends for its visitor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langya::domain::battle::progress::Stage;
use langya::infra::llm::resilient_model::ResilientModel;
use langya::infra::llm::roster::Roster;
use langya::infra::llm::{ChatModel, Message, ReplyStream, Sampling};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::arena::{SEED, TestArena, card, quick_limits};
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::get;

/// Panics the first so many times that it is asked; then it answers.
struct Panicking {
    left: AtomicUsize,
    then: Scripted,
}

impl ChatModel for Panicking {
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        let panics = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        assert!(!panics, "sk-CANARY");
        self.then.ask(messages, sampling)
    }
}

fn model(id: &str, weight: f64, words: &'static str, panics: usize) -> Arc<ResilientModel> {
    let model = Panicking { left: AtomicUsize::new(panics), then: Scripted::saying(words) };
    let rng = ChaCha8Rng::seed_from_u64(SEED);
    Arc::new(ResilientModel::new(card(id), weight, Arc::new(model), quick_limits(), rng))
}

async fn text(arena: &TestArena, path: &str) -> (u16, String) {
    let answer = get(&format!("{}{path}", arena.url)).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[actix_web::test]
async fn a_job_that_panics_is_named_and_counted_and_goes_on() {
    let models = [("one", 1.0, "yes", 0), ("two", 1.0, "no", 0), ("judge", 0.0, "[[A]]", 1)];
    let roster = Roster::new(models.map(|(id, weight, words, panics)| model(id, weight, words, panics)).to_vec());
    let arena = TestArena::start_with_roster(roster, |settings| {
        settings.judge.models = vec!["judge".into()];
        settings.judge.share = 1.0;
    })
    .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is the longest on earth?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let said = until(async || {
        let (status, said) = text(&arena, "/readyz").await;
        assert_eq!(status, 200, "battles need no judge: {said}");
        said.contains("\njob judge_battles: ").then_some(said)
    });
    let said = said.await;
    assert!(said.contains("after a panic, see the log\n") && !said.contains("CANARY"), "{said}");
    let (_, metrics) = text(&arena, "/metrics").await;
    let panics = "langya_job_panics_total{task=\"judge_battles\"} ";
    assert!(metrics.contains(panics) && !metrics.contains(&format!("{panics}0\n")), "{metrics}");
    let store = &arena.app.store;
    until(async || (store.verdict_count().await.unwrap() == 2).then_some(())).await;
    arena.end().await;
}

#[actix_web::test]
async fn a_turn_that_panics_voids_its_battle_and_the_next_battle_is_well() {
    let models = [("one", 1), ("two", 0)].map(|(id, panics)| model(id, 1.0, "fine words", panics));
    let arena = TestArena::start_with_roster(Roster::new(models.to_vec()), |_| {}).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("What now?").await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "voided");
    let row = until(async || {
        let row = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
        (row.progress.stage != Stage::Answering).then_some(row)
    });
    assert_eq!((row.await.progress.stage, arena.app.battles.under_way()), (Stage::Voided, 0));
    visitor.ask("And now?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
    arena.end().await;
}
