//! Pages and API of the leaderboard and of models.

pub(super) mod charts;
pub(super) mod embed;
pub(super) mod feed;
pub(super) mod leaderboard_api;
pub(super) mod leaderboard_files;
pub(super) mod leaderboard_page;
pub(super) mod leaderboard_view;
pub(super) mod model;
pub(super) mod models;
pub(super) mod value;
