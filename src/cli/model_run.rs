//! Run of a command that queries models, within a budget: `bench`, `judge`, `campaign` and `label`. Takes its lock, shows its progress, and
//! prints its outcome.

pub(super) mod clients;
pub(super) mod rows;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use parking_lot::Mutex;

use self::clients::BudgetFlags;
use self::rows::{OutcomeRow, PlanRow, left_over};
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::judging::budget::{Budget, Spent};
use crate::error::{BadInput, CommandResult};
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::Store;
use crate::output::output_format::OutputFormat;
use crate::output::progress::BenchBar;
use crate::output::standard_output::print;
use crate::output::table::render;
use crate::services::benchmark::RunProgress;
use crate::services::benchmark::locked_run::LockedRun;
use crate::services::benchmark::run_record::RunPhase;

/// Limits and output of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitFlags {
    /// Print the number of requests and their expected cost, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetFlags,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

impl LimitFlags {
    /// Returns the limits that a run has to keep. A dry run spends nothing, so it needs no prices.
    pub(crate) fn kept(&self, budget: &BudgetFlags) -> Budget {
        match self.dry_run {
            true => Budget { max_cost: None, ..budget.amounts() },
            false => budget.amounts(),
        }
    }
}

/// Acquires a lock, or fails with the text `taken`.
pub(crate) async fn begin(store: &Store, lock: &str, taken: &str, limits: Arc<RunLimits>) -> CommandResult<LockedRun> {
    let run = LockedRun::begin(store, lock, limits).await?;
    Ok(run.ok_or_else(|| BadInput(taken.to_owned()))?)
}

/// Releases the lock and prints the outcome of the run. Reaching the budget is a success; failures and interruptions are not.
pub(crate) async fn end(
    run: LockedRun,
    rows: Vec<OutcomeRow>,
    outcomes: &[RunOutcome],
    format: OutputFormat,
) -> CommandResult<ExitCode> {
    let limits = run.release().await;
    print(&render(&rows, format)?)?;
    let sum = |number: fn(&RunOutcome) -> u64| outcomes.iter().map(number).sum();
    Ok(left_over(sum(RunOutcome::left), sum(|outcome| outcome.refused), &limits))
}

/// Progress bar of a run, one for each phase.
#[derive(Default)]
pub(crate) struct PhaseBar(Mutex<Option<(RunPhase, BenchBar)>>);

impl PhaseBar {
    /// Shows the progress of a phase.
    pub(crate) fn show(&self, phase: RunPhase, progress: RunProgress, spent: Spent) {
        let mut shown = self.0.lock();
        if shown.as_ref().is_none_or(|(of, _)| *of != phase) {
            // Drops the previous bar first, which removes it.
            *shown = None;
            let what = match phase {
                RunPhase::Answering => "answering",
                RunPhase::Judging => "judging",
            };
            *shown = Some((phase, BenchBar::new(what)));
        }
        if let Some((_, bar)) = &*shown {
            bar.show(progress, spent);
        }
    }

    /// Prints a line, above the bar if there is one.
    pub(crate) fn print_line(&self, line: &str) {
        match &*self.0.lock() {
            Some((_, bar)) => bar.print_line(line),
            None => eprintln!("{line}"),
        }
    }

    /// Removes the bar, before other output.
    pub(crate) fn clear(&self) {
        *self.0.lock() = None;
    }
}

/// Prints the planned requests.
pub(crate) fn print_plans(mut rows: Vec<PlanRow>, format: OutputFormat) -> CommandResult<ExitCode> {
    rows.push(PlanRow::total(&rows));
    print(&render(&rows, format)?)?;
    let asked = rows.iter().filter(|row| !row.model.is_empty());
    print_unpriced(asked.map(|row| (row.model.as_str(), row.calls, row.cost)));
    Ok(print_plan_legend())
}

/// Prints the models without prices, whose cost is unknown.
pub(crate) fn print_unpriced<'p>(plans: impl Iterator<Item = (&'p str, u64, Option<f64>)>) {
    let unpriced = plans.filter(|(_, calls, cost)| *calls > 0 && cost.is_none());
    let unpriced: BTreeSet<&str> = unpriced.map(|(model, ..)| model).collect();
    if !unpriced.is_empty() {
        let names = unpriced.into_iter().collect::<Vec<_>>().join(", ");
        eprintln!("no prices for {names}: set them with langya models set ID --input-price … --output-price …");
    }
}

/// Prints an explanation of a plan's numbers.
pub(crate) fn print_plan_legend() -> ExitCode {
    eprintln!(
        "expected: with retries at the rate seen so far; at most: no reply is usable, every request is tried [bench] attempts \
         times, and every reply has the maximum length (max_tokens; where a request sends none, the longest reply so far, or the \
         estimate)"
    );
    if std::io::stderr().is_terminal() {
        eprintln!("dry run: no request was sent; run again without --dry-run to start");
    }
    ExitCode::SUCCESS
}
