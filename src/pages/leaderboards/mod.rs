//! Pages of the leaderboard and of models: the table, its filters, charts, feeds and frames for other sites.

pub mod charts;
pub mod embed;
pub mod feed;
pub mod leaderboard;
pub mod leaderboard_controls;
pub mod leaderboard_query;
pub mod leaderboard_selection;
pub mod model;
pub mod models;
pub mod robustness_details;
pub mod value;
