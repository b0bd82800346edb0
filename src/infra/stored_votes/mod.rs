//! Reads the stored votes into what is computed of them: columns, counts, prompt clusters and final labels.
//!
//! The log is read in pages, so that memory holds what a reading keeps and no more. [`vote_log`] reads the columns that a fit needs,
//! [`vote_tally`] and [`rated_votes`] go on with new votes only, [`prompt_index`] finds repeated prompts,
//! [`selection`] what an operator asks for, and [`final_labels`] are the labels that count.

pub mod final_labels;
pub mod prompt_index;
pub mod rated_votes;
pub mod selection;
pub mod vote_log;
pub mod vote_tally;
