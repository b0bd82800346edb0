//! Votes in columns: the log, selections of it, and weights.

pub(super) mod interned_texts;
pub mod makers;
pub mod prompt_label_names;
pub mod scoring;
pub mod slice;
pub mod vote_log;
pub mod vote_range;
