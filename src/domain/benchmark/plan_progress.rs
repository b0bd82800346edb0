//! Progress of a stored plan, from its row and the rows of its runs.

use super::record::{BenchPlanRow, BenchRunRow};
use super::runs::run_report::{PlannedStep, RequestTotal};
use super::runs::run_state::{DueCount, RunState, time_left};
use crate::judging::budget::Spent;
use crate::time::Timestamp;

/// Plan with its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanProgress {
    /// Stored plan.
    pub row: BenchPlanRow,
    /// Current state.
    pub state: RunState,
    /// Progress of the runs, in order.
    pub steps: Vec<StepProgress>,
    /// Requests, tokens and cost so far.
    pub spent: Spent,
    /// Expected requests at the start.
    pub expected: RequestTotal,
    /// Estimated remaining time in milliseconds at the speed so far, while the plan is running.
    pub left_ms: Option<u64>,
}

/// Progress of a run of a plan, which may have been started several times.
#[derive(Debug, Clone, PartialEq)]
pub struct StepProgress {
    /// Requests planned at the start.
    pub planned: PlannedStep,
    /// State of the run; `None` before it begins.
    pub state: Option<RunState>,
    /// Number of answers.
    pub answers: DueCount,
    /// Number of judgements.
    pub judgements: DueCount,
    /// Requests, tokens and cost of all its starts.
    pub spent: Spent,
    /// Last error; empty without one.
    pub error: String,
}

impl PlanProgress {
    /// Combines a plan with its runs, the earliest first.
    #[must_use]
    pub fn new(row: BenchPlanRow, runs: &[BenchRunRow], now: Timestamp) -> Self {
        let step = |(at, planned): (u32, &PlannedStep)| {
            let is_of = |run: &&BenchRunRow| run.run.plan.as_ref().is_some_and(|plan| plan.step == at);
            StepProgress::new(planned.clone(), runs.iter().filter(is_of), now)
        };
        let steps: Vec<StepProgress> = (0..).zip(&row.steps).map(step).collect();
        let spent = spent(runs);
        let expected = RequestTotal::sum(row.steps.iter().map(|step| step.total));
        let state = row.state.seen(row.changed_at, now);
        let asked_for = runs.iter().map(|run| run.changed_at.0.saturating_sub(run.run.started_at.0));
        let elapsed = u64::try_from(asked_for.sum::<i64>()).unwrap_or(0);
        // Batch requests are counted when sent, and the time of their replies is unknown.
        let is_steady = state == RunState::Running && !row.plan.batch;
        let left_ms = is_steady.then(|| time_left(elapsed, spent.calls, expected.calls)).flatten();
        Self { state, steps, spent, expected, left_ms, row }
    }
}

impl StepProgress {
    fn new<'r>(planned: PlannedStep, runs: impl Iterator<Item = &'r BenchRunRow> + Clone, now: Timestamp) -> Self {
        let (last, spent) = (runs.clone().last(), spent(runs));
        let Some(BenchRunRow { snapshot, changed_at, .. }) = last else {
            let (answers, judgements) = (DueCount::default(), DueCount::default());
            return Self { planned, state: None, answers, judgements, spent, error: String::new() };
        };
        Self {
            planned,
            state: Some(snapshot.state.seen(*changed_at, now)),
            answers: snapshot.answers,
            judgements: snapshot.judgements,
            spent,
            error: snapshot.error.clone(),
        }
    }
}

/// Sums what runs have spent.
#[must_use]
pub fn spent<'r>(runs: impl IntoIterator<Item = &'r BenchRunRow>) -> Spent {
    runs.into_iter().fold(Spent::default(), |sum, run| sum.plus(run.snapshot.spent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::record::{NewBenchRun, PlanStep};
    use crate::benchmark::runs::run_manifest::RunManifest;
    use crate::benchmark::runs::run_plan::RunPlan;
    use crate::benchmark::runs::run_state::RunSnapshot;
    use crate::judging::budget::Tokens;

    fn planned(suite: &str, calls: u64) -> PlannedStep {
        let total = RequestTotal { calls, cost: Some(1.0), ..RequestTotal::default() };
        PlannedStep { suite: suite.to_owned(), sample: 1, total }
    }

    fn plan(changed_at: i64) -> BenchPlanRow {
        BenchPlanRow {
            id: "p".to_owned(),
            plan: RunPlan::default(),
            steps: vec![planned("urs", 60), planned("alignbench", 40)],
            state: RunState::Running,
            stop_asked: false,
            note: String::new(),
            started_by: "ada".to_owned(),
            started_at: Timestamp(0),
            changed_at: Timestamp(changed_at),
        }
    }

    /// Run of the first step that has sent this many requests in this time.
    fn run(state: RunState, calls: u64, took: i64) -> BenchRunRow {
        let answers = DueCount { done: calls, due: 60 };
        let spent = Spent { calls, tokens: Tokens::default(), cost: 0.5 };
        BenchRunRow {
            run: NewBenchRun {
                id: String::new(),
                suite: "urs".to_owned(),
                version: String::new(),
                sample: 1,
                models: Vec::new(),
                judges: Vec::new(),
                baseline: String::new(),
                answers,
                judgements: DueCount::default(),
                expected_cost: None,
                manifest: RunManifest::default(),
                plan: Some(PlanStep { plan: "p".to_owned(), step: 0 }),
                started_at: Timestamp(1_000),
            },
            snapshot: RunSnapshot { state, answers, judgements: DueCount::default(), spent, error: String::new() },
            changed_at: Timestamp(1_000 + took),
        }
    }

    #[test]
    fn a_step_that_was_begun_twice_counts_what_both_runs_spent_and_stands_where_the_last_one_does() {
        let runs = [run(RunState::Running, 10, 2_000), run(RunState::Running, 15, 3_000)];
        let progress = PlanProgress::new(plan(4_000), &runs, Timestamp(5_000));
        let [first, second] = progress.steps.as_slice() else { panic!("{progress:?}") };
        assert_eq!((first.state, first.spent.calls, first.answers.done), (Some(RunState::Running), 25, 15));
        assert_eq!((second.state, second.spent.calls), (None, 0));
        assert_eq!((progress.spent.calls, progress.expected.calls), (25, 100));
        assert_eq!(progress.left_ms, Some(15_000), "25 requests took 5 s, and 75 are left");
    }

    #[test]
    fn a_plan_without_a_sign_of_life_is_interrupted_and_has_no_end() {
        let progress = PlanProgress::new(plan(0), &[run(RunState::Running, 10, 2_000)], Timestamp(100_000));
        assert_eq!((progress.state, progress.left_ms), (RunState::Interrupted, None));
        assert_eq!(progress.steps[0].state, Some(RunState::Interrupted));
    }
}
