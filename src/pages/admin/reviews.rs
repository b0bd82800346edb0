//! Review queues for identity leaks and prompt labels.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::labeling::queue::QueuedQuery;
use crate::domain::labeling::scheme::Scheme;
use crate::infra::storage::{BattleRecord, LeakCheckState, LeakReview};
use crate::render::i18n::fill;

/// Template of the leak review.
#[derive(Template)]
#[template(path = "admin/leaks.html")]
pub struct LeaksPage {
    pub page: Page,
    pub frame: AdminFrame,
    /// Result of the automatic leak check, if one is configured.
    pub check: Option<LeakCheckState>,
    pub review: Option<LeakReview>,
    /// Names of the models, if the battle is known.
    pub models: Option<[String; 2]>,
}

impl LeaksPage {
    /// Describes the result of the automatic check in a sentence.
    fn checked(&self, check: &LeakCheckState) -> String {
        let numbers = [check.counts.checked, check.counts.found, check.counts.unread, check.waiting];
        let [checked, found, unread, waiting] = numbers.map(|number| number.to_string());
        let values = [
            ("model", check.judge.as_str()),
            ("checked", &checked),
            ("found", &found),
            ("unread", &unread),
            ("waiting", &waiting),
        ];
        fill(self.page.t().admin.reviews.leaks_checked, &values)
    }

    /// Returns the replies of a turn with their labels.
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn replies<'r>(&self, record: &'r BattleRecord, turn: &u32) -> Vec<(&'static str, &'r str)> {
        let of_turn = record.replies.iter().filter(|row| row.turn == *turn);
        of_turn.map(|row| (row.reply.side.letter(), row.reply.text.as_str())).collect()
    }
}

/// Template of the label review.
#[derive(Template)]
#[template(path = "admin/labels.html")]
pub struct LabelsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub scheme: Scheme,
    pub queued: Option<QueuedQuery>,
    pub labels: Vec<&'static str>,
}

impl LabelsPage {
    fn suggestion(&self, queued: &QueuedQuery) -> String {
        let words = &self.page.t().admin.reviews;
        let percent = format!("{:.0}", 100.0 * queued.confidence);
        let label = self.page.t().slices.name(&queued.suggested);
        words.suggested.replace("{label}", label).replace("{percent}", &percent)
    }
}
