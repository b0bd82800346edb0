//! The battle and the conversation that a socket shows, and what its client has of them.

use super::chosen_models::ChosenModels;
use super::prompts::Prompts;
use super::rendered_view::Screen;
use crate::domain::battle::event_log::EventEntry;
use crate::infra::live_battles::Watcher;
use crate::services::arena::post_vote_chat::PostVoteChat;

/// A battle whose events are sent as they come.
pub(super) struct Watching {
    pub(super) watcher: Watcher,
    /// What the client has on its screen, where it wants HTML.
    pub(super) screen: Option<Screen>,
    pub(super) prompts: Prompts,
    pub(super) chosen: Option<ChosenModels>,
}

/// A conversation after the vote, and what the client has of it on its screen.
pub(super) struct OpenChat {
    pub(super) chat: PostVoteChat,
    pub(super) screen: Option<Screen>,
}

/// Waits for events of the battle that is watched, and forever where there is none; `None` where it goes on in another place.
pub(super) async fn next_entries(watching: &mut Option<Watching>) -> Option<Vec<EventEntry>> {
    match watching {
        Some(watching) => watching.watcher.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for events of the conversation after the vote, and forever where there is none.
pub(super) async fn next_in_chat(chat: &mut Option<OpenChat>) -> Vec<EventEntry> {
    match chat {
        Some(open) => open.chat.next().await,
        None => std::future::pending().await,
    }
}
