//! `langya bench run all` and `langya bench run PLAN.toml`: several suites and rounds as one run, which a later one goes on with.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use tokio::time::Instant;

use super::model_clients::BudgetFlags;
use super::requests::{BenchJudgeOptions, Phases, Ready, Step, SuiteRun};
use super::rows::{OutcomeRow, PlanRow, left_over, outcome_rows, plan_rows};
use super::run::{Run, tell_of_plan};
use super::session::Session;
use super::{SuiteFlags, WayFlags, read_text};
use crate::cli::error::{BadInput, CommandResult};
use crate::cli::models::{TableRow, render};
use crate::cli::output::print;
use crate::domain::benchmark::run_plan::{PlannedRun, PlannedSuite, RunPlan};
use crate::domain::benchmark::run_report::RequestPlan;
use crate::domain::judging::budget::Spent;
use crate::infra::config::Environment;
use crate::infra::llm::model_client::RunLimits;

/// Stands for every suite that has data.
const ALL: &str = "all";

/// Whether a name is that of a plan, or of all suites.
pub(super) fn is_plan(name: &str) -> bool {
    name == ALL || Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Runs a plan, or says what it would ask.
pub(super) async fn run(options: BenchJudgeOptions, env: &Environment) -> CommandResult<ExitCode> {
    options.check_references(Phases::Both)?;
    check_way(&options.suite.way)?;
    let session = Session::open(&options.location, env).await?;
    let plan = plan_of(&options, &session).await?;
    let budget = options.limits.budget.or(plan.budget, plan.max_calls);
    let mut runs = Vec::new();
    for run in plan.runs() {
        runs.push(OpenRun::new(&session, &options, &budget, &plan, run).await?);
    }
    let format = options.limits.format;
    if options.limits.dry_run {
        let mut rows: Vec<SuitePlanRow> = runs.iter().map(OpenRun::row).collect();
        rows.push(SuitePlanRow::new("all", None, &runs.iter().flat_map(OpenRun::rows).collect::<Vec<_>>()));
        print(&render(&rows, format)?)?;
        return Ok(tell_of_plan());
    }
    let limits = Arc::new(budget.limits()?);
    let asked = ask(&session, &runs, &limits).await;
    let clients = runs.iter().flat_map(|run| run.suite_run.clients());
    session.askers.tell_given_up(clients);
    let Asked { rows, begun } = asked?;
    print(&render(&rows, format)?)?;
    let sum = |number: fn(&SuiteOutcomeRow) -> u64| rows.iter().map(number).sum::<u64>();
    Ok(left_over(sum(|row| row.left) + waiting(&runs[begun..]), sum(|row| row.refused), &limits))
}

/// What belongs to one suite is said in a plan.
fn check_way(way: &WayFlags) -> Result<(), BadInput> {
    let own = [
        ("--ablation", way.ablation.is_some()),
        ("--prompt", way.prompt.is_some()),
        ("--compat", !way.compat.is_empty()),
        ("--data", way.data.is_some()),
        ("--sample", way.sample != 1),
    ];
    match own.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(BadInput(format!(
            "{flag} is about one suite: write it under [[suites]] of a plan, or run the suite alone"
        ))),
    }
}

