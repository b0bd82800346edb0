//! The rows that `langya bench` prints, and its closing summary.

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::table::{TableRow, cost_or_dash, or_dash, value_or_dash};
use crate::domain::benchmark::run_report::{RequestPlan, RunOutcome};
use crate::domain::judging::budget::ReachedLimit;
use crate::infra::llm::model_client::RunLimits;
use crate::services::benchmark::scores::SuiteSummary;

/// A suite with its data.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SuiteRow {
    suite: String,
    data: String,
    source: String,
    items: u64,
    models: usize,
    answers: u64,
    judges: String,
    judged: u64,
    judgements: u64,
    latest: Option<String>,
}

impl SuiteRow {
    pub(super) fn new(summary: &SuiteSummary) -> Self {
        let (coverage, suite) = (summary.coverage(), &summary.suite);
        Self {
            suite: suite.suite.to_string(),
            data: suite.version.chars().take(12).collect(),
            source: suite.source.clone(),
            items: suite.items,
            models: summary.models().len(),
            answers: summary.answered.values().flat_map(|round| round.values()).sum(),
            judges: summary.judges().into_iter().collect::<Vec<_>>().join("+"),
            judged: coverage.ok,
            judgements: coverage.total,
            latest: summary.latest.and_then(day),
        }
    }

    /// A suite that is known and has no data yet.
    pub(super) fn without_data(name: &str) -> Self {
        Self {
            suite: name.to_owned(),
            data: String::new(),
            source: String::new(),
            items: 0,
            models: 0,
            answers: 0,
            judges: String::new(),
            judged: 0,
            judgements: 0,
            latest: None,
        }
    }
}

fn day(at: crate::domain::time::Timestamp) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(moment.strftime("%Y-%m-%d").to_string())
}

impl TableRow for SuiteRow {
    const HEADS: &'static [&'static str] =
        &["suite", "data", "items", "models", "answers", "judges", "judged", "latest", "source"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.suite.clone(),
            or_dash(&self.data),
            self.items.to_string(),
            self.models.to_string(),
            self.answers.to_string(),
            or_dash(&self.judges),
            format!("{}/{}", self.judged, self.judgements),
            value_or_dash(self.latest.as_ref()),
            or_dash(&self.source),
        ]
    }
}

/// What a model or judge would be asked.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct PlanRow {
    pub(super) step: &'static str,
    pub(super) model: String,
    pub(super) done: u64,
    pub(super) reused: u64,
    pub(in crate::cli) calls: u64,
    pub(super) worst_calls: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(in crate::cli) cost: Option<f64>,
    pub(super) worst_cost: Option<f64>,
    pub(super) basis: String,
}

impl PlanRow {
    pub(in crate::cli) fn new(step: &'static str, plan: &RequestPlan) -> Self {
        Self {
            step,
            model: plan.model.to_string(),
            done: plan.done,
            reused: plan.reused,
            calls: plan.calls,
            worst_calls: plan.worst_calls,
            input_tokens: plan.tokens.input,
            output_tokens: plan.tokens.output,
            cost: plan.cost,
            worst_cost: plan.worst_cost,
            basis: plan.basis.clone(),
        }
    }

    /// All rows together; a cost only where every row has one.
    pub(in crate::cli) fn total(rows: &[Self]) -> Self {
        let sum = |number: fn(&Self) -> u64| rows.iter().map(number).sum();
        Self {
            step: "all",
            model: String::new(),
            done: sum(|row| row.done),
            reused: sum(|row| row.reused),
            calls: sum(|row| row.calls),
            worst_calls: sum(|row| row.worst_calls),
            input_tokens: sum(|row| row.input_tokens),
            output_tokens: sum(|row| row.output_tokens),
            cost: rows.iter().map(|row| row.cost).sum(),
            worst_cost: rows.iter().map(|row| row.worst_cost).sum(),
            basis: String::new(),
        }
    }
}

impl TableRow for PlanRow {
    const HEADS: &'static [&'static str] = &[
        "step",
        "model",
        "done",
        "reused",
        "requests",
        "requests at most",
        "tokens in",
        "tokens out",
        "cost",
        "cost at most",
        "expected as in",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.step.to_owned(),
            or_dash(&self.model),
            self.done.to_string(),
            self.reused.to_string(),
            self.calls.to_string(),
            self.worst_calls.to_string(),
            self.input_tokens.to_string(),
            self.output_tokens.to_string(),
            cost_or_dash(self.cost),
            cost_or_dash(self.worst_cost),
            or_dash(&self.basis),
        ]
    }
}

/// Outcome for a model or judge.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct OutcomeRow {
    pub(super) step: &'static str,
    pub(super) model: String,
    pub(super) total: u64,
    pub(super) before: u64,
    pub(super) kept: u64,
    pub(super) reused: u64,
    pub(super) refused: u64,
    pub(super) left: u64,
    pub(super) failed: String,
}

impl OutcomeRow {
    pub(in crate::cli) fn new(step: &'static str, outcome: &RunOutcome) -> Self {
        Self {
            step,
            model: outcome.model.to_string(),
            total: outcome.total,
            before: outcome.before,
            kept: outcome.kept,
            reused: outcome.reused,
            refused: outcome.refused,
            left: outcome.left(),
            failed: outcome.failures(),
        }
    }
}

impl TableRow for OutcomeRow {
    const HEADS: &'static [&'static str] =
        &["step", "model", "results", "stored before", "stored now", "of these reused", "refused", "left", "failed"];

    fn cells(&self) -> Vec<String> {
        vec![
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

pub(super) fn plan_rows(step: &'static str, plans: &[RequestPlan]) -> Vec<PlanRow> {
    plans.iter().map(|plan| PlanRow::new(step, plan)).collect()
}

pub(super) fn outcome_rows(step: &'static str, outcomes: &[RunOutcome]) -> Vec<OutcomeRow> {
    outcomes.iter().map(|outcome| OutcomeRow::new(step, outcome)).collect()
}

/// Says what a run has spent and left. A limit that was kept is a success; what failed or was stopped is not.
pub(in crate::cli) fn left_over(left: u64, refused: u64, limits: &RunLimits) -> ExitCode {
    let spent = limits.budget.spent();
    let cost = if spent.cost > 0.0 { format!("cost {:.4}", spent.cost) } else { "no cost".to_owned() };
    eprintln!(
        "{} requests, {} tokens in, {} tokens out, {cost} at the prices in the settings",
        spent.calls, spent.tokens.input, spent.tokens.output
    );
    if refused > 0 {
        eprintln!("{refused} are refused by the provider for good and not asked again, unless by --retry-failed");
    }
    if left == 0 {
        return ExitCode::SUCCESS;
    }
    let reached = limits.budget.reached().filter(|_| !limits.stop.is_cancelled());
    let why = match reached {
        Some(ReachedLimit::Calls(most)) => format!("the limit --max-calls {most} is reached"),
        Some(ReachedLimit::Cost(most)) => {
            format!("the limit --budget {most} is reached: one more request could pass it")
        }
        None if limits.stop.is_cancelled() => "the run was stopped".to_owned(),
        None => "not all of it could be had".to_owned(),
    };
    eprintln!("{why}; {left} are left, and the same command goes on with them");
    if reached.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
