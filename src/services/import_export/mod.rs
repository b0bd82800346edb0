//! Import and export.

pub mod export;
pub mod import;
mod imported_battle_ids;
pub mod vote_log_pages;
