//! Suites, answers, judgements, runs and plans as they are kept.

use super::judgement::{Judgement, Status};
use super::run_manifest::{ReportedRun, RunChange, RunManifest};
use super::run_plan::RunPlan;
use super::run_report::PlannedStep;
use super::run_state::{DueCount, RunSnapshot, RunState};
use super::suite_id::SuiteId;
use crate::time::Timestamp;

/// A data file of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchSuiteRow {
    /// The suite.
    pub suite: SuiteId,
    /// SHA-256 of the data file.
    pub version: String,
    /// The file's name.
    pub source: String,
    /// The suite file of a custom suite; `None` for a built-in one.
    pub declaration: Option<String>,
    /// How many items it has.
    pub items: u64,
    /// When it was imported.
    pub imported_at: Timestamp,
}

/// One round of answers to the items of one data file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BenchSet {
    /// The suite.
    pub suite: SuiteId,
    /// SHA-256 of the data file.
    pub version: String,
    /// Which of repeated answers, from 1.
    pub sample: u32,
}

impl BenchSet {
    /// Its name in what tells requests apart.
    #[must_use]
    pub fn round(&self) -> String {
        format!("{} {} {}", self.suite, self.version, self.sample)
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchAnswerRow {
    /// Its id.
    pub id: String,
    /// The item.
    pub item: String,
    /// The turn, from 1.
    pub turn: u32,
    /// The model.
    pub model: String,
    /// SHA-256 of the question: its messages and how it was to be sampled.
    pub ask_sha256: String,
    /// The file that it came from; empty where it was asked here.
    pub source: String,
    /// How it was sampled, as JSON.
    pub params: String,
    /// The answer; may be empty.
    pub text: String,
    /// Requests that it took.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub latency_ms: u64,
    /// Tokens of the question, where the provider counts.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// When it was complete.
    pub created_at: Timestamp,
}

/// How often a judge's judgements of a model ended in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedGroup {
    /// Which round of answers was judged, from 1.
    pub sample: u32,
    /// How it was judged where that is not the suite's own way; else empty.
    pub variant: String,
    /// The judge; empty where none is needed.
    pub judge: String,
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// The judged model.
    pub model: String,
    /// How the judgements ended.
    pub status: Status,
    /// How many.
    pub count: u64,
}

/// A judgement without its words and its request.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredJudgement {
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// What was read; texts and requests are empty, and tokens where an earlier reply was taken.
    pub judgement: Judgement,
}

/// A run as it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct NewBenchRun {
    /// Its id; sorts by time.
    pub id: String,
    /// The suite.
    pub suite: String,
    /// SHA-256 of its data file.
    pub version: String,
    /// Which round of answers.
    pub sample: u32,
    /// Ids of the models that answer or are judged.
    pub models: Vec<String>,
    /// Ids of the judges.
    pub judges: Vec<String>,
    /// Id of the model that others are compared with; empty where there is none.
    pub baseline: String,
    /// Answers due.
    pub answers: DueCount,
    /// Judgements due.
    pub judgements: DueCount,
    /// What it is expected to cost; `None` where a model has no prices.
    pub expected_cost: Option<f64>,
    /// What it is made of.
    pub manifest: RunManifest,
    /// The plan that it belongs to; `None` for a run of its own.
    pub plan: Option<PlanStep>,
    /// Now.
    pub started_at: Timestamp,
}

impl NewBenchRun {
    /// What differs from another run beside what the two are made of.
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

    /// What a report says of it.
    #[must_use]
    pub fn reported(self) -> ReportedRun {
        let Self { id, started_at, models, judges, baseline, manifest, .. } = self;
        ReportedRun { run: id, started_at: started_at.0, models, judges, baseline, manifest }
    }
}

/// Which run of a kept plan something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The plan.
    pub plan: String,
    /// Position in the plan, from 0.
    pub step: u32,
}

/// A run as it was last written.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRunRow {
    /// How it began.
    pub run: NewBenchRun,
    /// What it has come to.
    pub snapshot: RunSnapshot,
    /// Its last sign of life.
    pub changed_at: Timestamp,
}

impl BenchRunRow {
    /// The run whose id ends like this, if there is one only.
    #[must_use]
    pub fn find<'r>(runs: &'r [Self], id: &str) -> Option<&'r Self> {
        let mut found = runs.iter().filter(|row| !id.is_empty() && row.run.id.ends_with(id));
        match (found.next(), found.next()) {
            (Some(run), None) => Some(run),
            _ => None,
        }
    }

    /// Whether a judgement is of its models, by its judges, and was there when it ended.
    #[must_use]
    pub fn has_judgement(&self, row: &ScoredJudgement) -> bool {
        let (run, said) = (&self.run, &row.judgement);
        let is_judge = run.judges.is_empty() || run.judges.contains(&said.judge_model);
        said.ts <= self.ended_at() && run.models.contains(&said.model) && is_judge && row.baseline == run.baseline
    }

    /// Whether an answer to its suite is of its models, and was there when it ended.
    #[must_use]
    pub fn has_answer(&self, answer: &BenchAnswerRow) -> bool {
        answer.created_at.0 <= self.ended_at() && self.run.models.contains(&answer.model)
    }

    /// When it ended; a run that asks has not.
    fn ended_at(&self) -> i64 {
        if self.snapshot.state == RunState::Running { i64::MAX } else { self.changed_at.0 }
    }
}

/// A plan that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchPlanRow {
    /// Its id.
    pub id: String,
    /// What is asked for.
    pub plan: RunPlan,
    /// What each of its runs was to ask when it was started.
    pub steps: Vec<PlannedStep>,
    /// Where it stands.
    pub state: RunState,
    /// Whether somebody wants it to end.
    pub stop_asked: bool,
    /// What it waits for, or why it ended; may be empty.
    pub note: String,
    /// Who started it.
    pub started_by: String,
    /// When.
    pub started_at: Timestamp,
    /// Its last sign of life.
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
