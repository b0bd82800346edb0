//! Tests of the usual speeds that a turn starts with.

use std::path::Path;

use super::*;
use crate::arena::instances::ArenaInstances;
use crate::arena::models::Models;
use crate::arena::pair_selection::Matchmaker;
use crate::arena::prompt_images::PromptImages;
use crate::arena::prompt_rules::PromptRules;
use crate::domain::battle::active_battle::ActiveBattle;
use crate::domain::battle::record::BattleRow;
use crate::domain::battle::{BattleId, VisitorId};
use crate::infra::config::{CurrentSettings, Environment, Settings};
use crate::infra::events::{InstanceId, LocalBus};
use crate::infra::llm::roster::Roster;
use crate::infra::pacing_class_draws::ClassDraws;
use crate::infra::raw_pacing_ticks::RawPacingTicks;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store};
use crate::infra::tasks::Tasks;
use crate::infra::time::clock::SystemClock;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Dependencies of an arena of practice models, with its database in this folder.
async fn dependencies(folder: &Path) -> BattleDependencies {
    let mut settings = Settings::default();
    settings.storage.data_dir = folder.to_owned();
    let store = Store::open(&settings.storage, IfMissing::Create).await.unwrap();
    let (rng, clock) = (Arc::new(SharedRng::seeded(1)), Arc::new(SystemClock));
    let roster = Roster::build(&settings, &Environment::default(), 1).unwrap();
    let models = Arc::new(Models::open(roster, &store, &*clock).await.unwrap());
    let leaderboard = Arc::new(LatestLeaderboard::open(&store).await.unwrap());
    let (settings, me) = (CurrentSettings::new(settings), InstanceId("test".to_owned()));
    BattleDependencies {
        instances: Arc::new(ArenaInstances::alone(store.clone(), me.clone())),
        events: Arc::new(LocalBus::new(me)),
        matchmaker: Arc::new(Matchmaker::new(Arc::clone(&models), leaderboard, Arc::clone(&rng), settings.clone())),
        class_draws: ClassDraws::open(&store, &rng, &*clock).await.unwrap(),
        raw_pacing_ticks: RawPacingTicks::start(),
        tasks: Tasks::default(),
        prompts: Arc::new(PromptRules {
            settings: settings.clone(),
            endpoint: None,
            store: store.clone(),
            rng: Arc::clone(&rng),
            clock: clock.clone(),
        }),
        images: Arc::new(PromptImages::new(store.clone(), Arc::clone(&rng), clock.clone(), settings.clone())),
        store,
        models,
        rng,
        clock,
        settings,
    }
}

/// Time until all text of a turn is shown, where one model writes a word and the other one much text at once.
async fn shown_until(dependencies: &BattleDependencies, models: &[ModelId; 2]) -> Duration {
    let row = BattleRow {
        id: BattleId::new("battle"),
        visitor: VisitorId::new("visitor"),
        mode: BattleMode::Anonymous,
        progress: Progress { stage: Stage::Answering, turn: 1 },
        models: models.clone(),
        pairing_policy: "uniform".to_owned(),
        policy_version: 1,
        pair_probability: 0.1,
        language: "en".to_owned(),
        category: None,
        intent: None,
        answered_by: None,
    };
    let battle = LiveBattle::new(ActiveBattle::begin(row, "How fast?", Vec::new()));
    let mut pacer = Turn::begin(dependencies, &battle, RunId::new("test.0")).await.pacer;
    for (side, text) in [(Side::A, "word".to_owned()), (Side::B, "many words. ".repeat(40))] {
        pacer.push(side, &text, Duration::ZERO);
        pacer.end(side, Ending::Complete, Duration::ZERO);
    }
    let mut at = Duration::ZERO;
    while !pacer.finished() {
        at = at.max(pacer.due(at).expect("both replies have ended"));
        pacer.step(at);
    }
    at
}

#[tokio::test]
async fn a_turn_is_paced_by_the_usual_speeds_of_its_models_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let dependencies = dependencies(folder.path()).await;
    let roster = dependencies.models.current();
    let models = [0, 1].map(|at| roster.all()[at].card.id.clone());
    let unknown = shown_until(&dependencies, &models).await;
    dependencies.models.note_speeds(&[(models[1].clone(), Duration::from_secs(1))]);
    let known = shown_until(&dependencies, &models).await;
    assert!(known > 2 * unknown, "{known:?} and {unknown:?}: as fast as the slower of both models usually writes");
    dependencies.store.close().await;
}
