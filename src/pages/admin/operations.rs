//! Jobs, health and instances.

use std::borrow::Borrow;
use std::time::Duration;

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::doctor::{Finding, Severity};
use crate::domain::language::Language;
use crate::infra::events::BusState;
use crate::render::i18n::doctor::{FindingWords, check_name, finding_words};
use crate::time::time_text;

/// What a check found.
pub struct FindingLine {
    check: &'static str,
    severity: Severity,
    words: FindingWords,
}

impl FindingLine {
    pub fn new(finding: &Finding, language: Language) -> Self {
        let check = check_name(finding.check(), language);
        Self { check, severity: finding.severity(), words: finding_words(finding, language) }
    }
}

/// A job.
pub struct JobLine {
    pub name: &'static str,
    pub state: JobLineState,
    /// How long ago the last run ended, and how long it took.
    pub last: Option<(Duration, Duration)>,
    /// Within which time it runs again; `None` where it waits for work.
    pub next: Option<Duration>,
    /// How long ago the last failure was, and its reason.
    pub failure: Option<(Duration, String)>,
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobLineState {
    Running,
    Waiting,
    Down,
    Restarted,
}

/// An instance.
pub struct InstanceLine {
    pub id: String,
    pub is_own: bool,
    pub started_ms: i64,
    /// How long ago it last wrote.
    pub seen: Duration,
    pub has_same_settings: bool,
}

impl InstanceLine {
    fn started(&self) -> String {
        time_text(self.started_ms)
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/operations.html")]
pub struct OperationsPage {
    pub page: Page,
    pub frame: AdminFrame,
    /// Why the settings file as it stands is not in force.
    pub settings_problem: Option<String>,
    pub findings: Vec<FindingLine>,
    pub jobs: Vec<JobLine>,
    /// None where the database is embedded.
    pub instances: Vec<InstanceLine>,
    pub bus: BusState,
}

impl OperationsPage {
    fn job_state(&self, state: &JobLineState) -> &'static str {
        let words = &self.page.t().admin.operations;
        match state {
            JobLineState::Running => words.running,
            JobLineState::Waiting => words.waiting,
            JobLineState::Down => words.down,
            JobLineState::Restarted => words.restarted,
        }
    }

    /// The class and the word of a result.
    fn result(&self, severity: impl Borrow<Severity>) -> (&'static str, &'static str) {
        let [ok, warning, wrong] = self.page.t().admin.operations.results;
        match severity.borrow() {
            Severity::Ok => ("ok", ok),
            Severity::Warning => ("warning", warning),
            Severity::Wrong => ("wrong", wrong),
        }
    }

    fn redis(&self) -> &'static str {
        let [alone, connected, lost] = self.page.t().admin.operations.redis_states;
        match self.bus {
            BusState::Alone => alone,
            BusState::Connected => connected,
            BusState::Lost => lost,
        }
    }
}
