//! Reads the stored votes into derived data: columns, counts, prompt clusters and final labels.
//!
//! The log is read in pages, so that memory holds only the derived data. [`vote_log`] reads the columns for a fit, [`vote_tally`] and
//! [`rated_votes`] read new votes incrementally, [`prompt_index`] finds repeated prompts, [`selection`] finds votes by an operator's
//! filter, and [`final_labels`] reads the labels that count.

pub mod final_labels;
pub mod prompt_index;
pub mod rated_votes;
pub mod selection;
pub mod vote_log;
pub mod vote_tally;
