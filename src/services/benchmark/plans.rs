//! Benchmark plans run by the server: an operator starts one, and the leading instance runs it or continues it after a change of leader. A
//! plan is a row; its results are stored as answers, judgements and attempts, so no request is repeated.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::batches::{BatchOptions, OnBatch};
use super::model_clients::ModelClients;
use super::planned_run::{CheckedPlan, PlanOptions, PlanResult, PlanWatch};
use super::run_error::RunError;
use super::suite_run::RunSession;
use crate::admin::actor::{Actor, audit_json};
use crate::arena::models::Models;
use crate::domain::admin::action::AdminAction;
use crate::domain::benchmark::plan_progress::{PlanProgress, spent};
use crate::domain::benchmark::runs::plan_end::PlanEnd;
use crate::domain::benchmark::runs::run_plan::RunPlan;
use crate::domain::benchmark::runs::run_report::PlannedStep;
use crate::domain::benchmark::runs::run_state::RunState;
use crate::domain::judging::budget::{Budget, Spent};
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::llm::model_client::RunLimits;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{BenchPlanRow, NewBenchPlan, PlanHeartbeat, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Interval of updates to a plan's row, and of checks for a stop request.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum length of a plan's final note in characters.
const MAX_NOTE_CHARS: usize = 1_000;

/// Error of starting a plan.
#[derive(Debug, thiserror::Error)]
pub enum StartPlanError {
    /// Another plan is running.
    #[error("a plan of benchmarks runs already: wait until it ends, or stop it")]
    AlreadyRunning,
    /// The plan is invalid.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Benchmark plans of an arena.
pub struct BenchPlans {
    /// The database.
    pub store: Store,
    /// Models of the arena.
    pub models: Arc<Models>,
    /// Current settings.
    pub settings: CurrentSettings,
    /// Random number generator.
    pub rng: Arc<SharedRng>,
    /// Clock of the rows.
    pub clock: Arc<dyn Clock>,
}

impl BenchPlans {
    fn session(&self, plan: &RunPlan) -> RunSession {
        let clients = ModelClients::new(self.settings.now(), self.models.current(), Arc::clone(&self.rng));
        let batches = BatchOptions { sends: plan.batch, ..BatchOptions::default() };
        RunSession { store: self.store.clone(), clients, batches }
    }

    /// Returns the planned requests of each run, without sending any.
    ///
    /// # Errors
    /// [`RunError`] if the plan is invalid.
    pub async fn dry_run(&self, plan: &RunPlan) -> Result<Vec<PlannedStep>, RunError> {
        let session = self.session(plan);
        let options = PlanOptions { budget: plan.budget_after(Spent::default()), ..PlanOptions::default() };
        Ok(CheckedPlan::open(&session, plan, &options).await?.steps())
    }

    /// Stores a plan, for the leading instance to run.
    ///
    /// # Errors
    /// [`StartPlanError`].
    pub async fn start(&self, plan: &RunPlan, actor: &Actor) -> Result<(), StartPlanError> {
        let steps = self.dry_run(plan).await?;
        let (id, clock) = (self.rng.id(self.clock.as_ref()), self.clock.as_ref());
        let mut entry = actor.entry(&self.rng, clock, AdminAction::StartBenchmarks, &subject(&id));
        entry.latter = audit_json(plan);
        let row = NewBenchPlan { id: &id, plan, steps: &steps, started_by: &actor.name, started_at: self.clock.now() };
        let is_stored = self.store.insert_bench_plan(row, &entry).await.map_err(RunError::from)?;
        if is_stored { Ok(()) } else { Err(StartPlanError::AlreadyRunning) }
    }

    /// Runs a plan until it ends, or until `stop` fires: then the next leading instance continues it. Requests in flight when `stop` fires
    /// are completed.
    ///
    /// # Errors
    /// [`RunError`] of the database; the plan can be continued later.
    pub async fn run(&self, row: &BenchPlanRow, stop: CancellationToken) -> Result<(), RunError> {
        let before = spent(&self.store.bench_runs_of_plan(&row.id).await?);
        let budget = row.plan.budget_after(before);
        let limits = Arc::new(RunLimits::new(stop, budget));
        let waits_for = Arc::new(Mutex::new(String::new()));
        let asked = tokio::select! {
            asked = self.ask(row, &limits, budget, &waits_for) => asked,
            never = self.run_heartbeat(row, &limits, &waits_for) => never,
        };
        let end = match asked {
            Err(error) if error.is_outage() => return Err(error),
            Err(error) => PlanEnd { state: RunState::Failed, note: error.to_string() },
            Ok(Some(end)) => end,
            Ok(None) => return Ok(()),
        };
        let note: String = end.note.chars().take(MAX_NOTE_CHARS).collect();
        tracing::info!(plan = row.id, state = end.state.as_str(), "a plan of benchmarks has ended");
        Ok(self.store.end_bench_plan(&row.id, end.state, &note, self.clock.now()).await?)
    }

    /// Writes the heartbeat of the plan, and stops it on request.
    async fn run_heartbeat<T>(&self, row: &BenchPlanRow, limits: &RunLimits, waits_for: &Mutex<String>) -> T {
        let mut ticker = interval(HEARTBEAT_INTERVAL);
        ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticker.tick().await;
            let note = waits_for.lock().clone();
            match self.store.heartbeat_bench_plan(&row.id, &note, self.clock.now()).await {
                Ok(PlanHeartbeat::StopAsked | PlanHeartbeat::Ended) => {
                    if !limits.stop.is_cancelled() {
                        tracing::info!(
                            plan = row.id,
                            "a plan of benchmarks is stopping: requests under way are finished"
                        );
                    }
                    limits.stop.cancel();
                }
                // A failed write does not stop the runs; the next heartbeat includes its state.
                Ok(PlanHeartbeat::GoesOn) | Err(_) => {}
            }
        }
    }

    /// Runs all requests; `None` if another instance is to continue the plan.
    async fn ask(
        &self,
        row: &BenchPlanRow,
        limits: &Arc<RunLimits>,
        budget: Budget,
        waits_for: &Arc<Mutex<String>>,
    ) -> Result<Option<PlanEnd>, RunError> {
        if row.stop_asked {
            limits.stop.cancel();
        }
        let mut session = self.session(&row.plan);
        session.batches.on_batch = on_batch(Arc::clone(waits_for));
        let options = PlanOptions { budget, id: Some(row.id.clone()), ..PlanOptions::default() };
        let open = CheckedPlan::open(&session, &row.plan, &options).await?;
        let watch = PlanWatch {
            show: &|_, _, _| waits_for.lock().clear(),
            ended: &|_, _, _| {},
            waits: Some(&|taken| *waits_for.lock() = taken.to_string()),
        };
        let asked = open.ask(limits, watch).await?;
        let given_up = session.clients.given_up(open.runs().iter().flat_map(|run| run.run.clients()));
        self.end_of(row, limits, &asked, &given_up).await
    }

    async fn end_of(
        &self,
        row: &BenchPlanRow,
        limits: &RunLimits,
        asked: &PlanResult,
        given_up: &[String],
    ) -> Result<Option<PlanEnd>, RunError> {
        let (left, reached) = (asked.left, limits.budget.reached());
        if left == 0 {
            return Ok(Some(PlanEnd::done()));
        }
        if limits.stop.is_cancelled() {
            let is_asked = self.store.running_bench_plan().await?.is_some_and(|now| now.id == row.id && now.stop_asked);
            return Ok(is_asked.then(|| PlanEnd::stopped(&row.plan, left)));
        }
        Ok(Some(match reached {
            Some(limit) => PlanEnd::over_budget(&row.plan, limit, left),
            None => PlanEnd::failed(left, given_up),
        }))
    }
}

/// Returns the progress of the latest plan; `None` if there never was one.
///
/// # Errors
/// [`StoreError`].
pub async fn latest_plan(store: &Store, now: Timestamp) -> Result<Option<PlanProgress>, StoreError> {
    let Some(row) = store.bench_plans(1).await?.pop() else { return Ok(None) };
    let runs = store.bench_runs_of_plan(&row.id).await?;
    Ok(Some(PlanProgress::new(row, &runs, now)))
}

/// Requests that the running plan stop, which its instance then does. Returns whether there is a plan without an earlier stop request.
///
/// # Errors
/// [`StoreError`].
pub async fn stop_plan(store: &Store, rng: &SharedRng, clock: &dyn Clock, actor: &Actor) -> Result<bool, StoreError> {
    let Some(row) = store.running_bench_plan().await? else { return Ok(false) };
    let entry = actor.entry(rng, clock, AdminAction::StopBenchmarks, &subject(&row.id));
    store.ask_bench_plan_to_stop(&row.id, &entry).await
}

fn subject(id: &str) -> String {
    format!("plan {id}")
}

/// Returns a callback that logs batch events and stores the latest as what the plan waits for.
fn on_batch(waits_for: Arc<Mutex<String>>) -> OnBatch {
    Arc::new(move |event| {
        tracing::info!("{event}");
        // A provider's message may contain characters that databases reject.
        let text = event.to_string();
        *waits_for.lock() = text.chars().filter(|letter| !letter.is_control()).take(MAX_NOTE_CHARS).collect();
    })
}
