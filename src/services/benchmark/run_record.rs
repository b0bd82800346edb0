//! Updates the database row of a run while it works, for observers.

use std::convert::Infallible;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval};

use super::RunProgress;
use crate::domain::benchmark::runs::run_report::{RequestPlan, RunOutcome};
use crate::domain::benchmark::runs::run_state::{DueCount, RunSnapshot, RunState, RunStop};
use crate::domain::judging::budget::{BudgetTracker, Spent};
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{NewBenchRun, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Interval of updates to the row.
const WRITE_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum length of the stored error in characters.
const MAX_ERROR_CHARS: usize = 500;

/// Current phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// Querying models.
    Answering,
    /// Querying judges.
    Judging,
}

/// Database row of a run.
pub struct RunRecord<'r> {
    store: &'r Store,
    clock: &'r dyn Clock,
    id: String,
    /// Spending before the run began, if several runs share a budget.
    before: Spent,
    snapshot: Mutex<RunSnapshot>,
}

impl<'r> RunRecord<'r> {
    /// Stores the start of a run, with the spending before it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin(
        store: &'r Store,
        clock: &'r dyn Clock,
        run: NewBenchRun,
        before: Spent,
    ) -> Result<Self, StoreError> {
        store.insert_bench_run(&run).await?;
        let (answers, judgements) = (run.answers, run.judgements);
        let (state, spent, error) = (RunState::Running, Spent::default(), String::new());
        let snapshot = Mutex::new(RunSnapshot { state, answers, judgements, spent, error });
        Ok(Self { store, clock, id: run.id, before, snapshot })
    }

    /// Records the progress of a phase.
    pub fn note(&self, phase: RunPhase, RunProgress { done, total }: RunProgress) {
        let mut snapshot = self.snapshot.lock();
        let count = match phase {
            RunPhase::Answering => &mut snapshot.answers,
            RunPhase::Judging => &mut snapshot.judgements,
        };
        *count = DueCount { done, due: total };
    }

    /// Records the failures of a phase.
    pub fn note_failures(&self, outcomes: &[RunOutcome]) {
        let failed = outcomes.iter().filter(|outcome| !outcome.failed.is_empty());
        let words: Vec<String> = failed.map(|outcome| format!("{}: {}", outcome.model, outcome.failures())).collect();
        if !words.is_empty() {
            self.snapshot.lock().error = truncate_error(&words.join("; "));
        }
    }

    /// Runs the work and updates the row meanwhile.
    pub async fn follow<T>(&self, budget: &BudgetTracker, work: impl Future<Output = T>) -> T {
        let write = async {
            let mut ticker = interval(WRITE_INTERVAL);
            ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticker.tick().await;
                // The row is informational: the run continues without it, and the next write includes this state.
                let _ = self.write(budget.spent()).await;
            }
        };
        let never: Infallible = tokio::select! {
            done = work => return done,
            never = write => never,
        };
        match never {}
    }

    /// Stores the end of the run: its outcome, or its error.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end<E: ToString>(self, limits: &RunLimits, outcomes: Result<u64, &E>) -> Result<(), StoreError> {
        let stop = match (limits.stop.is_cancelled(), limits.budget.is_exhausted()) {
            (true, _) => RunStop::Signal,
            (false, true) => RunStop::Budget,
            (false, false) => RunStop::Nothing,
        };
        {
            let mut snapshot = self.snapshot.lock();
            match outcomes {
                Ok(left) => snapshot.state = RunState::at_end(left, stop),
                Err(error) => {
                    snapshot.state = RunState::Failed;
                    snapshot.error = truncate_error(&error.to_string());
                }
            }
        }
        self.write(limits.budget.spent()).await
    }

    async fn write(&self, spent: Spent) -> Result<(), StoreError> {
        let snapshot = RunSnapshot { spent: spent.since(self.before), ..self.snapshot.lock().clone() };
        self.store.update_bench_run(&self.id, &snapshot, self.clock.now()).await
    }
}

/// Sums the results and cost of plans; a cost only if all clients have prices.
#[must_use]
pub fn planned(plans: &[RequestPlan]) -> (DueCount, Option<f64>) {
    let count = |results: fn(&RequestPlan) -> u64| plans.iter().map(results).sum::<u64>();
    let (done, open) = (count(|plan| plan.done), count(|plan| plan.reused + plan.open));
    let cost = plans.iter().filter(|plan| plan.open > 0).map(|plan| plan.cost).sum();
    (DueCount { done, due: done + open }, cost)
}

fn truncate_error(text: &str) -> String {
    text.chars().take(MAX_ERROR_CHARS).collect()
}
