//! Requests to delete what was said in battles.

use std::borrow::Borrow;

use askama::Template;

use super::AdminFrame;
use crate::domain::admin::deletion_request::{DeletionRequestState, DeletionScope};
use crate::domain::time::Timestamp;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::infra::storage::{BattleRecord, DeletionRequestRow};
use crate::services::deletion_requests::{DeletionPreview, LONGEST_REASON};

/// All requests.
#[derive(Template)]
#[template(path = "admin/requests.html")]
pub(crate) struct RequestsPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) requests: Vec<DeletionRequestRow>,
    /// Days after which texts go by themselves; 0 for never.
    pub(crate) text_days: u32,
    /// What was typed, where it was refused.
    pub(crate) battle: String,
    pub(crate) reason: String,
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

/// One request, with what deleting would concern.
#[derive(Template)]
#[template(path = "admin/request.html")]
pub(crate) struct RequestPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) preview: DeletionPreview,
    /// What was typed, where it was refused.
    pub(crate) answer: String,
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

    /// The replies of a turn.
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
