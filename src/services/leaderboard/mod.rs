//! Leaderboards: counts and refits the published one as votes arrive, fits filtered ones on demand, and reports how firm the
//! published one is.

pub mod background_report;
pub mod day_feed;
pub mod exclusion_report;
pub mod filtered;
pub mod latest_leaderboard;
pub mod robustness;
pub mod value;
