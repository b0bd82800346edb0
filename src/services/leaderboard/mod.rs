//! Leaderboards: read from the votes, refitted as they come, kept, and fitted for a part of the votes when somebody asks.

pub mod filtered;
pub mod refit;
pub mod vote_log;
pub mod vote_tally;
