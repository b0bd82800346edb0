//! Cost of rigging a leaderboard: simulated attacks and the report on them.

pub mod rigging_report;
pub mod rigging_simulation;
