//! `langya bench run all` and `langya bench run PLAN.toml`: resumable run over several suites and rounds.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use tokio::time::Instant;

use super::answer_and_judge::{BenchJudgeOptions, print_changed_settings, print_partial_judges};
use super::batches::print_open_batches;
use super::{RunSelectorFlags, read_text, session};
use crate::domain::benchmark::runs::run_plan::RunPlan;
use crate::domain::benchmark::runs::run_report::{PlannedStep, RequestTotal};
use crate::domain::benchmark::runs::run_state::time_left;
use crate::domain::judging::budget::Spent;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::llm::model_client::RunLimits;
use crate::infra::storage::Store;
use crate::model_run::clients::print_given_up;
use crate::model_run::rows::{OutcomeRow, failed_if_unreadable, left_over, outcome_rows};
use crate::model_run::{PhaseBar, print_plan_legend, print_unpriced};
use crate::output::standard_output::print;
use crate::output::table::{TableRow, cost_or_dash, or_dash, render, value_or_dash};
use crate::services::benchmark::planned_run::{
    CheckedPlan, CheckedRun, PlanOptions, PlanResult, PlanWatch, all_suites,
};
use crate::services::benchmark::run_roles::Phases;
use crate::services::benchmark::suite_run::SuiteRun;

/// Name that selects every suite with data.
const ALL_SUITES: &str = "all";

/// Whether a name selects a plan file, or all suites.
pub(super) fn is_plan(name: &str) -> bool {
    name == ALL_SUITES || Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Runs a plan, or prints its planned requests.
pub(super) async fn run(options: BenchJudgeOptions, env: &Environment) -> CommandResult<ExitCode> {
    options.check_references(Phases::Both)?;
    check_single_suite_flags(&options.suite.way)?;
    let bar = Arc::new(PhaseBar::default());
    let session = session::open(&options.location, &options.limits, env).await?;
    let plan = plan_of(&options, &session.store).await?;
    let batch = options.batch.or_of(&plan);
    let session = batch.session(session, &bar);
    let budget = options.limits.budget.or(plan.budget, plan.max_calls);
    let (canaries, retry_failed) = (options.suite.canaries, options.retry_failed);
    let plan_options = PlanOptions { canaries, retry_failed, budget: options.limits.kept(&budget), id: None };
    let open = CheckedPlan::open(&session, &plan, &plan_options).await?;
    for run in open.runs() {
        print_partial_judges(&run.run);
        print_changed_settings(&run.run.changed_settings().await?);
    }
    let format = options.limits.format;
    let suites = || open.runs().iter().map(|run| run.run.suite());
    if options.limits.dry_run {
        let steps = open.steps();
        let total = RequestTotal::sum(steps.iter().map(|step| step.total));
        let mut rows: Vec<SuitePlanRow> = steps.into_iter().map(SuitePlanRow::new).collect();
        rows.push(SuitePlanRow { suite: "all".to_owned(), sample: None, total });
        print(&render(&rows, format)?)?;
        let plans = open.runs().iter().flat_map(CheckedRun::plans);
        batch.print_plan_legend();
        print_open_batches(&session, suites()).await?;
        print_unpriced(plans.map(|plan| (plan.model.as_str(), plan.calls, plan.cost)));
        return Ok(print_plan_legend());
    }
    let limits = Arc::new(batch.limits(&budget)?);
    let asked = ask(&open, &limits, &bar).await;
    print_given_up(&session.clients, open.runs().iter().flat_map(|run| run.run.clients()));
    print_open_batches(&session, suites()).await?;
    let asked = asked?;
    print(&render(&rows(&open, &asked), format)?)?;
    let code = left_over(asked.left, asked.sum(|outcome| outcome.refused), &limits);
    Ok(failed_if_unreadable(asked.runs.iter().flatten().flat_map(|(_, outcomes)| outcomes), code))
}

/// Runs suite after suite, and prints the progress after each.
async fn ask(open: &CheckedPlan<'_>, limits: &Arc<RunLimits>, bar: &PhaseBar) -> CommandResult<PlanResult> {
    let progress = WholeProgress::new(open.runs());
    let watch = PlanWatch {
        show: &|phase, done, spent| bar.show(phase, done, spent),
        ended: &|at, run, spent| {
            bar.clear();
            eprintln!("{}", progress.after(at, run, spent));
        },
        waits: None,
    };
    let asked = open.ask(limits, watch).await;
    bar.clear();
    Ok(asked?)
}

/// Returns the outcome rows of the runs that began.
fn rows(open: &CheckedPlan<'_>, asked: &PlanResult) -> Vec<SuiteOutcomeRow> {
    let runs = open.runs().iter().zip(&asked.runs);
    let rows = runs.flat_map(|(run, steps)| {
        let outcomes = steps.iter().flat_map(|(step, outcomes)| outcome_rows(step, outcomes));
        outcomes.map(|outcome| SuiteOutcomeRow::new(&run.run, outcome)).collect::<Vec<_>>()
    });
    rows.collect()
}

/// Rejects flags that belong to a single suite, which a plan sets itself.
fn check_single_suite_flags(way: &RunSelectorFlags) -> Result<(), BadInput> {
    let own = [
        ("--ablation", way.ablation.is_some()),
        ("--prompt", way.prompt.is_some()),
        ("--compat", !way.compat.is_empty()),
        ("--data", way.data.is_some()),
        ("--round", way.sample != 1),
    ];
    match own.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(BadInput(format!(
            "{flag} is about one suite: write it under [[suites]] of a plan, or run the suite alone"
        ))),
    }
}

