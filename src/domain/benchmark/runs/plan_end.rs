//! End of a plan of runs, with advice for the operator.

use super::run_plan::RunPlan;
use super::run_state::RunState;
use crate::judging::budget::ReachedLimit;
use crate::plural::counted;

/// End of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEnd {
    /// Final state.
    pub state: RunState,
    /// Reason and advice; empty if the plan is complete.
    pub note: String,
}

impl PlanEnd {
    /// Creates the end of a complete plan.
    #[must_use]
    pub fn done() -> Self {
        Self { state: RunState::Done, note: String::new() }
    }

    /// Creates the end of a plan that an operator stopped with this many results missing.
    #[must_use]
    pub fn stopped(plan: &RunPlan, left: u64) -> Self {
        let batches = match plan.batch {
            true => ". Batches that were sent continue at the provider, and that run collects their replies",
            false => "",
        };
        let left = counted(left, "result is", "results are");
        let note = format!("{left} left: start the same plan again to continue from there{batches}");
        Self { state: RunState::Stopped, note }
    }

    /// Creates the end of a plan that reached a limit with this many results missing.
    #[must_use]
    pub fn over_budget(plan: &RunPlan, limit: ReachedLimit, left: u64) -> Self {
        // The tracker has the limit remaining at the last start; the message shows that of the plan.
        let limit = match limit {
            ReachedLimit::Calls(_) => {
                format!("the limit of {} is reached", counted(plan.max_calls.unwrap_or(0), "request", "requests"))
            }
            ReachedLimit::Cost(_) => {
                format!("the budget of {} is reached: one more request could exceed it", plan.budget.unwrap_or(0.0))
            }
        };
        let left = counted(left, "result is", "results are");
        let note = format!("{limit}. {left} left: start the same plan with a higher limit to continue from there");
        Self { state: RunState::OverBudget, note }
    }

    /// Creates the end of a plan with this many failed results; `given_up` describes the models that are not asked any more.
    #[must_use]
    pub fn failed(left: u64, given_up: &[String]) -> Self {
        let why = match given_up {
            [] => "each suite says what failed".to_owned(),
            words => words.join(". "),
        };
        let missing = counted(left, "result is", "results are");
        let note = format!("{missing} missing: {why}. The same plan, started again, requests only what is missing");
        Self { state: RunState::Failed, note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_says_what_to_do() {
        let plan = RunPlan { max_calls: Some(100), ..RunPlan::default() };
        let said = PlanEnd::over_budget(&plan, ReachedLimit::Calls(70), 5).note;
        assert!(said.contains("limit of 100 requests") && said.contains("5 results are left"), "{said}");
        let given_up = ["model two was given up after 4 failures in a row: refused; set base_url".to_owned()];
        let said = PlanEnd::failed(5, &given_up).note;
        assert!(said.contains("set base_url") && said.contains("started again"), "{said}");
    }
}
