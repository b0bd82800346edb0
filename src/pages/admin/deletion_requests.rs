//! Requests to delete the texts of battles.

use std::borrow::Borrow;

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::deletion_request::{DeletionRequestState, DeletionScope};
use crate::domain::time::Timestamp;
use crate::frame::time::time_text;
use crate::infra::storage::{BattleRecord, DeletionPreview, DeletionRequestRow};

/// Template of the list of deletion requests.
#[derive(Template)]
#[template(path = "admin/requests.html")]
pub struct RequestsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub requests: Vec<DeletionRequestRow>,
    /// Retention period of texts in days; 0 for unlimited.
    pub text_days: u32,
    /// Battle as typed, after a refusal.
    pub battle: String,
    pub reason: String,
}

impl RequestsPage {
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, time: &Timestamp) -> String {
        time_text(time.0)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn class(&self, state: impl Borrow<DeletionRequestState>) -> &'static str {
        class(*state.borrow())
    }
}

/// Template of one deletion request, with the affected battle.
#[derive(Template)]
#[template(path = "admin/request.html")]
pub struct RequestPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub preview: DeletionPreview,
    /// Answer as typed, after a refusal.
    pub answer: String,
}

impl RequestPage {
    fn is_open(&self) -> bool {
        self.preview.row.state == DeletionRequestState::Open
    }

    fn class(&self) -> &'static str {
        class(self.preview.row.state)
    }

    fn asked(&self) -> String {
        time_text(self.preview.row.request.created_at.0)
    }

    fn concerned(&self) -> String {
        self.page.t().admin.requests.concerned.replace("{n}", &self.preview.battles.to_string())
    }

    /// Returns the replies of a turn with their labels.
    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn replies<'r>(&self, record: &'r BattleRecord, turn: &u32) -> Vec<(&'static str, &'r str)> {
        let of_turn = record.replies.iter().filter(|row| row.turn == *turn);
        of_turn.map(|row| (row.reply.side.letter(), row.reply.text.as_str())).collect()
    }
}

fn class(state: DeletionRequestState) -> &'static str {
    match state {
        DeletionRequestState::Open => "warning",
        DeletionRequestState::Done => "ok",
        DeletionRequestState::Refused => "other",
    }
}
