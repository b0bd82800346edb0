//! `langya bench runs`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::Location;
use crate::databases;
use crate::domain::time::Timestamp;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::storage::{BenchRunRow, IfMissing, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, cost_or_dash, or_dash, render};
use crate::output::times::show_time;

/// Flags of `langya bench runs`.
#[derive(Debug, Clone, Args)]
pub(super) struct RunsOptions {
    #[command(flatten)]
    location: Location,
    /// Maximum number of runs, the latest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Prints the latest runs with their progress and cost.
///
/// # Errors
/// A database failure.
pub(super) async fn run(options: &RunsOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let runs = match databases::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => store.bench_runs(options.limit).await?,
        Err(StoreError::Missing(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let now = SystemClock.now();
    let lines: Vec<PrintedRun> = runs.into_iter().map(|row| PrintedRun::new(row, now)).collect();
    print(&render(&lines, options.format)?)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct PrintedRun {
    run: String,
    suite: String,
    data: String,
    sample: u32,
    state: &'static str,
    models: Vec<String>,
    judges: Vec<String>,
    baseline: String,
    answers: u64,
    answers_due: u64,
    judgements: u64,
    judgements_due: u64,
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
    expected_cost: Option<f64>,
    started_at: String,
    changed_at: String,
    error: String,
}

impl PrintedRun {
    fn new(BenchRunRow { run, snapshot, changed_at }: BenchRunRow, now: Timestamp) -> Self {
        Self {
            data: run.version,
            state: snapshot.state.seen(changed_at, now).as_str(),
            models: run.models,
            judges: run.judges,
            answers: snapshot.answers.done,
            answers_due: snapshot.answers.due,
            judgements: snapshot.judgements.done,
            judgements_due: snapshot.judgements.due,
            calls: snapshot.spent.calls,
            input_tokens: snapshot.spent.tokens.input,
            output_tokens: snapshot.spent.tokens.output,
            cost: snapshot.spent.cost,
            expected_cost: run.expected_cost,
            started_at: show_time(run.started_at),
            changed_at: show_time(changed_at),
            error: snapshot.error,
            run: run.id,
            suite: run.suite,
            sample: run.sample,
            baseline: run.baseline,
        }
    }
}

impl TableRow for PrintedRun {
    const HEADS: &'static [&'static str] = &[
        "run",
        "started at",
        "suite",
        "state",
        "models",
        "judges",
        "answers",
        "judgements",
        "calls",
        "tokens in",
        "tokens out",
        "cost",
        "expected",
        "error",
    ];

    fn cells(&self) -> Vec<String> {
        // Without prices neither expected nor actual cost is known.
        vec![
            self.run.clone(),
            self.started_at.clone(),
            self.suite.clone(),
            self.state.to_owned(),
            self.models.join("+"),
            or_dash(&self.judges.join("+")),
            format!("{}/{}", self.answers, self.answers_due),
            format!("{}/{}", self.judgements, self.judgements_due),
            self.calls.to_string(),
            self.input_tokens.to_string(),
            self.output_tokens.to_string(),
            cost_or_dash(Some(self.cost).filter(|cost| *cost > 0.0 || self.expected_cost.is_some())),
            cost_or_dash(self.expected_cost),
            or_dash(&self.error),
        ]
    }
}
