//! Reports as Markdown and HTML, with their charts.

pub mod benchmark;
pub mod campaign;
pub mod correlation;
mod file;
pub mod study;
pub mod suite_score_table;
