//! Jobs, health and instances.

use std::borrow::Borrow;
use std::time::Duration;

use askama::Template;

use super::AdminFrame;
use crate::domain::doctor::{Finding, Severity};
use crate::domain::language::Language;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::infra::events::BusState;
use crate::render::i18n::doctor::{FindingWords, check_name, finding_words};

/// What a check found.
pub(crate) struct FindingLine {
    check: &'static str,
    severity: Severity,
    words: FindingWords,
}

impl FindingLine {
    pub(crate) fn new(finding: &Finding, language: Language) -> Self {
        let check = check_name(finding.check(), language);
        Self { check, severity: finding.severity(), words: finding_words(finding, language) }
    }
}

/// A job.
pub(crate) struct JobLine {
    pub(crate) name: &'static str,
    pub(crate) state: JobLineState,
    /// How long ago the last run ended, and how long it took.
    pub(crate) last: Option<(Duration, Duration)>,
    /// Within which time it runs again; `None` where it waits for work.
    pub(crate) next: Option<Duration>,
    /// How long ago the last failure was, and its reason.
    pub(crate) failure: Option<(Duration, String)>,
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobLineState {
    Running,
    Waiting,
    Down,
    Restarted,
}

/// An instance.
pub(crate) struct InstanceLine {
    pub(crate) id: String,
    pub(crate) is_own: bool,
    pub(crate) started_ms: i64,
    /// How long ago it last wrote.
    pub(crate) seen: Duration,
    pub(crate) has_same_settings: bool,
}

impl InstanceLine {
    fn started(&self) -> String {
        time_text(self.started_ms)
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/operations.html")]
pub(crate) struct OperationsPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) findings: Vec<FindingLine>,
    pub(crate) jobs: Vec<JobLine>,
    /// None where the database is embedded.
    pub(crate) instances: Vec<InstanceLine>,
    pub(crate) bus: BusState,
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
