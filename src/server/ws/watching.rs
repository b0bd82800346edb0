//! The battle and the chat that a socket shows, with the state of its client.

use super::chosen_models::ChosenModels;
use super::prompts::Prompts;
use super::rendered_view::RenderedReplies;
use crate::domain::battle::event_log::EventEntry;
use crate::domain::battle::progress::Stage;
use crate::infra::live_battles::{BattleUpdate, Watcher};
use crate::services::arena::post_vote_chat::PostVoteChat;

/// Battle whose events are sent as they occur.
pub(super) struct Watching {
    pub(super) watcher: Watcher,
    /// Rendered replies on the client's screen, if it requests HTML.
    pub(super) screen: Option<RenderedReplies>,
    pub(super) prompts: Prompts,
    pub(super) chosen: Option<ChosenModels>,
}

impl Watching {
    /// Whether the battle was abandoned, so that it emits no further events.
    pub(super) fn is_abandoned(&self) -> bool {
        self.watcher.battle().progress().stage == Stage::Abandoned
    }
}

/// Chat after the vote, with the state of the client's screen.
pub(super) struct OpenChat {
    pub(super) chat: PostVoteChat,
    pub(super) screen: Option<RenderedReplies>,
}

/// Waits for news of the watched battle, forever without one.
pub(super) async fn next_update(watching: &mut Option<Watching>) -> BattleUpdate {
    match watching {
        Some(watching) => watching.watcher.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for events of the chat after the vote, forever without one.
pub(super) async fn next_in_chat(chat: &mut Option<OpenChat>) -> Vec<EventEntry> {
    match chat {
        Some(open) => open.chat.next().await,
        None => std::future::pending().await,
    }
}
