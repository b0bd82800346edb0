//! Exclusions of votes: rules, decisions, reports, and the votes that remain.

pub mod automatic_exclusion;
pub mod exclusion_decision;
pub mod exclusion_report;
pub mod exclusion_rule;
pub mod exclusions_in_force;
pub mod leaderboard_change;
pub mod ratable_votes;
