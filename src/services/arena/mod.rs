//! Battles: how one begins, is answered, followed, voted on and ends.

pub mod abandonment;
pub mod battles;
pub mod fleet;
pub mod live;
mod live_battles;
pub mod matchmaking;
pub mod models;
pub mod parts;
pub mod raw_ticks;
mod relay;
pub mod sessions;
mod turn;
pub mod voting;