/// The plan of the file, or of every suite with data; flags go before what it says for all.
async fn plan_of(options: &BenchJudgeOptions, session: &Session) -> CommandResult<RunPlan> {
    let name = options.suite.name.as_str();
    let mut plan = if name == ALL {
        let mut suites: Vec<String> = Vec::new();
        for row in session.store.bench_suites().await? {
            let suite = row.suite.to_string();
            if !suites.contains(&suite) {
                suites.push(suite);
            }
        }
        if suites.is_empty() {
            return Err(
                BadInput("no suite has data here: bring files with `langya import suite NAME FILE`".into()).into()
            );
        }
        suites.sort();
        let planned = |suite| PlannedSuite { suite, ..PlannedSuite::default() };
        RunPlan { suites: suites.into_iter().map(planned).collect(), ..RunPlan::default() }
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

/// A run of the plan with everything that it needs, and what it was to ask at the start.
struct OpenRun<'s> {
    suite_run: SuiteRun<'s>,
    answers: Vec<RequestPlan>,
    judgements: Vec<RequestPlan>,
}

impl<'s> OpenRun<'s> {
    async fn new(
        session: &'s Session,
        options: &BenchJudgeOptions,
        budget: &BudgetFlags,
        plan: &RunPlan,
        PlannedRun { suite, sample }: PlannedRun,
    ) -> CommandResult<Self> {
        let way = WayFlags {
            ablation: suite.ablation.clone(),
            prompt: None,
            compat: suite.compat.clone(),
            data: suite.data.clone(),
            sample,
        };
        let flags = SuiteFlags {
            name: suite.suite.clone(),
            canaries: suite.canaries || options.suite.canaries,
            seed: suite.seed.or(plan.seed),
            way,
        };
        let ready = Ready::make(session, &flags, None).await?;
        let roles = plan.roles(&suite, ready.mode());
        let mut options = options.clone();
        (options.suite, options.limits.budget) = (flags, budget.clone());
        (options.models, options.judge, options.baseline) = (roles.models, roles.judges, roles.baseline);
        let suite_run = SuiteRun::new(ready, &options, Phases::Both).await?;
        let (answers, judgements) = suite_run.plans().await?;
        Ok(Self { suite_run, answers, judgements })
    }

    fn rows(&self) -> Vec<PlanRow> {
        [plan_rows("answer", &self.answers), plan_rows("judge", &self.judgements)].concat()
    }

    fn row(&self) -> SuitePlanRow {
        SuitePlanRow::new(self.suite_run.suite(), Some(self.suite_run.sample()), &self.rows())
    }

    fn plans(&self) -> impl Iterator<Item = &RequestPlan> {
        self.answers.iter().chain(&self.judgements)
    }
}

/// What came of a plan.
#[derive(Default)]
struct Asked {
    rows: Vec<SuiteOutcomeRow>,
    /// Runs that began, in their order.
    begun: usize,
}

/// Asks suite after suite, until all is there or a limit is reached.
async fn ask(session: &Session, runs: &[OpenRun<'_>], limits: &Arc<RunLimits>) -> CommandResult<Asked> {
    let progress = Progress::new(runs);
    let mut asked = Asked::default();
    for (at, run) in runs.iter().enumerate() {
        if limits.are_reached() {
            break;
        }
        let suite_run = &run.suite_run;
        let lock = suite_run.lock();
        let held = Run::begin(&session.store, &lock.name, lock.taken, Arc::clone(limits)).await?;
        let steps = suite_run.ask(&held).await;
        held.release().await;
        asked.rows.extend(steps?.iter().flat_map(|step| outcome(suite_run, step)));
        asked.begun = at + 1;
        eprintln!("{}", progress.after(at, suite_run, limits.budget.spent()));
    }
    Ok(asked)
}

fn outcome(run: &SuiteRun<'_>, (step, outcomes): &Step) -> Vec<SuiteOutcomeRow> {
    outcome_rows(step, outcomes).into_iter().map(|outcome| SuiteOutcomeRow::new(run, outcome)).collect()
}

/// Results of the runs that did not begin.
fn waiting(runs: &[OpenRun<'_>]) -> u64 {
    runs.iter().flat_map(OpenRun::plans).map(|plan| plan.open + plan.reused).sum()
}

/// How far the whole is.
struct Progress {
    started: Instant,
    runs: usize,
    calls: u64,
    /// What it is expected to cost; `None` where a model has no prices.
    cost: Option<f64>,
}

impl Progress {
    fn new(runs: &[OpenRun<'_>]) -> Self {
        let plans = || runs.iter().flat_map(OpenRun::plans).filter(|plan| plan.open > 0);
        let (calls, cost) = (plans().map(|plan| plan.calls).sum(), plans().map(|plan| plan.cost).sum());
        Self { started: Instant::now(), runs: runs.len(), calls, cost }
    }

    /// One line after a run: what is spent of what was expected, and how long the rest takes at the speed so far.
    fn after(&self, at: usize, run: &SuiteRun<'_>, spent: Spent) -> String {
        let cost = self.cost.map_or_else(String::new, |expected| format!(" of {expected:.4} expected"));
        let left = remaining(self.started.elapsed().as_secs(), spent.calls, self.calls);
        let left = left.map_or_else(String::new, |seconds| format!(", about {} min left", seconds.div_ceil(60)));
        format!(
            "{}/{} {}, round {}: {} of {} requests, cost {:.4}{cost}{left}",
            at + 1,
            self.runs,
            run.suite(),
            run.sample(),
            spent.calls,
            self.calls,
            spent.cost
        )
    }
}

/// Seconds that the rest of the requests takes; none before the first, and where none is left.
fn remaining(elapsed: u64, sent: u64, expected: u64) -> Option<u64> {
    let left = expected.checked_sub(sent).filter(|left| *left > 0)?;
    elapsed.saturating_mul(left).checked_div(sent)
}

/// What a suite would be asked.
#[derive(Debug, Clone, Serialize)]
struct SuitePlanRow {
    suite: String,
    sample: Option<u32>,
    done: u64,
    reused: u64,
    calls: u64,
    worst_calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
    worst_cost: Option<f64>,
}

impl SuitePlanRow {
    fn new(suite: &str, sample: Option<u32>, rows: &[PlanRow]) -> Self {
        let PlanRow { done, reused, calls, worst_calls, input_tokens, output_tokens, cost, worst_cost, .. } =
            PlanRow::total(rows);
        let suite = suite.to_owned();
        Self { suite, sample, done, reused, calls, worst_calls, input_tokens, output_tokens, cost, worst_cost }
    }
}

impl TableRow for SuitePlanRow {
    const HEADS: &'static [&'static str] =
        &["suite", "round", "done", "reused", "requests", "at most", "tokens in", "tokens out", "cost", "at most"];

    fn cells(&self) -> Vec<String> {
        let money = |cost: Option<f64>| cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}"));
        vec![
            self.suite.clone(),
            self.sample.map_or_else(|| "-".to_owned(), |sample| sample.to_string()),
            self.done.to_string(),
            self.reused.to_string(),
            self.calls.to_string(),
            self.worst_calls.to_string(),
            self.input_tokens.to_string(),
            self.output_tokens.to_string(),
            money(self.cost),
            money(self.worst_cost),
        ]
    }
}

/// Outcome of a step of a suite.
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
        let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
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
    fn the_rest_takes_as_long_as_requests_took_so_far() {
        assert_eq!(remaining(60, 20, 80), Some(180));
        assert_eq!((remaining(60, 0, 80), remaining(60, 80, 80), remaining(60, 90, 80)), (None, None, None));
    }

    #[test]
    fn a_plan_is_told_from_a_suite_by_its_name() {
        assert!(is_plan("all") && is_plan("a/plan.toml") && is_plan("PLAN.TOML"));
        assert!(!is_plan("alignbench") && !is_plan("toml") && !is_plan("all-of-it"));
    }
}
