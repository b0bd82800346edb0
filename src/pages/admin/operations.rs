//! The operations page: jobs, health and instances.

use std::borrow::Borrow;
use std::time::Duration;

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::doctor::{Finding, Severity};
use crate::domain::language::Language;
use crate::frame::time::time_text;
use crate::infra::events::BusState;
use crate::render::i18n::doctor::{FindingWords, check_name, finding_words};
use crate::render::i18n::pages::{FailureWords, failure_words};

/// Row of a health check.
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

/// Row of a background job.
pub struct JobLine {
    pub name: &'static str,
    pub state: JobLineState,
    /// Time since the last run ended, and its duration.
    pub last: Option<(Duration, Duration)>,
    /// Maximum time until the next run; `None` if the job waits for work.
    pub next: Option<Duration>,
    /// Time since the last failure, and its reason.
    pub failure: Option<(Duration, String)>,
}

/// State of a background job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobLineState {
    Running,
    Waiting,
    Down,
    Restarted,
}

/// Row of an instance.
pub struct InstanceLine {
    pub id: String,
    pub is_own: bool,
    pub started_ms: i64,
    /// Time since the instance's last heartbeat.
    pub seen: Duration,
    pub has_same_settings: bool,
}

impl InstanceLine {
    fn started(&self) -> String {
        time_text(self.started_ms)
    }
}

/// Template of the operations page.
#[derive(Template)]
#[template(path = "admin/operations.html")]
pub struct OperationsPage {
    pub page: Page,
    pub frame: AdminFrame,
    /// Reason why the current settings file is not in force.
    pub settings_problem: Option<String>,
    pub findings: Vec<FindingLine>,
    pub jobs: Vec<JobLine>,
    /// Running instances; empty with an embedded database.
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

    fn failure(&self, reason: &str) -> FailureWords {
        failure_words(reason, self.page.language)
    }

    /// Returns CSS class and text of a severity.
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
