//! The overview page of the admin.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::integrity::anomalous_voters::voter_check_state::VoterCheckState;
use crate::frame::time::time_text;
use crate::infra::storage::AdminOverview;

/// Active or paused model.
pub struct OverviewModel {
    pub name: String,
    /// Pairing weight; 0 means paused.
    pub weight: f64,
    /// Whether the circuit breaker is closed.
    pub healthy: bool,
    /// Consecutive failures.
    pub failures: u32,
}

/// Setup step of a new arena.
pub struct FirstStep {
    pub is_done: bool,
    /// Address of the page for this step.
    pub path: &'static str,
    pub text: &'static str,
    pub hint: &'static str,
}

impl OverviewModel {
    fn is_paused(&self) -> bool {
        self.weight <= 0.0
    }
}

/// Template of the overview page.
#[derive(Template)]
#[template(path = "admin/overview.html")]
pub struct OverviewPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub overview: AdminOverview,
    /// Setup steps still open; empty once the arena is in use.
    pub first_steps: Vec<FirstStep>,
    pub models: Vec<OverviewModel>,
    /// Number of rated votes on the leaderboard.
    pub rated: u64,
    pub fitted_ms: Option<i64>,
    /// Whether the database is known to fail.
    pub database_outage: bool,
    /// Reason why the current settings file is not in force.
    pub settings_problem: Option<String>,
    /// State of the automatic voter check; `None` where flagged voters are only listed.
    pub voter_check: Option<VoterCheckState>,
    /// Time since which the moderation service has failed.
    pub moderation_failing_since: Option<String>,
}

impl OverviewPage {
    fn fitted(&self) -> String {
        self.fitted_ms.map_or_else(|| "–".to_owned(), time_text)
    }

    fn checked(&self) -> Option<String> {
        let checked_at = self.voter_check?.checked_at;
        Some(checked_at.map_or_else(|| "–".to_owned(), |time| time_text(time.0)))
    }

    fn check_failing_since(&self) -> Option<String> {
        self.voter_check?.failing_since.map(|time| time_text(time.0))
    }

    fn withheld(&self) -> Option<u64> {
        self.voter_check?.withheld
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, milliseconds: &i64) -> String {
        time_text(*milliseconds)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::domain::language::Language;
    use crate::infra::llm::ChatError;
    use crate::render::i18n::pages::page_texts;

    #[test]
    fn why_a_reply_failed_is_said_in_chinese() {
        let [english, chinese] = Language::ALL.map(|language| &page_texts(language).admin.overview);
        let timeout = |awaited| ChatError::Timeout { awaited, after: Duration::from_millis(1_500) };
        for (error, text) in [
            (
                ChatError::Unreached("refused: nothing listens there".into()),
                "与服务商的连接失败：被拒绝，该地址没有服务在监听",
            ),
            (ChatError::Connection("it broke off".into()), "与服务商的连接失败：中断"),
            (ChatError::Status { status: 401, retry_after: None }, "服务商返回了状态码 401"),
            (ChatError::Malformed("its body is a web page".into()), "服务商的数据流格式有误：内容是网页"),
            (ChatError::Reported, "服务商在传输途中报告了错误"),
            (ChatError::Empty, "回答为空"),
            (timeout("first token"), "1.5 秒内没有收到首字"),
            (timeout("next token"), "1.5 秒内没有收到后续内容"),
            (timeout("end of the reply"), "1.5 秒内回答没有结束"),
            (ChatError::BreakerOpen, "模型多次失败，已暂停使用，稍后会自动重试"),
        ] {
            assert_eq!(chinese.failure(&error.to_string()).as_deref(), Some(text));
            assert_eq!(english.failure(&error.to_string()), None, "English is as it is stored");
        }
        assert_eq!(chinese.failure("no news is good news"), None);
    }
}
