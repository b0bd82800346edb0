//! The real application on a free port, with a database of its own, scripted models and a seeded rng.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use langya::app::{AppState, Worlds};
use langya::battle::ModelId;
use langya::chance::Chance;
use langya::clock::SystemClock;
use langya::config::{Settings, Timeouts};
use langya::events::{EventBus, InstanceId, LocalBus};
use langya::llm::ModelCard;
use langya::llm::breaker::BreakerPolicy;
use langya::llm::guard::{GuardedModel, Limits};
use langya::llm::roster::Roster;
use langya::storage::{IfMissing, Store};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use super::scripted::Scripted;
use super::visitor::Visitor;

/// The seed of every arena under test; printed by a failing one.
pub(crate) const SEED: u64 = 20_261_121;

/// A running arena. Dropping it stops the server; [`TestArena::end`] also proves that every task ended.
pub(crate) struct TestArena {
    /// What the edges reach.
    pub(crate) app: Arc<AppState>,
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
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
        limits: Limits,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::start_with_roster(roster(models, limits), change).await
    }

    /// Starts an arena whose instances tell each other through this.
    pub(crate) async fn start_on_bus(models: &[(&str, &Scripted)], events: Arc<dyn EventBus>) -> Self {
        Self::start_all(roster(models, quick_limits()), events, |_| {}).await
    }

    /// Starts an arena with a roster of the test's own.
    pub(crate) async fn start_with_roster(roster: Roster, change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_all(roster, Arc::new(LocalBus::new(InstanceId("test".into()))), change).await
    }

    async fn start_all(roster: Roster, events: Arc<dyn EventBus>, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.storage.data_dir = folder.path().join("data");
        settings.server.workers = 1;
        settings.battle.pace_chars_per_second = 100_000;
        settings.rating.debounce_ms = 10;
        change(&mut settings);
        let store = Store::open(&settings.storage, IfMissing::Create).await.unwrap();
        let worlds = Worlds { store, events, roster, clock: Arc::new(SystemClock), chance: Chance::seeded(SEED) };
        let app = AppState::start(settings, worlds).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        actix_web::rt::spawn(langya::http::server(Arc::clone(&app), listener).unwrap());
        Self { app, url, _folder: folder }
    }

    /// A new visitor.
    pub(crate) async fn visitor(&self) -> Visitor {
        Visitor::connect(&self.url).await
    }

    /// Ends the arena; fails if a background task does not come to its end.
    pub(crate) async fn end(self) {
        assert!(self.app.tasks.end(Duration::from_secs(10)).await, "a background task did not end");
    }
}

impl Drop for TestArena {
    fn drop(&mut self) {
        self.app.tasks.stop();
    }
}

/// A roster of scripted models behind their guards.
fn roster(models: &[(&str, &Scripted)], limits: Limits) -> Roster {
    println!("seed {SEED}");
    let guarded = models.iter().map(|(id, model)| {
        Arc::new(GuardedModel::new(card(id), 1.0, Arc::new((*model).clone()), limits, ChaCha8Rng::seed_from_u64(SEED)))
    });
    Roster::of(guarded.collect())
}

/// A public face whose every field gives the model away, so that a test can look for it.
pub(crate) fn card(id: &str) -> ModelCard {
    ModelCard {
        id: ModelId::new(id),
        name: format!("Name-of-{id}"),
        organization: format!("Maker-of-{id}"),
        license: format!("License-of-{id}"),
        practice: false,
    }
}

/// Limits under which no test waits long.
pub(crate) fn quick_limits() -> Limits {
    Limits {
        timeouts: Timeouts {
            connect: Duration::from_millis(500),
            first_token: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(20),
        },
        retries: 0,
        backoff: Duration::from_millis(1),
        breaker: BreakerPolicy { failures: 1_000_000, rest: Duration::from_secs(1) },
    }
}
