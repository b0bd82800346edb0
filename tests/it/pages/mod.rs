//! Pages, by their HTML.

pub(super) mod benchmark_pages;
pub(super) mod branding;
pub(super) mod chinese;
pub(super) mod consent;
pub(super) mod correlation_page;
pub(super) mod docs;
pub(super) mod embed;
pub(super) mod feed;
pub(super) mod leaderboard_page;
pub(super) mod robustness_page;
