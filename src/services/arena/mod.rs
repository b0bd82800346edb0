//! The arena: starts, answers, follows and ends battles, and records votes.

pub mod abandonment;
pub mod access;
pub mod battles;
pub mod class_draws;
pub mod fleet;
pub mod history;
pub mod live;
pub mod matchmaking;
pub mod models;
pub mod parts;
pub mod proofs;
pub mod raw_ticks;
mod relay;
mod running_battles;
pub mod sessions;
mod turn;
pub mod unrated_talk;
pub mod vote_rules;
pub mod voting;
