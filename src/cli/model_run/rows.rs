//! Output rows of a run, and its closing summary.

use std::process::ExitCode;

use serde::Serialize;

use crate::domain::benchmark::runs::run_report::{RequestPlan, RunOutcome};
use crate::domain::judging::budget::{ReachedLimit, Spent, Tokens};
use crate::domain::plural::counted;
use crate::infra::llm::model_client::RunLimits;
use crate::output::table::{TableRow, cost_or_dash, or_dash};

/// Output row of planned requests to a model or judge.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanRow {
    pub(crate) step: &'static str,
    pub(crate) model: String,
    pub(crate) done: u64,
    pub(crate) reused: u64,
    pub(crate) calls: u64,
    pub(crate) worst_calls: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost: Option<f64>,
    pub(crate) worst_cost: Option<f64>,
    pub(crate) basis: String,
}

impl PlanRow {
    pub(crate) fn new(step: &'static str, plan: &RequestPlan) -> Self {
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

    /// Sums the rows; a cost only if every row has one.
    pub(crate) fn total(rows: &[Self]) -> Self {
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
        "estimated from",
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

/// Output row of the outcome for a model or judge.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OutcomeRow {
    pub(crate) step: &'static str,
    pub(crate) model: String,
    pub(crate) total: u64,
    pub(crate) before: u64,
    pub(crate) kept: u64,
    pub(crate) reused: u64,
    pub(crate) refused: u64,
    pub(crate) left: u64,
    pub(crate) failed: String,
}

impl OutcomeRow {
    pub(crate) fn new(step: &'static str, outcome: &RunOutcome) -> Self {
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

pub(crate) fn plan_rows(step: &'static str, plans: &[RequestPlan]) -> Vec<PlanRow> {
    plans.iter().map(|plan| PlanRow::new(step, plan)).collect()
}

pub(crate) fn outcome_rows(step: &'static str, outcomes: &[RunOutcome]) -> Vec<OutcomeRow> {
    outcomes.iter().map(|outcome| OutcomeRow::new(step, outcome)).collect()
}

fn cost_in_words(spent: Spent) -> String {
    if spent.cost > 0.0 {
        format!("cost {:.4} at the prices in the settings", spent.cost)
    } else if spent.tokens == Tokens::default() {
        "no cost".to_owned()
    } else {
        "cost unknown: the settings have no prices for these models, or prices of 0".to_owned()
    }
}

/// Prints the spending and the missing results of a run. Reaching a limit is a success; failures and interruptions are not.
pub(crate) fn left_over(left: u64, refused: u64, limits: &RunLimits) -> ExitCode {
    let spent = limits.budget.spent();
    eprintln!(
        "{}, {} in, {} out, {}",
        counted(spent.calls, "request", "requests"),
        counted(spent.tokens.input, "token", "tokens"),
        counted(spent.tokens.output, "token", "tokens"),
        cost_in_words(spent)
    );
    if refused > 0 {
        let refused = counted(refused, "request", "requests");
        eprintln!("the provider refused {refused}: only --retry-failed sends refused requests again");
    }
    if left == 0 {
        return ExitCode::SUCCESS;
    }
    let reached = limits.budget.reached().filter(|_| !limits.stop.is_cancelled());
    let why = match reached {
        Some(ReachedLimit::Calls(most)) => format!("the limit --max-calls {most} is reached"),
        Some(ReachedLimit::Cost(most)) => {
            format!("the limit --budget {most} is reached: one more request could exceed it")
        }
        None if limits.stop.is_cancelled() => "the run was stopped".to_owned(),
        None => "some requests failed".to_owned(),
    };
    let left = counted(left, "result is", "results are");
    eprintln!("{why}; {left} left: run the same command again to continue");
    if reached.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fails a run in which a judge gave no verdict at all, and names the judge.
pub(crate) fn failed_if_unreadable<'o>(outcomes: impl IntoIterator<Item = &'o RunOutcome>, code: ExitCode) -> ExitCode {
    let unreadable: Vec<&RunOutcome> = outcomes.into_iter().filter(|outcome| outcome.is_unreadable()).collect();
    for outcome in &unreadable {
        eprintln!(
            "no reply of {} contains a verdict: see its replies on the pages of the items, give it a longer reply (max_tokens), or \
             name another judge; --retry-failed asks it again",
            outcome.model
        );
    }
    if unreadable.is_empty() { code } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_called_unknown_where_tokens_have_no_price() {
        let tokens = Tokens { input: 9, output: 5 };
        let said = |tokens, cost| cost_in_words(Spent { calls: 1, tokens, cost });
        assert_eq!(said(tokens, 0.25), "cost 0.2500 at the prices in the settings");
        assert!(said(tokens, 0.0).starts_with("cost unknown: the settings have no prices"));
        assert_eq!(said(Tokens::default(), 0.0), "no cost");
    }
}
