//! How firm the leaderboard is, folded away on its page.

use crate::domain::integrity::rigging_report::RiggingReport;
use crate::domain::language::Language;
use crate::domain::rating::robustness::OverallRobustness;
use crate::domain::time::Timestamp;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{RobustnessAnswer, page_texts};

/// Questions and answers about the latest leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustnessDetails {
    pub(super) answers: Vec<RobustnessAnswer>,
    /// When this was computed, and from how many votes.
    pub(super) computed: String,
}

impl RobustnessDetails {
    /// `name` gives the name that people read of a model. `None` where there is nothing to say.
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
