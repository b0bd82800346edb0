//! The list of benchmark runs.

use askama::Template;

use super::AdminFrame;
use super::bench_plans::{PlanView, money, state_class};
use crate::Page;
use crate::domain::benchmark::runs::run_state::{DueCount, RunState};
use crate::frame::time::time_text;
use crate::infra::storage::BenchRunRow;
use crate::render::i18n::pages::{FailureWords, failure_words};

/// Row of a benchmark run.
pub struct RunLine {
    pub row: BenchRunRow,
    /// Current state of the run.
    pub state: RunState,
}

impl RunLine {
    /// Formats the times of the start and the last change.
    fn times(&self) -> [String; 2] {
        [self.row.run.started_at, self.row.changed_at].map(|time| time_text(time.0))
    }

    fn class(&self) -> &'static str {
        state_class(self.state)
    }

    /// Returns the progress of answers and judgements.
    fn counts(&self) -> [DueCount; 2] {
        [self.row.snapshot.answers, self.row.snapshot.judgements]
    }
}

/// Template of the list of runs.
#[derive(Template)]
#[template(path = "admin/bench_runs.html")]
pub struct BenchRunsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub runs: Vec<RunLine>,
    /// Progress of the latest plan.
    pub plan: Option<PlanView>,
    /// Whether the viewer may start plans.
    pub may_change: bool,
}

impl BenchRunsPage {
    fn money(amount: &Option<f64>) -> String {
        money(*amount)
    }

    fn state(&self, run: &RunLine) -> &'static str {
        self.page.t().admin.bench_runs.state(run.state)
    }

    /// Translates a stored error or note.
    fn failure(&self, stored: &str) -> FailureWords {
        failure_words(stored, self.page.language)
    }

    fn expected(&self, run: &RunLine) -> String {
        let unknown = || self.page.t().admin.bench_runs.expected_unknown.to_owned();
        run.row.run.expected_cost.map_or_else(unknown, |cost| format!("{cost:.4}"))
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn cost(&self, run: &RunLine) -> String {
        format!("{:.4}", run.row.snapshot.spent.cost)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::battle::ModelId;
    use crate::domain::benchmark::runs::run_report::RunOutcome;
    use crate::domain::benchmark::scores::judgement::Status;
    use crate::domain::judging::budget::Tokens;
    use crate::domain::language::Language;
    use crate::infra::llm::ChatError;
    use crate::infra::llm::batch::BatchEnd;
    use crate::infra::llm::model_client::AskError;
    use crate::infra::storage::{OutageKind, StoreError};

    #[test]
    fn what_failed_is_said_in_chinese_where_it_is_known_and_quoted_after_a_chinese_sentence_where_it_is_not() {
        let mut outcome = RunOutcome::new(ModelId::new("crane"));
        outcome.fail(ChatError::Empty.to_string());
        let error = ChatError::Status { status: 400, retry_after: None };
        let refused = AskError::Refused { error, attempts: 1, latency: Duration::ZERO, lost: Tokens::default() };
        outcome.fail(refused.to_string());
        for status in [Status::ParseFailed, Status::OutOfRange, Status::Refused, Status::EmptyAnswer] {
            outcome.ended(status);
        }
        let outage = StoreError::Outage(OutageKind::DiskFull);
        for (stored, expected) in [
            (
                format!("{}: {}", outcome.model, outcome.failures()),
                "crane：分数超出范围（1 次）；回答为空，无可评判（1 次）；没有按要求的格式给出结论（1 次）；\
                 裁判或其服务商拒绝评判（1 次）；服务商拒绝了这个请求：服务商返回了状态码 400（1 次）；回答为空（1 次）",
            ),
            (outage.to_string(), "数据库：所在磁盘已满，请清理空间"),
            ("the database failed".to_owned(), "数据库：操作失败，详见程序日志"),
            ("it panicked, see the log".to_owned(), "任务意外中断，详见程序日志"),
        ] {
            let said = FailureWords { said: expected.to_owned(), quoted: String::new() };
            assert_eq!(failure_words(&stored, Language::Chinese), said, "{stored}");
            let english = FailureWords { said: String::new(), quoted: stored.clone() };
            assert_eq!(failure_words(&stored, Language::English), english, "English is as it is stored");
        }
        for stored in ["two: <timed out>", "crane: 1 × a library's own words", "crane: many × the reply was empty"] {
            let FailureWords { said, quoted } = failure_words(stored, Language::Chinese);
            assert_eq!((said.as_str(), quoted.as_str()), ("这条说明没有中文译文，英文原文如下：", stored));
        }
    }

    #[test]
    fn every_outage_of_the_database_and_every_end_of_a_batch_is_said_in_chinese() {
        let is_said = |stored: &str| failure_words(stored, Language::Chinese).quoted.is_empty();
        for kind in [
            OutageKind::Unreachable,
            OutageKind::NoConnection,
            OutageKind::Denied,
            OutageKind::NoPrivilege,
            OutageKind::ReadOnly,
            OutageKind::FsyncOff,
            OutageKind::FullPageWritesOff,
            OutageKind::DiskFull,
            OutageKind::FolderFull,
            OutageKind::FolderUnusable,
            OutageKind::WriteLocked,
            OutageKind::TableLocked,
            OutageKind::Damaged,
            OutageKind::FileReplaced,
        ] {
            assert!(is_said(&StoreError::Outage(kind).to_string()), "{kind}");
        }
        for end in [
            BatchEnd::Expired,
            BatchEnd::Cancelled,
            BatchEnd::Missing,
            BatchEnd::Unreadable("400".to_owned()),
            BatchEnd::Failed("400".to_owned()),
            BatchEnd::Gone,
            BatchEnd::NotRecorded,
            BatchEnd::GoesOn,
        ] {
            let stored = format!("1 × {}", ChatError::Unanswered(end));
            let FailureWords { said, .. } = failure_words(&stored, Language::Chinese);
            assert!(!said.is_empty() && !said.contains(|c: char| c.is_ascii_alphabetic()), "{stored}: {said}");
        }
    }
}
