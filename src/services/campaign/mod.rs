//! Campaigns: created from files, judged by annotators, reported.

pub mod administration;
pub mod annotating;
pub mod asked_answers;
pub mod creation;
mod ending;
pub mod joining;
pub mod report_cache;
pub mod reports;
pub mod suite_answers;
