//! Stored suites, answers, judgements, runs and plans.

use super::runs::run_manifest::{ReportedRun, RunChange, RunManifest};
use super::runs::run_plan::RunPlan;
use super::runs::run_report::PlannedStep;
use super::runs::run_state::{DueCount, RunSnapshot, RunState};
use super::scores::judgement::{Judgement, Status};
use super::suite_id::SuiteId;
use crate::time::Timestamp;

/// Data file of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchSuiteRow {
    /// Id of the suite.
    pub suite: SuiteId,
    /// SHA-256 of the data file.
    pub version: String,
    /// Name of the file.
    pub source: String,
    /// The suite file of a custom suite; `None` for a built-in one.
    pub declaration: Option<String>,
    /// Number of items.
    pub items: u64,
    /// Time of the import.
    pub imported_at: Timestamp,
}

/// One round of answers to the items of a data file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerRound {
    /// Id of the suite.
    pub suite: SuiteId,
    /// SHA-256 of the data file.
    pub version: String,
    /// Round of answers, from 1.
    pub sample: u32,
}

impl AnswerRound {
    /// Returns the name of the round in request hashes.
    #[must_use]
    pub fn round(&self) -> String {
        format!("{} {} {}", self.suite, self.version, self.sample)
    }
}

/// Answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchAnswerRow {
    /// Id of the answer.
    pub id: String,
    /// Id of the item.
    pub item: String,
    /// Turn, from 1.
    pub turn: u32,
    /// Id of the model.
    pub model: String,
    /// SHA-256 of the question: its messages and sampling settings.
    pub ask_sha256: String,
    /// File that the answer was imported from; empty if it was asked here.
    pub source: String,
    /// Sampling settings, as JSON.
    pub params: String,
    /// Text of the answer; may be empty.
    pub text: String,
    /// Number of requests.
    pub attempts: u32,
    /// Time to the complete answer, in milliseconds.
    pub latency_ms: u64,
    /// Tokens of the question, if the provider counts them.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, if the provider counts them.
    pub output_tokens: Option<u64>,
    /// Time when the answer was complete.
    pub created_at: Timestamp,
}

/// Number of a judge's judgements of a model with one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedGroup {
    /// Round of answers, from 1.
    pub sample: u32,
    /// Variant of the suite; empty for the plain one.
    pub variant: String,
    /// Id of the judge; empty without one.
    pub judge: String,
    /// Id of the baseline; empty without one.
    pub baseline: String,
    /// Id of the judged model.
    pub model: String,
    /// Status of the judgements.
    pub status: Status,
    /// Number of judgements.
    pub count: u64,
}

/// Judgement without its texts and its request.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredJudgement {
    /// Id of the baseline; empty without one.
    pub baseline: String,
    /// Judgement with its verdict; texts and requests are empty, and so are tokens if an earlier reply was reused.
    pub judgement: Judgement,
}

/// Run at its start.
#[derive(Debug, Clone, PartialEq)]
pub struct NewBenchRun {
    /// Id of the run; sorts by time.
    pub id: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 of the data file.
    pub version: String,
    /// Round of answers, from 1.
    pub sample: u32,
    /// Ids of the evaluated models.
    pub models: Vec<String>,
    /// Ids of the judges.
    pub judges: Vec<String>,
    /// Id of the baseline model; empty without one.
    pub baseline: String,
    /// Number of answers due.
    pub answers: DueCount,
    /// Number of judgements due.
    pub judgements: DueCount,
    /// Expected cost; `None` if a model has no prices.
    pub expected_cost: Option<f64>,
    /// Manifest of the run.
    pub manifest: RunManifest,
    /// Step of a plan; `None` for a run without a plan.
    pub plan: Option<PlanStep>,
    /// Time of the start.
    pub started_at: Timestamp,
}

impl NewBenchRun {
    /// Returns the differences to another run beside those of the manifests.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<RunChange> {
        let facts = |run: &Self| {
            [
                ("data", run.version.clone()),
                ("round", run.sample.to_string()),
                ("models", run.models.join(", ")),
                ("judges", run.judges.join(", ")),
                ("baseline", run.baseline.clone()),
            ]
        };
        let both = facts(self).into_iter().zip(facts(other));
        let changes = both.map(|((what, before), (_, after))| RunChange { what: what.to_owned(), before, after });
        changes.filter(|change| change.before != change.after).collect()
    }

    /// Converts the run for a report.
    #[must_use]
    pub fn reported(self) -> ReportedRun {
        let Self { id, started_at, models, judges, baseline, manifest, .. } = self;
        ReportedRun { run: id, started_at: started_at.0, models, judges, baseline, manifest }
    }
}

/// Reference to a run of a stored plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// Id of the plan.
    pub plan: String,
    /// Position in the plan, from 0.
    pub step: u32,
}

