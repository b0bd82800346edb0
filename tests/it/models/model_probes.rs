//! Models of which only visitors' questions say that they are down: the arena's own question to them, and those that answer it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use langya::domain::battle::ModelId;
use langya::infra::config::StorageSettings;
use langya::infra::job_report::JobReports;
use langya::infra::llm::breaker::{BreakerPhase, BreakerPolicy};
use langya::infra::llm::resilient_model::{PROBE_PROMPT, ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use langya::infra::llm::{ChatError, ChatModel, Message};
use langya::infra::storage::{IfMissing, Store};
use langya::infra::time::clock::SystemClock;
use langya::server::jobs::model_probes::probe_models;
use langya::services::arena::models::Models;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::support::TIMEOUT;
use crate::support::arena::{SEED, TestArena, card, quick_limits};
use crate::support::scripted::{Scripted, Step};

/// Fails on every question but the arena's own, with which it does this.
fn failing(own: Step) -> Scripted {
    Scripted::new(move |messages| match messages.first() {
        Some(message) if message.content == PROBE_PROMPT => vec![own.clone()],
        _ => vec![Step::Fail(ChatError::Reported)],
    })
}

fn model(scripted: &Scripted) -> Arc<ResilientModel> {
    let breaker = BreakerPolicy { failures: 2, open_for: Duration::from_secs(600) };
    let limits = ReplyLimits { breaker, ..quick_limits() };
    let rng = ChaCha8Rng::seed_from_u64(SEED);
    Arc::new(ResilientModel::new(card("shaky"), 1.0, Arc::new(scripted.clone()), limits, rng))
}

/// Raises the suspicion that the model is down.
async fn suspect(model: &ResilientModel) {
    for question in ["one", "two"] {
        model.reply(&[Message::user(question)]).collect::<Vec<_>>().await;
    }
}

#[actix_web::test]
async fn a_model_that_takes_the_place_of_another_is_asked_while_that_one_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    let (hanging, down) = (failing(Step::Hang), failing(Step::Fail(ChatError::Reported)));
    let (former, latter) = (model(&hanging), model(&down));
    let models = Models::open(Roster::new(vec![Arc::clone(&former)]), &store, &SystemClock).await.unwrap();
    let (models, shutdown) = (Arc::new(models), CancellationToken::new());
    let report = JobReports::default().of("probe_models");
    let job = actix_web::rt::spawn(probe_models(Arc::clone(&models), report, shutdown.clone()));

    suspect(&former).await;
    timeout(TIMEOUT, hanging.asked_becomes(3)).await.unwrap();
    // As after an edit of the settings file: the same id, asked elsewhere.
    models.exchange(Roster::new(vec![Arc::clone(&latter)]), &store, &SystemClock).await.unwrap();
    suspect(&latter).await;
    let mut state = latter.watch_state();
    timeout(TIMEOUT, state.wait_for(|state| state.phase == BreakerPhase::Open)).await.unwrap().unwrap();

    timeout(TIMEOUT, hanging.active_becomes(1)).await.expect("its question is still under way");
    shutdown.cancel();
    job.await.unwrap();
    timeout(TIMEOUT, hanging.active_becomes(0)).await.expect("a shutdown ends it");
    store.close().await;
}

/// Refuses every question but the arena's own: such a failure alone never counts against a model.
fn refusing() -> Scripted {
    Scripted::new(|messages| match messages.first() {
        Some(message) if message.content == PROBE_PROMPT => vec![Step::Say("Paris.".into())],
        _ => vec![Step::Fail(ChatError::Status { status: 400, retry_after: None })],
    })
}

#[actix_web::test]
async fn a_model_that_refuses_what_others_answer_leaves_the_pairs_after_several_visitors_and_not_after_one() {
    let (shaky, one, two) = (refusing(), Scripted::saying("One."), Scripted::saying("Two."));
    let breaker = BreakerPolicy { failures: 2, open_for: Duration::from_secs(600) };
    let limits = ReplyLimits { breaker, ..quick_limits() };
    let models = [("shaky", &shaky), ("one", &one), ("two", &two)];
    let arena = TestArena::start_with_limits(&models, limits, |_| {}).await;
    let is_paired = || arena.app.models.current().get(&ModelId::new("shaky")).unwrap().healthy();
    let mut alone = arena.visitor().await;
    while shaky.asked() < 12 {
        alone.ask("What is a zephyr?").await;
        alone.until_ready().await;
    }
    assert!(is_paired(), "one visitor takes it from nobody");
    for _ in 0..12 {
        let mut chooser = arena.visitor().await;
        chooser.send(json!({"type": "start", "prompt": "Why?", "mode": "one_hidden", "model": "shaky"})).await;
        let (mut voided, mut done) = (false, false);
        while !(voided && done) {
            let frame = chooser.next().await;
            (voided, done) = (voided || frame["code"] == "voided", done || frame["type"] == "done");
        }
    }
    assert!(is_paired(), "nor do visitors who choose it");

    let before = shaky.asked();
    for visitors in 1..100 {
        if !is_paired() {
            break;
        }
        let mut visitor = arena.visitor().await;
        visitor.ask("What is a zephyr?").await;
        visitor.until_ready().await;
        assert!(visitors < 99, "it is still paired after {} failures", shaky.asked() - before);
    }
    // With the one who was alone before.
    assert_eq!(shaky.asked() - before, 7);
    arena.end().await;
}
