//! Import and export.

pub mod export;
pub mod import;
