//! The arena: starts, answers, follows and ends battles, and records votes.

pub mod access;
pub mod battles;
pub mod consent;
pub mod exclusion_rules;
pub mod fleet;
pub mod history;
pub mod matchmaking;
pub mod models;
pub mod parts;
pub mod prompt_images;
pub mod prompt_rules;
mod relay;
pub mod reply_moderation;
mod turn;
pub mod unrated_talk;
pub mod voting;
