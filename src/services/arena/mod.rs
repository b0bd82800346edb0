//! The arena: starts, answers, follows and ends battles, and records votes.

pub mod access;
pub mod battle_dependencies;
pub mod battles;
pub mod consent_version;
pub mod exclusion_rules;
pub mod history;
pub mod instances;
mod model_speeds;
pub mod models;
pub mod pair_selection;
pub mod post_vote_chat;
pub mod prompt_images;
pub mod prompt_rules;
mod remote_battles;
pub mod reply_moderation;
mod turn;
pub mod voting;
