//! Several suites and rounds as one run, which a later one goes on with: all is checked and planned before anything is asked.

use std::sync::Arc;
use std::time::Duration;

use super::run_error::RunError;
use super::run_roles::Phases;
use super::suite_run::{OnRunProgress, Participation, ReadySuite, RunSession, StepOutcome, SuiteChoice, SuiteRun};
use tokio::time::timeout;

use crate::benchmark::locked_run::LockedRun;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::run_plan::{PlannedRun, PlannedSuite, RunPlan};
use crate::domain::benchmark::run_report::{PlannedStep, RequestPlan, RequestTotal, RunOutcome};
use crate::domain::judging::budget::{Budget, Spent};
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{PlanStep, Store};

/// How often a suite is looked at that another run has.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// A plan over every suite that has data.
///
/// # Errors
/// [`RunError::NoSuites`] where none has.
pub async fn all_suites(store: &Store) -> Result<RunPlan, RunError> {
    let mut suites: Vec<String> = store.bench_suites().await?.iter().map(|row| row.suite.to_string()).collect();
    suites.sort();
    suites.dedup();
    if suites.is_empty() {
        return Err(RunError::NoSuites);
    }
    Ok(RunPlan { suites: suites.into_iter().map(PlannedSuite::named).collect(), ..RunPlan::default() })
}

/// How all runs of a plan ask.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// Only the items that are the same in every run.
    pub canaries: bool,
    /// Whether to ask again what was refused or could not be read.
    pub retry_failed: bool,
    /// What may be spent over all.
    pub budget: Budget,
    /// The plan's id, where it is kept.
    pub id: Option<String>,
}

/// A plan whose runs have everything that they need.
pub struct OpenPlan<'s> {
    runs: Vec<OpenRun<'s>>,
}

/// A run of a plan, and what it was to ask at the start.
pub struct OpenRun<'s> {
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
    /// The progress of the run under way.
    pub show: OnRunProgress<'w>,
    /// A run, by its position in the plan, and how much is spent after it.
    pub ended: &'w (dyn Fn(usize, &SuiteRun<'_>, Spent) + Sync),
    /// A suite is taken by another run, and is waited for; without this it is an error.
    pub waits: Option<&'w (dyn Fn(&RunError) + Sync)>,
}

/// What came of a plan.
#[derive(Default)]
pub struct AskedPlan {
    /// The steps of each run that began, in their order.
    pub runs: Vec<Vec<StepOutcome>>,
    /// Results that are left, those of runs that did not begin included.
    pub left: u64,
}

impl AskedPlan {
    /// A number over all outcomes.
    #[must_use]
    pub fn sum(&self, number: fn(&RunOutcome) -> u64) -> u64 {
        self.runs.iter().flatten().flat_map(|(_, outcomes)| outcomes).map(number).sum()
    }
}

impl<'s> OpenPlan<'s> {
    /// Checks and plans every run.
    ///
    /// # Errors
    /// [`RunError`] for the first run that cannot be made.
    pub async fn open(session: &'s RunSession, plan: &RunPlan, options: &PlanOptions) -> Result<Self, RunError> {
        let mut runs = Vec::new();
        for (step, run) in (0..).zip(plan.runs()) {
            let id = options.id.clone();
            let step = id.map(|plan| PlanStep { plan, step });
            runs.push(OpenRun::new(session, plan, options, (run, step)).await?);
        }
        Ok(Self { runs })
    }

    /// The runs, in their order.
    #[must_use]
    pub fn runs(&self) -> &[OpenRun<'s>] {
        &self.runs
    }

    /// What each run would ask.
    #[must_use]
    pub fn steps(&self) -> Vec<PlannedStep> {
        self.runs.iter().map(OpenRun::planned).collect()
    }

    /// Asks suite after suite, until all is there or a limit is reached.
    ///
    /// # Errors
    /// [`RunError`] of the database, or of a suite that is taken.
    pub async fn ask(&self, limits: &Arc<RunLimits>, watch: PlanWatch<'_>) -> Result<AskedPlan, RunError> {
        let mut asked = AskedPlan::default();
        for (at, open) in self.runs.iter().enumerate() {
            let Some(held) = begin(&open.run, limits, watch).await? else { break };
            let steps = open.run.ask(&held, watch.show).await;
            held.release().await;
            asked.runs.push(steps?);
            (watch.ended)(at, &open.run, limits.budget.spent());
        }
        let waiting = self.runs.iter().skip(asked.runs.len()).flat_map(OpenRun::plans);
        asked.left = asked.sum(RunOutcome::left) + waiting.map(|plan| plan.open + plan.reused).sum::<u64>();
        Ok(asked)
    }
}

/// Takes the lock of a run; `None` where nothing more is to begin.
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
        // Either way the limits say whether to go on.
        let _ = timeout(LOOK_AGAIN, limits.stop.cancelled()).await;
    }
    Ok(None)
}

impl<'s> OpenRun<'s> {
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

    /// All its requests.
    pub fn plans(&self) -> impl Iterator<Item = &RequestPlan> {
        self.answers.iter().chain(&self.judgements)
    }

    fn planned(&self) -> PlannedStep {
        let (suite, sample) = (self.run.suite().to_owned(), self.run.sample());
        PlannedStep { suite, sample, total: RequestTotal::of(self.plans()) }
    }
}
