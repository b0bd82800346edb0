//! The collapsed robustness section of the leaderboard page.

use crate::domain::integrity::rigging::rigging_report::RiggingReport;
use crate::domain::language::Language;
use crate::domain::rating::robustness::OverallRobustness;
use crate::domain::time::Timestamp;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{RobustnessAnswer, page_texts};

/// Questions and answers about the robustness of the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustnessDetails {
    pub(crate) answers: Vec<RobustnessAnswer>,
    /// Time of computation and number of votes.
    pub(crate) computed: String,
}

impl RobustnessDetails {
    /// Formats the report; `name` maps a model id to its display name. `None` if the report is empty.
    pub fn new(
        report: &OverallRobustness,
        rigging: &RiggingReport,
        computed_at: Timestamp,
        language: Language,
        name: impl Fn(&str) -> String,
    ) -> Option<Self> {
        let texts = &page_texts(language).robustness;
        let mut answers = texts.answers(report, &name);
        if !answers.is_empty() {
            answers.extend(page_texts(language).rigging.answers(rigging, report.votes, &name));
        }
        let time = jiff::Timestamp::from_millisecond(computed_at.0).ok()?;
        let (votes, time) = (report.votes.to_string(), time.strftime("%Y-%m-%d %H:%M UTC").to_string());
        let computed = fill(texts.computed, &[("votes", &votes), ("time", &time)]);
        (!answers.is_empty()).then_some(Self { answers, computed })
    }
}
