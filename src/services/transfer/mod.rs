//! Import and export.

mod battle_names;
pub mod export;
pub mod import;
pub mod vote_lines;
