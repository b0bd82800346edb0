//! Texts flagged by the moderation service.

use std::borrow::Borrow;

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::battle::Side;
use crate::domain::moderation::{ANY_CATEGORY, ModeratedPart, ModerationFlagState};
use crate::domain::time::Timestamp;
use crate::frame::time::time_text;
use crate::infra::config::{ModerationSettings, OnFailure};
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::storage::{BattleRecord, ModerationFlagRow, ModerationReview, ReplyRow};

/// Health of the moderation service.
pub struct EndpointLine {
    pub host: String,
    pub answered: Option<String>,
    pub failing_since: Option<String>,
}

impl EndpointLine {
    pub fn new(endpoint: &ModerationEndpoint) -> Self {
        let state = endpoint.state();
        let text = |time: Option<Timestamp>| time.map(|time| time_text(time.0));
        let (answered, failing_since) = (text(state.answered_at), text(state.failing_since));
        Self { host: endpoint.host().to_owned(), answered, failing_since }
    }
}

/// Template of the list of flags.
#[derive(Template)]
#[template(path = "admin/moderation.html")]
pub struct FlagsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub flags: Vec<ModerationFlagRow>,
    pub open: u64,
    /// `None` without a moderation service.
    pub endpoint: Option<EndpointLine>,
    pub rules: ModerationSettings,
}

impl FlagsPage {
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, time: &Timestamp) -> String {
        time_text(time.0)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn class(&self, state: impl Borrow<ModerationFlagState>) -> &'static str {
        class(*state.borrow())
    }

    fn list(&self, categories: &[String]) -> String {
        let words = &self.page.t().admin.moderation;
        match categories {
            [] => words.no_category.to_owned(),
            [any] if any == ANY_CATEGORY => words.any_category.to_owned(),
            named => named.join(", "),
        }
    }

    fn failure(&self) -> &'static str {
        let [allow, refuse] = self.page.t().admin.moderation.on_failure;
        match self.rules.on_failure {
            OnFailure::Allow => allow,
            OnFailure::Refuse => refuse,
        }
    }
}

/// Template of one flag, with its battle.
#[derive(Template)]
#[template(path = "admin/flag.html")]
pub struct ModerationFlagPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub review: ModerationReview,
    /// Whether the user may delete texts and exclude votes.
    pub may_remove: bool,
}

impl ModerationFlagPage {
    fn is_open(&self) -> bool {
        self.review.row.state == ModerationFlagState::Open
    }

    fn class(&self) -> &'static str {
        class(self.review.row.state)
    }

    fn flagged(&self) -> String {
        time_text(self.review.row.flag.flagged_at.0)
    }

    /// Whether this text was flagged.
    fn is_flagged(&self, turn: &u32, part: ModeratedPart) -> bool {
        let flag = &self.review.row.flag;
        flag.turn == *turn && flag.part == part
    }

    /// Returns the replies of a turn with their labels.
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn replies<'r>(&self, record: &'r BattleRecord, turn: &u32) -> Vec<(&'static str, &'r str, ModeratedPart)> {
        let side = |row: &ReplyRow| match row.reply.side {
            Side::A => ("A", ModeratedPart::ReplyA),
            Side::B => ("B", ModeratedPart::ReplyB),
        };
        let of_turn = record.replies.iter().filter(|row| row.turn == *turn);
        let texts = of_turn.map(|row| (side(row), row.reply.text.as_str()));
        texts.map(|((letter, part), text)| (letter, text, part)).collect()
    }
}

fn class(state: ModerationFlagState) -> &'static str {
    match state {
        ModerationFlagState::Open => "warning",
        ModerationFlagState::Kept => "ok",
        ModerationFlagState::Removed => "other",
    }
}
