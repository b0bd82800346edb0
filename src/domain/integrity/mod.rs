//! Keeps the leaderboard hard to game: who voted, which votes a rule excludes, and why.

pub mod exclusion_rule;
pub mod exclusions_in_force;
pub mod leak;
pub mod pseudonym;
