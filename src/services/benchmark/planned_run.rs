//! Run over several suites and rounds, which a later run can continue: all steps are checked and planned before the first request.

use std::sync::Arc;
use std::time::Duration;

use super::run_error::RunError;
use super::run_roles::Phases;
use super::suite_run::{OnRunProgress, Participation, ReadySuite, RunSession, StepOutcome, SuiteChoice, SuiteRun};
use tokio::time::timeout;

use crate::benchmark::locked_run::LockedRun;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::runs::run_plan::{PlannedRun, PlannedSuite, RunPlan};
use crate::domain::benchmark::runs::run_report::{PlannedStep, RequestPlan, RequestTotal, RunOutcome};
use crate::domain::judging::budget::{Budget, Spent};
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{PlanStep, Store};

/// Polling interval of the lock on a suite that another run holds.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Creates a plan over every suite that has data.
///
/// # Errors
/// [`RunError::NoSuites`] if none has data.
pub async fn all_suites(store: &Store) -> Result<RunPlan, RunError> {
    let mut suites: Vec<String> = store.bench_suites().await?.iter().map(|row| row.suite.to_string()).collect();
    suites.sort();
    suites.dedup();
    if suites.is_empty() {
        return Err(RunError::NoSuites);
    }
    Ok(RunPlan { suites: suites.into_iter().map(PlannedSuite::named).collect(), ..RunPlan::default() })
}

/// Options of all runs of a plan.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// Whether to use only the canary items, which are the same in every run.
    pub canaries: bool,
    /// Whether to repeat requests whose replies were refusals or unparsable.
    pub retry_failed: bool,
    /// Budget of the whole plan.
    pub budget: Budget,
    /// The plan's id, if it is stored.
    pub id: Option<String>,
}

/// Checked plan, ready to run.
pub struct CheckedPlan<'s> {
    runs: Vec<CheckedRun<'s>>,
}

/// Run of a plan, with its requests as planned at the start.
pub struct CheckedRun<'s> {
    /// The run.
    pub run: SuiteRun<'s>,
    /// Requests to models.
    pub answers: Vec<RequestPlan>,
    /// Requests to judges.
    pub judgements: Vec<RequestPlan>,
}

/// Progress events of a plan.
#[derive(Clone, Copy)]
pub struct PlanWatch<'w> {
    /// Progress callback of the current run.
    pub show: OnRunProgress<'w>,
    /// Called after a run with its position in the plan and the total spending.
    pub ended: &'w (dyn Fn(usize, &SuiteRun<'_>, Spent) + Sync),
    /// Called while waiting for a suite that another run holds; if `None`, a held suite is an error.
    pub waits: Option<&'w (dyn Fn(&RunError) + Sync)>,
}

/// Result of a plan.
#[derive(Default)]
pub struct PlanResult {
    /// Step outcomes of each run that began, in order.
    pub runs: Vec<Vec<StepOutcome>>,
    /// Number of missing results, including those of runs that did not begin.
    pub left: u64,
}

impl PlanResult {
    /// Sums a number over all outcomes.
    #[must_use]
    pub fn sum(&self, number: fn(&RunOutcome) -> u64) -> u64 {
        self.runs.iter().flatten().flat_map(|(_, outcomes)| outcomes).map(number).sum()
    }
}

impl<'s> CheckedPlan<'s> {
    /// Checks and plans every run.
    ///
    /// # Errors
    /// [`RunError`] of the first invalid run.
    pub async fn open(session: &'s RunSession, plan: &RunPlan, options: &PlanOptions) -> Result<Self, RunError> {
        let mut runs = Vec::new();
        for (step, run) in (0..).zip(plan.runs()) {
            let id = options.id.clone();
            let step = id.map(|plan| PlanStep { plan, step });
            runs.push(CheckedRun::new(session, plan, options, (run, step)).await?);
        }
        Ok(Self { runs })
    }

    /// Returns the runs in order.
    #[must_use]
    pub fn runs(&self) -> &[CheckedRun<'s>] {
        &self.runs
    }

    /// Returns the planned requests of each run.
    #[must_use]
    pub fn steps(&self) -> Vec<PlannedStep> {
        self.runs.iter().map(CheckedRun::planned).collect()
    }

    /// Runs suite after suite, until all results are stored or a limit is reached.
    ///
    /// # Errors
    /// [`RunError`] of the database, or of a suite that another run holds.
    pub async fn ask(&self, limits: &Arc<RunLimits>, watch: PlanWatch<'_>) -> Result<PlanResult, RunError> {
        let mut asked = PlanResult::default();
        for (at, open) in self.runs.iter().enumerate() {
            let Some(held) = begin(&open.run, limits, watch).await? else { break };
            let steps = open.run.ask(&held, watch.show).await;
            held.release().await;
            asked.runs.push(steps?);
            (watch.ended)(at, &open.run, limits.budget.spent());
        }
        let waiting = self.runs.iter().skip(asked.runs.len()).flat_map(CheckedRun::plans);
        asked.left = asked.sum(RunOutcome::left) + waiting.map(|plan| plan.open + plan.reused).sum::<u64>();
        Ok(asked)
    }
}

/// Acquires the lock of a run; `None` if a limit is reached or the plan is stopped.
async fn begin(
    run: &SuiteRun<'_>,
    limits: &Arc<RunLimits>,
    watch: PlanWatch<'_>,
) -> Result<Option<LockedRun>, RunError> {
    while !limits.are_reached() {
        let taken = match run.begin(Arc::clone(limits)).await {
            Err(taken @ RunError::SuiteTaken { .. }) => taken,
            begun => return begun.map(Some),
        };
        let Some(waits) = watch.waits else { return Err(taken) };
        waits(&taken);
        // Either way the limits decide whether to continue.
        let _ = timeout(RETRY_INTERVAL, limits.stop.cancelled()).await;
    }
    Ok(None)
}

impl<'s> CheckedRun<'s> {
    async fn new(
        session: &'s RunSession,
        plan: &RunPlan,
        options: &PlanOptions,
        (PlannedRun { suite, sample }, step): (PlannedRun, Option<PlanStep>),
    ) -> Result<Self, RunError> {
        let way = SuiteOptions {
            ablation: suite.ablation.clone(),
            compat: suite.compat.iter().cloned().collect(),
            ..SuiteOptions::default()
        };
        let choice = SuiteChoice {
            name: suite.suite.clone(),
            options: way,
            data: suite.data.clone(),
            sample,
            canaries: suite.canaries || options.canaries,
            seed: suite.seed.or(plan.seed),
        };
        let ready = ReadySuite::load(session, &choice).await?;
        let roles = plan.roles(&suite, ready.mode());
        let who = Participation { roles, budget: options.budget, retry_failed: options.retry_failed };
        let run = SuiteRun::new(ready, &who, Phases::Both).await?;
        let run = match step {
            Some(step) => run.as_step_of(step),
            None => run,
        };
        let (answers, judgements) = run.plans().await?;
        Ok(Self { run, answers, judgements })
    }

    /// Iterates over all requests of the run.
    pub fn plans(&self) -> impl Iterator<Item = &RequestPlan> {
        self.answers.iter().chain(&self.judgements)
    }

    fn planned(&self) -> PlannedStep {
        let (suite, sample) = (self.run.suite().to_owned(), self.run.sample());
        PlannedStep { suite, sample, total: RequestTotal::of(self.plans()) }
    }
}