/// Run with its latest stored state.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRunRow {
    /// Run at its start.
    pub run: NewBenchRun,
    /// Latest state.
    pub snapshot: RunSnapshot,
    /// Time of the latest heartbeat.
    pub changed_at: Timestamp,
}

impl BenchRunRow {
    /// Finds the run whose id has this ending, if it is unique.
    #[must_use]
    pub fn find<'r>(runs: &'r [Self], id: &str) -> Option<&'r Self> {
        let mut found = runs.iter().filter(|row| !id.is_empty() && row.run.id.ends_with(id));
        match (found.next(), found.next()) {
            (Some(run), None) => Some(run),
            _ => None,
        }
    }

    /// Whether a judgement is by the run's judges, of its models, and was stored before its end.
    #[must_use]
    pub fn has_judgement(&self, row: &ScoredJudgement) -> bool {
        let (run, said) = (&self.run, &row.judgement);
        let is_judge = run.judges.is_empty() || run.judges.contains(&said.judge_model);
        said.ts <= self.ended_at() && run.models.contains(&said.model) && is_judge && row.baseline == run.baseline
    }

    /// Whether an answer to the suite is by the run's models, and was stored before its end.
    #[must_use]
    pub fn has_answer(&self, answer: &BenchAnswerRow) -> bool {
        answer.created_at.0 <= self.ended_at() && self.run.models.contains(&answer.model)
    }

    /// Returns the time of the end, in milliseconds since 1970; `i64::MAX` while the run is active.
    fn ended_at(&self) -> i64 {
        if self.snapshot.state == RunState::Running { i64::MAX } else { self.changed_at.0 }
    }
}

/// Stored plan.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchPlanRow {
    /// Id of the plan.
    pub id: String,
    /// Contents of the plan.
    pub plan: RunPlan,
    /// Requests planned at the start, for each run.
    pub steps: Vec<PlannedStep>,
    /// State of the plan.
    pub state: RunState,
    /// Whether an operator requested a stop.
    pub stop_asked: bool,
    /// Reason for waiting or for the end; may be empty.
    pub note: String,
    /// Name of the operator who started it.
    pub started_by: String,
    /// Time of the start.
    pub started_at: Timestamp,
    /// Time of the latest heartbeat.
    pub changed_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::budget::Spent;

    fn run(id: &str, judges: &[&str], state: RunState) -> BenchRunRow {
        let run = NewBenchRun {
            id: id.to_owned(),
            suite: "urs".to_owned(),
            version: "file".to_owned(),
            sample: 1,
            models: vec!["m".to_owned()],
            judges: judges.iter().map(|judge| (*judge).to_owned()).collect(),
            baseline: String::new(),
            answers: DueCount::default(),
            judgements: DueCount::default(),
            expected_cost: None,
            manifest: RunManifest::default(),
            plan: None,
            started_at: Timestamp(1),
        };
        let (answers, judgements, spent) = (DueCount::default(), DueCount::default(), Spent::default());
        let snapshot = RunSnapshot { state, answers, judgements, spent, error: String::new() };
        BenchRunRow { run, snapshot, changed_at: Timestamp(10) }
    }

    #[test]
    fn a_run_is_found_by_the_end_of_its_id_if_no_other_has_it() {
        let runs = ["run-1a", "run-2a", "run-2b"].map(|id| run(id, &[], RunState::Done));
        let found = |id: &str| BenchRunRow::find(&runs, id).map(|row| row.run.id.as_str());
        assert_eq!((found("1a"), found("run-2b")), (Some("run-1a"), Some("run-2b")));
        assert_eq!((found("a"), found("c"), found("")), (None, None, None));
    }

    #[test]
    fn runs_differ_in_what_they_were_asked_for() {
        let (one, other) = (run("a", &["j"], RunState::Done), run("b", &["j", "k"], RunState::Done));
        let change = RunChange { what: "judges".to_owned(), before: "j".to_owned(), after: "j, k".to_owned() };
        assert_eq!((one.run.changes(&other.run), one.run.changes(&one.run)), (vec![change], Vec::new()));
    }

    #[test]
    fn what_came_after_the_end_of_a_run_is_not_its_own() {
        let answer = |model: &str, at: i64| BenchAnswerRow {
            id: String::new(),
            item: "q".to_owned(),
            turn: 1,
            model: model.to_owned(),
            ask_sha256: String::new(),
            source: String::new(),
            params: String::new(),
            text: "text".to_owned(),
            attempts: 1,
            latency_ms: 1,
            input_tokens: None,
            output_tokens: None,
            created_at: Timestamp(at),
        };
        let done = run("a", &[], RunState::Done);
        assert!(done.has_answer(&answer("m", 10)) && !done.has_answer(&answer("m", 11)));
        assert!(!done.has_answer(&answer("other", 10)));
        assert!(run("a", &[], RunState::Running).has_answer(&answer("m", 11)), "it goes on");
    }
}
