//! Leaderboards: counts and refits the published one as votes arrive, and fits filtered ones on demand.

pub mod filtered;
mod freshness;
pub mod rated_votes;
pub mod refit;
pub mod stored;
pub mod value;
pub mod vote_log;
pub mod vote_tally;
