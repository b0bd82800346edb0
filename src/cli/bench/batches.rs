//! `--batch`: requests that are sent in batches, and what is said of them.

use std::sync::Arc;

use clap::Args;

use super::clients::BudgetFlags;
use super::run::PhaseBar;
use crate::cli::error::CommandResult;
use crate::domain::benchmark::run_plan::RunPlan;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{BatchRowState, BenchBatchRow, StoreError};
use crate::services::benchmark::batches::BatchOptions;
use crate::services::benchmark::suite_run::RunSession;

/// Whether requests are sent in batches.
#[derive(Debug, Clone, Args)]
pub(super) struct BatchFlag {
    /// Send the requests in batches, for models whose providers answer them within a day for less (OpenAI, Anthropic). What an
    /// earlier run sent in batches is taken with this flag and without it, and is not asked again
    #[arg(long)]
    batch: bool,
}

impl BatchFlag {
    /// The flag, or what a plan says.
    pub(super) fn or_of(&self, plan: &RunPlan) -> Self {
        Self { batch: self.batch || plan.batch }
    }

    /// A session whose runs send as the flag says, and speak above a bar.
    pub(super) fn session(&self, session: RunSession, bar: &Arc<PhaseBar>) -> RunSession {
        let bar = Arc::clone(bar);
        let batches = BatchOptions { sends: self.batch, on_batch: Arc::new(move |note| bar.say(&note.to_string())) };
        RunSession { batches, ..session }
    }

    /// The limits of a run.
    pub(super) fn limits(&self, budget: &BudgetFlags) -> CommandResult<RunLimits> {
        match self.batch {
            true => budget
                .limits_that_say("stopping: nothing more is sent, and batches that were sent go on at the provider"),
            false => budget.limits(),
        }
    }

    /// Says what a plan means with it.
    pub(super) fn tell_of_plan(&self) {
        if self.batch {
            eprintln!(
                "costs are those of batches: batch_price of each model's prices, half of them where it is not set"
            );
        }
    }
}

/// Names the batches about these suites that are not taken yet, and how to go on.
pub(super) async fn tell_open(session: &RunSession, suites: impl Iterator<Item = &str>) -> Result<(), StoreError> {
    let mut told: Vec<&str> = Vec::new();
    for suite in suites {
        if told.contains(&suite) {
            continue;
        }
        told.push(suite);
        let open = session.store.open_bench_batches(&SuiteId::new(suite)).await?;
        open.iter().filter(|row| row.state != BatchRowState::Ended).for_each(tell);
    }
    Ok(())
}

fn tell(row: &BenchBatchRow) {
    let BenchBatchRow { suite, model, requests, provider_id, .. } = row;
    let requests = requests.len();
    match provider_id {
        Some(id) => eprintln!(
            "batch {id} of model {model} with {requests} requests of suite {suite} is at the provider: a run over the suite takes \
             its replies, and does not ask them again"
        ),
        None => eprintln!(
            "a batch of model {model} with {requests} requests of suite {suite} may be at the provider: a run over the suite looks \
             for it before it asks them again"
        ),
    }
}
