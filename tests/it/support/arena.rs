//! The real application on a free port, with a separate database, scripted models and a seeded rng.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use langya::domain::battle::ModelId;
use langya::infra::config::{Environment, LimitSettings, Settings, Timeouts, WindowLimits};
use langya::infra::events::{EventBus, InstanceId, LocalBus};
use langya::infra::llm::ModelCard;
use langya::infra::llm::breaker::BreakerPolicy;
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use langya::infra::moderation::ModerationEndpoint;
use langya::infra::rng::SharedRng;
use langya::infra::storage::Store;
use langya::infra::time::clock::SystemClock;
use langya::infra::webhooks::WebhookSender;
use langya::server::app::Dependencies;
use langya::server::http::RunningServer;
use langya::server::state::AppState;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use super::TIMEOUT;
use super::embedded;
use super::scripted::Scripted;
use super::visitor::Visitor;

/// Seed of every arena under test; a failing one prints it.
pub(crate) const SEED: u64 = 20_261_121;

/// Secret that signs the webhooks of a test.
pub(crate) const HOOK_SECRET: &str = "a secret of the tests alone";

/// Limits that refuse no request: tests are quicker than people.
pub(crate) const NO_LIMITS: LimitSettings = LimitSettings {
    turns: WindowLimits::NONE,
    votes: WindowLimits::NONE,
    turns_per_address: WindowLimits::NONE,
    votes_per_address: WindowLimits::NONE,
    turns_per_arena: WindowLimits::NONE,
    votes_per_arena: WindowLimits::NONE,
    images: WindowLimits::NONE,
    images_per_address: WindowLimits::NONE,
    sign_ins_per_address: WindowLimits::NONE,
    admin_sign_ins_per_address: WindowLimits::NONE,
    admin_sign_ins_per_account: WindowLimits::NONE,
    concurrent_battles: 0,
    concurrent_battles_per_address: 0,
    proof_above: 1.0,
};

/// Running arena. Dropping it stops the server; [`TestArena::end`] also asserts that every task ended.
pub(crate) struct TestArena {
    /// Shared state of HTTP handlers, websockets and jobs.
    pub(crate) app: Arc<AppState>,
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    serving: RunningServer,
    _folder: TempDir,
}

impl TestArena {
    /// Starts an arena with these models and quick, otherwise ordinary settings.
    pub(crate) async fn start(models: &[(&str, &Scripted)]) -> Self {
        Self::start_with(models, |_| {}).await
    }

    /// Starts an arena with changed settings.
    pub(crate) async fn start_with(models: &[(&str, &Scripted)], change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_with_limits(models, quick_limits(), change).await
    }

    /// Starts an arena with changed settings and limits for its models.
    pub(crate) async fn start_with_limits(
        models: &[(&str, &Scripted)],
        limits: ReplyLimits,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::start_with_roster(roster(models, limits), change).await
    }

    /// Starts an arena on the test's own event bus; beside another one, it serves the same database.
    pub(crate) async fn start_on(
        models: &[(&str, &Scripted)],
        events: Arc<dyn EventBus>,
        beside: Option<&Self>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let store = beside.map(|other| other.app.store.clone());
        Self::start_in(roster(models, quick_limits()), events, store, change).await
    }

    /// Starts an arena with the test's own roster.
    pub(crate) async fn start_with_roster(roster: Roster, change: impl FnOnce(&mut Settings)) -> Self {
        let events = Arc::new(LocalBus::new(InstanceId("test".into())));
        Self::start_in(roster, events, None, change).await
    }

    async fn start_in(
        roster: Roster,
        events: Arc<dyn EventBus>,
        store: Option<Store>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        println!("seed {SEED}");
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.storage.data_dir = folder.path().join("data");
        settings.server.workers = 1;
        settings.battle.pace_chars_per_second = 100_000;
        settings.battle.reserve_ms = 0;
        settings.rating.debounce_ms = 10;
        settings.rating.group_votes = 1;
        settings.limits = NO_LIMITS;
        change(&mut settings);
        // Two instances with one seed would identify two visitors as the same person.
        let rng = SharedRng::seeded(SEED + u64::from(store.is_some()));
        let store = match store {
            Some(store) => store,
            None => embedded::open(&settings.storage).await,
        };
        let clock = Arc::new(SystemClock);
        let moderation = ModerationEndpoint::open(&settings, &Environment::default()).unwrap();
        let webhooks = WebhookSender::open(&settings, &Environment::of([("HOOK_SECRET", HOOK_SECRET)])).unwrap();
        let worlds =
            Dependencies { store, events, link: None, roster, clock, rng, moderation, webhooks, settings_file: None };
        let app = AppState::start(settings, worlds).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving =
            langya::server::http::serve(Arc::clone(&app), listener, langya::cli::command_reference::commands).unwrap();
        Self { app, url, serving, _folder: folder }
    }

    /// Connects a new visitor.
    pub(crate) async fn visitor(&self) -> Visitor {
        Visitor::connect(&self.url).await
    }

    /// Stops the arena; fails if a background task does not end.
    pub(crate) async fn end(self) {
        assert!(self.app.tasks.end(TIMEOUT).await, "a background task did not end");
    }
}

impl Drop for TestArena {
    fn drop(&mut self) {
        self.app.tasks.stop();
        self.serving.begin_stop();
    }
}

fn roster(models: &[(&str, &Scripted)], limits: ReplyLimits) -> Roster {
    let guarded = models.iter().map(|(id, model)| {
        let rng = ChaCha8Rng::seed_from_u64(SEED);
        Arc::new(ResilientModel::new(card(id), 1.0, Arc::new((*model).clone()), limits, rng))
    });
    Roster::new(guarded.collect())
}

/// Returns a model card whose every field reveals the model, so that a test can search for it.
pub(crate) fn card(id: &str) -> ModelCard {
    ModelCard {
        id: ModelId::new(id),
        name: format!("Name-of-{id}"),
        organization: format!("Maker-of-{id}"),
        license: format!("License-of-{id}"),
        practice: false,
    }
}

/// Returns limits that stop no model on a busy machine, without retries; a test of a limit sets its own.
pub(crate) fn quick_limits() -> ReplyLimits {
    ReplyLimits {
        timeouts: Timeouts {
            connect: Duration::from_millis(500),
            first_token: 2 * TIMEOUT,
            idle: 2 * TIMEOUT,
            total: 2 * TIMEOUT,
        },
        retries: 0,
        backoff: Duration::from_millis(1),
        breaker: BreakerPolicy { failures: 1_000_000, open_for: Duration::from_secs(1) },
    }
}
