//! The ranked leaderboard: entries, snapshots, filters, notes and its history.

pub mod daily_rank_changes;
pub mod differences;
pub mod history;
pub mod leaderboard;
pub mod leaderboard_filter;
pub mod leaderboard_json;
pub mod leaderboard_snapshot;
pub mod own_leaderboard;
pub mod pair_matrices;
pub mod publication_schedule;
pub mod ranking;
