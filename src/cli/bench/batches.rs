//! `--batch`: batch requests and their messages; `langya bench batches`: uncollected batches.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::open_existing_beside;
use crate::Location;
use crate::databases;
use crate::domain::benchmark::runs::run_plan::RunPlan;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::plural::counted;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::{BatchRowState, BenchBatchRow, IfMissing, Store, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::model_run::PhaseBar;
use crate::model_run::clients::BudgetFlags;
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, render, value_or_dash};
use crate::output::times::show_time;
use crate::services::benchmark::batches::BatchOptions;
use crate::services::benchmark::suite_run::RunSession;

/// Whether requests are sent in batches.
#[derive(Debug, Clone, Args)]
pub(super) struct BatchFlag {
    /// Send the requests through the provider's batch API, which costs less and answers within a day (OpenAI, Anthropic).
    /// Replies to batches of earlier runs are collected with or without this flag, and not requested again
    #[arg(long)]
    batch: bool,
}

impl BatchFlag {
    /// Combines the flag with the setting of a plan.
    pub(super) fn or_of(&self, plan: &RunPlan) -> Self {
        Self { batch: self.batch || plan.batch }
    }

    /// Applies the flag to a session, with batch events printed above the bar.
    pub(super) fn session(&self, session: RunSession, bar: &Arc<PhaseBar>) -> RunSession {
        let bar = Arc::clone(bar);
        let batches =
            BatchOptions { sends: self.batch, on_batch: Arc::new(move |note| bar.print_line(&note.to_string())) };
        RunSession { batches, ..session }
    }

    /// Returns the limits of a run.
    pub(super) fn limits(&self, budget: &BudgetFlags) -> CommandResult<RunLimits> {
        match self.batch {
            true => budget.limits_with_message(
                "stopping: nothing more is sent, and batches that were sent continue at the provider",
            ),
            false => budget.limits(),
        }
    }

    /// Prints an explanation of a plan's numbers with batches.
    pub(super) fn print_plan_legend(&self) {
        if self.batch {
            eprintln!("costs are those of batches: each model's prices times its batch_price (0.5 if not set)");
        }
    }
}

/// Prints uncollected batches of these suites, and how to continue.
pub(super) async fn print_open_batches(
    session: &RunSession,
    suites: impl Iterator<Item = &str>,
) -> Result<(), StoreError> {
    let mut told: Vec<&str> = Vec::new();
    for suite in suites {
        if told.contains(&suite) {
            continue;
        }
        told.push(suite);
        let open = session.store.open_bench_batches(&SuiteId::new(suite)).await?;
        open.iter().filter(|row| row.state != BatchRowState::Ended).for_each(print_batch);
    }
    Ok(())
}

fn print_batch(row: &BenchBatchRow) {
    let BenchBatchRow { id, suite, model, requests, provider_id, .. } = row;
    let requests = counted(requests.len(), "request", "requests");
    match provider_id {
        Some(name) => eprintln!(
            "batch {name} of model {model} ({requests}, suite {suite}) is at the provider: the next run of the suite \
             collects its replies; to abandon it, run `langya bench batches --forget {id}`"
        ),
        None => eprintln!(
            "a batch of model {model} ({requests}, suite {suite}) may be at the provider: the next run of the suite looks \
             for it before it repeats the requests; to abandon it, run `langya bench batches --forget {id}`"
        ),
    }
}

/// Flags of `langya bench batches`.
#[derive(Debug, Clone, Args)]
pub(super) struct BatchesOptions {
    #[command(flatten)]
    location: Location,
    /// Give up this batch, by its id or the provider's: no later run looks for it, and its requests are sent again. The provider may
    /// still charge for it
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    forget: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Prints uncollected batches, or abandons one.
///
/// # Errors
/// A batch that is not open, or a database failure.
pub(super) async fn batches(options: &BatchesOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    if let Some(id) = &options.forget {
        forget(&open_existing_beside(&settings).await?, id).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = match databases::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => store.all_open_bench_batches().await?,
        Err(StoreError::Missing(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let lines: Vec<BatchLine> = rows.into_iter().map(BatchLine::new).collect();
    print(&render(&lines, options.format)?)?;
    Ok(ExitCode::SUCCESS)
}

async fn forget(store: &Store, id: &str) -> CommandResult<()> {
    let open = store.all_open_bench_batches().await?;
    let mut found = open.iter().filter(|row| row.id == id || row.provider_id.as_deref() == Some(id));
    let unknown = || BadInput(format!("no open batch has the id {id:?}: `langya bench batches` lists the open ones"));
    let row = found.next().ok_or_else(unknown)?;
    if found.next().is_some() {
        let said =
            format!("several providers call a batch {id:?}: name it by the first column of `langya bench batches`");
        return Err(BadInput(said).into());
    }
    if !store.forget_bench_batch(&row.id, SystemClock.now()).await? {
        return Err(unknown().into());
    }
    let BenchBatchRow { suite, model, requests, .. } = row;
    let requests = counted(requests.len(), "request", "requests");
    eprintln!(
        "the batch of model {model} is given up: the provider may still charge for it, and the next run over suite {suite} asks its \
         {requests} again"
    );
    Ok(())
}

#[derive(Serialize)]
struct BatchLine {
    batch: String,
    suite: String,
    model: String,
    provider_id: Option<String>,
    requests: usize,
    state: &'static str,
    created_at: String,
}

impl BatchLine {
    fn new(row: BenchBatchRow) -> Self {
        let BenchBatchRow { id, suite, model, provider_id, requests, state, created_at } = row;
        Self {
            batch: id,
            suite: suite.to_string(),
            model: model.to_string(),
            provider_id,
            requests: requests.len(),
            state: state.as_str(),
            created_at: show_time(created_at),
        }
    }
}

impl TableRow for BatchLine {
    const HEADS: &'static [&'static str] =
        &["batch", "suite", "model", "at the provider", "requests", "state", "made at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.batch.clone(),
            self.suite.clone(),
            self.model.clone(),
            value_or_dash(self.provider_id.as_ref()),
            self.requests.to_string(),
            self.state.to_owned(),
            self.created_at.clone(),
        ]
    }
}
