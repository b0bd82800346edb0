//! `langya bench plans` and `langya bench stop`: the plans that the server runs.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::open_existing_beside;
use crate::Location;
use crate::actor::actor;
use crate::databases;
use crate::domain::benchmark::plan_progress::PlanProgress;
use crate::domain::benchmark::runs::run_plan::RunPlan;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, cost_or_dash, or_dash, render};
use crate::output::times::show_time;
use crate::services::benchmark::plans::stop_plan;

/// Flags of `langya bench plans`.
#[derive(Debug, Clone, Args)]
pub(super) struct PlansOptions {
    #[command(flatten)]
    location: Location,
    /// Maximum number of plans, the latest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Flags of `langya bench stop`.
#[derive(Debug, Clone, Args)]
pub(super) struct StopOptions {
    #[command(flatten)]
    location: Location,
}

/// Prints the latest plans with their progress and cost.
///
/// # Errors
/// A database failure.
pub(super) async fn list(options: &PlansOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let lines = match databases::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => lines(&store, options.limit).await?,
        Err(StoreError::Missing(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    print(&render(&lines, options.format)?)?;
    Ok(ExitCode::SUCCESS)
}

async fn lines(store: &Store, limit: u32) -> Result<Vec<PlanLine>, StoreError> {
    let now = SystemClock.now();
    let mut lines = Vec::new();
    for row in store.bench_plans(limit).await? {
        let runs = store.bench_runs_of_plan(&row.id).await?;
        lines.push(PlanLine::new(PlanProgress::new(row, &runs, now)));
    }
    Ok(lines)
}

/// Requests that the running plan stop.
///
/// # Errors
/// No running plan, or a database failure.
pub(super) async fn stop(options: &StopOptions, env: &Environment) -> CommandResult<ExitCode> {
    let store = open_existing_beside(&options.location.settings(env)?).await?;
    let rng = SharedRng::from_system();
    if !stop_plan(&store, &rng, &SystemClock, &actor(env)).await? {
        let said = "no plan is running: `langya bench plans` lists all plans and their states";
        return Err(BadInput(said.to_owned()).into());
    }
    eprintln!(
        "the plan is being stopped: requests under way are finished, and `langya bench plans` shows how it ended"
    );
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct PlanLine {
    plan: String,
    started_at: String,
    started_by: String,
    state: &'static str,
    suites: Vec<String>,
    models: Vec<String>,
    judges: Vec<String>,
    calls: u64,
    expected_calls: u64,
    cost: f64,
    expected_cost: Option<f64>,
    changed_at: String,
    note: String,
}

impl PlanLine {
    fn new(progress: PlanProgress) -> Self {
        let PlanProgress { row, state, spent, expected, .. } = progress;
        let RunPlan { suites, models, judges, .. } = row.plan;
        Self {
            plan: row.id,
            started_at: show_time(row.started_at),
            started_by: row.started_by,
            state: state.as_str(),
            suites: suites.into_iter().map(|suite| suite.suite).collect(),
            calls: spent.calls,
            expected_calls: expected.calls,
            cost: spent.cost,
            expected_cost: expected.cost,
            changed_at: show_time(row.changed_at),
            note: row.note,
            models,
            judges,
        }
    }
}

impl TableRow for PlanLine {
    const HEADS: &'static [&'static str] =
        &["plan", "started at", "by", "state", "suites", "models", "judges", "calls", "cost", "expected", "note"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.plan.clone(),
            self.started_at.clone(),
            or_dash(&self.started_by),
            self.state.to_owned(),
            self.suites.join("+"),
            self.models.join("+"),
            or_dash(&self.judges.join("+")),
            format!("{}/{}", self.calls, self.expected_calls),
            format!("{:.4}", self.cost),
            cost_or_dash(self.expected_cost),
            or_dash(&self.note),
        ]
    }
}
