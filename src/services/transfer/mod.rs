//! Moving data in and out of an arena.

pub mod export;
pub mod import;
