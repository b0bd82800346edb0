//! Runs benchmark requests under the lock of the suite, within the budget, until a signal stops them.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::sync::Mutex;

use super::rows::{OutcomeRow, PlanRow, left_over};
use crate::cli::bench::model_clients::BudgetFlags;
use crate::cli::error::{BadInput, CommandResult};
use crate::cli::models::{Format, render};
use crate::cli::output::print;
use crate::domain::benchmark::run_report::RunOutcome;
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{JobLock, Store};

/// How often a lock that another machine grants is looked after.
const LOCK_CHECK: Duration = Duration::from_secs(5);

/// What a run may spend, and how it speaks.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct LimitFlags {
    /// Say what would be asked and what it would cost, and ask nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) budget: BudgetFlags,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t)]
    pub(in crate::cli) format: Format,
}

/// A run that has begun.
pub(in crate::cli) struct Run {
    lock: Mutex<Option<JobLock>>,
    /// What it may spend, and whether it is to end.
    pub(in crate::cli) limits: Arc<RunLimits>,
}

impl Run {
    /// Takes a lock, or says that it is taken.
    pub(in crate::cli) async fn begin(
        store: &Store,
        lock: &str,
        taken: String,
        limits: Arc<RunLimits>,
    ) -> CommandResult<Self> {
        let lock = store.command_lock(lock).await?.ok_or(BadInput(taken))?;
        Ok(Self { lock: Mutex::new(Some(lock)), limits })
    }

    /// Does the work, and stops it where the lock is lost: another process may have it then.
    pub(in crate::cli) async fn until_lock_is_lost<T>(&self, work: impl Future<Output = T>) -> T {
        let watch = async {
            loop {
                tokio::time::sleep(LOCK_CHECK).await;
                let held = match self.lock.lock().await.as_mut() {
                    Some(lock) => lock.is_held().await,
                    None => true,
                };
                if !held {
                    eprintln!("stopping: the database does not hold this run's lock any more");
                    self.limits.stop.cancel();
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            done = work => done,
            never = watch => never,
        }
    }

    /// Says what came of it. A budget that was kept is a success; what failed or was stopped is not.
    pub(in crate::cli) async fn end(
        self,
        rows: Vec<OutcomeRow>,
        outcomes: &[RunOutcome],
        format: Format,
    ) -> CommandResult<ExitCode> {
        let limits = self.release().await;
        print(&render(&rows, format)?)?;
        let sum = |number: fn(&RunOutcome) -> u64| outcomes.iter().map(number).sum();
        Ok(left_over(sum(RunOutcome::left), sum(|outcome| outcome.refused), &limits))
    }

    /// Gives the lock back.
    pub(in crate::cli) async fn release(self) -> Arc<RunLimits> {
        if let Some(lock) = self.lock.into_inner() {
            lock.release().await;
        }
        self.limits
    }
}

/// Says what would be asked.
pub(in crate::cli) fn print_plans(mut rows: Vec<PlanRow>, format: Format) -> CommandResult<ExitCode> {
    rows.push(PlanRow::total(&rows));
    print(&render(&rows, format)?)?;
    Ok(tell_of_plan())
}

/// Says what the figures of a plan mean.
pub(in crate::cli) fn tell_of_plan() -> ExitCode {
    eprintln!(
        "expected with re-asks and retries as they went so far; at most: no reply settles anything, every request is tried as \
         often as [bench] attempts says, and every reply is as long as it may be"
    );
    if std::io::stderr().is_terminal() {
        eprintln!("nothing was asked: leave --dry-run out to begin");
    }
    ExitCode::SUCCESS
}