/// Reads the plan from the file, or creates one of every suite with data; flags override its defaults.
async fn plan_of(options: &BenchJudgeOptions, store: &Store) -> CommandResult<RunPlan> {
    let name = options.suite.name.as_str();
    let mut plan = if name == ALL_SUITES {
        all_suites(store).await?
    } else {
        let text = read_text(Path::new(name))?;
        RunPlan::parse(&text).map_err(|error| BadInput(format!("{name}: {error}")))?
    };
    if !options.models.is_empty() {
        plan.models.clone_from(&options.models);
    }
    if !options.judge.is_empty() {
        plan.judges.clone_from(&options.judge);
    }
    plan.baseline = options.baseline.clone().or(plan.baseline);
    plan.seed = options.suite.seed.or(plan.seed);
    Ok(plan)
}

/// Progress of the whole plan.
struct WholeProgress {
    started: Instant,
    runs: usize,
    calls: u64,
    /// Expected cost; `None` if a model has no prices.
    cost: Option<f64>,
}

impl WholeProgress {
    fn new(runs: &[CheckedRun<'_>]) -> Self {
        let plans = || runs.iter().flat_map(CheckedRun::plans).filter(|plan| plan.open > 0);
        let (calls, cost) = (plans().map(|plan| plan.calls).sum(), plans().map(|plan| plan.cost).sum());
        Self { started: Instant::now(), runs: runs.len(), calls, cost }
    }

    /// Formats the line after a run: spending relative to the expected cost, and the estimated remaining time.
    fn after(&self, at: usize, run: &SuiteRun<'_>, spent: Spent) -> String {
        let cost = match self.cost {
            Some(expected) => format!("cost {:.4} of {expected:.4} expected", spent.cost),
            None if spent.cost > 0.0 => format!("cost {:.4}, without models that have no prices", spent.cost),
            None => "cost unknown (no prices)".to_owned(),
        };
        let left = time_left(self.started.elapsed().as_secs(), spent.calls, self.calls);
        let left = left.map_or_else(String::new, |seconds| format!(", about {} min left", seconds.div_ceil(60)));
        format!(
            "{}/{} {}, round {}: {} of {} requests, {cost}{left}",
            at + 1,
            self.runs,
            run.suite(),
            run.sample(),
            spent.calls,
            self.calls
        )
    }
}

/// Output row of a suite's planned requests.
#[derive(Debug, Clone, Serialize)]
struct SuitePlanRow {
    suite: String,
    sample: Option<u32>,
    #[serde(flatten)]
    total: RequestTotal,
}

impl SuitePlanRow {
    fn new(PlannedStep { suite, sample, total }: PlannedStep) -> Self {
        Self { suite, sample: Some(sample), total }
    }
}

impl TableRow for SuitePlanRow {
    const HEADS: &'static [&'static str] =
        &["suite", "round", "done", "reused", "requests", "at most", "tokens in", "tokens out", "cost", "at most"];

    fn cells(&self) -> Vec<String> {
        let RequestTotal { done, reused, calls, worst_calls, input_tokens, output_tokens, .. } = self.total;
        let mut cells = vec![self.suite.clone(), value_or_dash(self.sample)];
        let numbers = [done, reused, calls, worst_calls, input_tokens, output_tokens];
        cells.extend(numbers.map(|number| number.to_string()));
        cells.extend([cost_or_dash(self.total.cost), cost_or_dash(self.total.worst_cost)]);
        cells
    }
}

/// Output row of a step's outcome.
#[derive(Debug, Clone, Serialize)]
struct SuiteOutcomeRow {
    suite: String,
    sample: u32,
    step: &'static str,
    model: String,
    total: u64,
    before: u64,
    kept: u64,
    reused: u64,
    refused: u64,
    left: u64,
    failed: String,
}

impl SuiteOutcomeRow {
    fn new(run: &SuiteRun<'_>, outcome: OutcomeRow) -> Self {
        let OutcomeRow { step, model, total, before, kept, reused, refused, left, failed } = outcome;
        let (suite, sample) = (run.suite().to_owned(), run.sample());
        Self { suite, sample, step, model, total, before, kept, reused, refused, left, failed }
    }
}

impl TableRow for SuiteOutcomeRow {
    const HEADS: &'static [&'static str] =
        &["suite", "round", "step", "model", "all", "before", "now", "reused", "refused", "left", "failed"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.suite.clone(),
            self.sample.to_string(),
            self.step.to_owned(),
            or_dash(&self.model),
            self.total.to_string(),
            self.before.to_string(),
            self.kept.to_string(),
            self.reused.to_string(),
            self.refused.to_string(),
            self.left.to_string(),
            or_dash(&self.failed),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_distinguished_from_a_suite_by_its_name() {
        assert!(is_plan("all") && is_plan("a/plan.toml") && is_plan("PLAN.TOML"));
        assert!(!is_plan("alignbench") && !is_plan("toml") && !is_plan("all-of-it"));
    }
}
