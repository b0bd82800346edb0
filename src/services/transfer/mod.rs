//! Import and export.

pub mod export;
pub mod import;
pub mod vote_lines;
