//! Websockets: `/ws/battle` and `/ws/leaderboard`.
//!
//! [`frame_limit`] bounds received frames, `outbox` queued ones, [`protocol`] defines the message format, [`battle_socket`] moves them
//! between a socket and the battle services, and [`leaderboard`] sends new leaderboards to open pages. The rules of battles are not here.

pub mod battle_socket;
mod chosen_models;
pub mod error_codes;
pub mod frame_limit;
pub mod leaderboard;
mod message_rate_limit;
pub(crate) mod outbox;
mod ping_timeout;
mod prompts;
pub mod protocol;
mod rendered_view;
mod watching;
