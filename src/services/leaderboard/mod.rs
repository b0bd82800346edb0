//! Leaderboards: counts votes and refits the published one, fits filtered ones on demand, and reports the robustness of the published one.

pub mod background_report;
pub mod day_feed;
pub mod exclusion_report;
pub mod filtered;
pub mod latest_leaderboard;
pub mod robustness;
pub mod value;
