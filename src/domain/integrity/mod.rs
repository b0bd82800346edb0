//! Keeps the leaderboard hard to game: who voted, which votes a rule excludes, and why.

pub mod board_change;
pub mod cast_votes;
pub mod exclusion_rule;
pub mod exclusions_in_force;
pub mod prompt_cluster;
pub mod pseudonym;
