//! A circuit breaker that opens on one instance opens on all of them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use langya::infra::config::StorageSettings;
use langya::infra::events::BusState;
use langya::infra::job_report::JobReports;
use langya::infra::llm::breaker::{BreakerPhase, BreakerPolicy};
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use langya::infra::llm::{ChatError, ChatModel, Message};
use langya::infra::redis::SharedBreakers;
use langya::infra::storage::{BreakerReport, IfMissing, Store};
use langya::infra::time::clock::SystemClock;
use langya::server::jobs::breakers::store_breakers;
use langya::services::arena::models::Models;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::support::arena::{SEED, card, quick_limits};
use crate::support::instance::Instance;
use crate::support::log::Log;
use crate::support::redis::TestRedis;
use crate::support::scripted::{Scripted, Step};
use crate::support::{TIMEOUT, until};

const OPEN_FOR: Duration = Duration::from_secs(30);

/// A model whose circuit breaker opens after two failures.
fn model(scripted: &Scripted) -> Arc<ResilientModel> {
    let limits = ReplyLimits { breaker: BreakerPolicy { failures: 2, open_for: OPEN_FOR }, ..quick_limits() };
    let rng = ChaCha8Rng::seed_from_u64(SEED);
    Arc::new(ResilientModel::new(card("shaky"), 1.0, Arc::new(scripted.clone()), limits, rng))
}

async fn store(folder: &TempDir) -> Store {
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    Store::open(&settings, IfMissing::Create).await.unwrap()
}

async fn ask(model: &ResilientModel, times: usize) {
    for number in 0..times {
        let question = [Message::user(format!("question {number}"))];
        model.reply(&question).collect::<Vec<_>>().await;
    }
}

/// An instance with one model, whose circuit breaker is shared.
struct Ward {
    instance: Instance,
    model: Arc<ResilientModel>,
    shutdown: CancellationToken,
    _folder: TempDir,
}

impl Ward {
    async fn start(name: &str, redis: &TestRedis, scripted: &Scripted) -> Self {
        let instance = Instance::connected(name, &redis.settings()).await;
        let (model, folder) = (model(scripted), tempfile::tempdir().unwrap());
        let store = store(&folder).await;
        let models = Models::open(Roster::new(vec![Arc::clone(&model)]), &store, &SystemClock).await.unwrap();
        let (breakers, shutdown) = (SharedBreakers::new(instance.bus.handle().clone()), CancellationToken::new());
        let report = JobReports::default().of("store_breakers");
        let job =
            store_breakers(Arc::new(models), store, Some(breakers), Arc::new(SystemClock), report, shutdown.clone());
        actix_web::rt::spawn(job);
        Self { instance, model, shutdown, _folder: folder }
    }

    async fn until(&self, phase: BreakerPhase) {
        let mut state = self.model.watch_state();
        timeout(TIMEOUT, state.wait_for(|state| state.phase == phase)).await.unwrap().unwrap();
    }

    async fn ask(&self, times: usize) {
        ask(&self.model, times).await;
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

#[actix_web::test]
async fn a_breaker_that_opens_is_stored_and_logged_once() {
    let (log, folder) = (Log::keep(), tempfile::tempdir().unwrap());
    let model = model(&Scripted::new(|_| vec![Step::Fail(ChatError::Unreached("a test".into()))]));
    let store = store(&folder).await;
    let models = Models::open(Roster::new(vec![Arc::clone(&model)]), &store, &SystemClock).await.unwrap();
    let (report, shutdown) = (JobReports::default().of("store_breakers"), CancellationToken::new());
    let job = store_breakers(Arc::new(models), store.clone(), None, Arc::new(SystemClock), report, shutdown.clone());
    let job = actix_web::rt::spawn(job);
    for (failures, state) in [(1, "closed"), (2, "open")] {
        ask(&model, 1).await;
        let expected = BreakerReport { state: state.into(), failures };
        until(async || (store.registered_models().await.unwrap()[0].breaker == expected).then_some(())).await;
    }
    shutdown.cancel();
    job.await.unwrap();
    assert_eq!(log.lines("circuit breaker").len(), 1, "{}", log.text());
}

#[actix_web::test]
async fn a_breaker_that_opens_on_one_instance_opens_on_all_for_as_long_and_alone_without_redis() {
    let Some(mut redis) = TestRedis::start() else { return };
    let log = Log::keep();
    let shaky = Scripted::new(|_| vec![Step::Fail(ChatError::Unreached("a test".into()))]);
    let (one, two) = (Ward::start("one", &redis, &shaky).await, Ward::start("two", &redis, &shaky).await);
    one.ask(2).await;
    one.until(BreakerPhase::Open).await;
    two.until(BreakerPhase::Open).await;
    two.ask(3).await;
    assert_eq!(shaky.asked(), 2, "it is not asked on the other instance either");
    let opened = log.lines("circuit breaker open");
    let said = ["failures=2 reason=failures in a row", "failures=0 reason=it failed on another instance"];
    assert!(opened.len() == 2 && opened.iter().zip(said).all(|(line, said)| line.contains(said)), "{opened:?}");
    let (here, there) = (one.model.breaker_remaining().unwrap(), two.model.breaker_remaining().unwrap());
    assert!(here.abs_diff(there) < Duration::from_secs(1) && there <= OPEN_FOR, "{here:?} {there:?}");
    let keys = redis.keys();
    let remaining = keys.iter().find(|(key, _)| key == "test:breaker:shaky").map(|(_, expires_in)| *expires_in);
    assert!(remaining.is_some_and(|remaining| (1..=30_000).contains(&remaining)), "{keys:?}");

    redis.kill();
    two.instance.until(BusState::Lost).await;
    redis.run();
    two.instance.wait_until_writable(true).await;
    let three = Ward::start("three", &redis, &shaky).await;
    three.until(BreakerPhase::Open).await;
    assert!(
        three.model.breaker_remaining().unwrap() <= there,
        "an emptied Redis gets them again, and no breaker stays open for longer"
    );
}
