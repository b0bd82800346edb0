//! Models of all outcomes of a vote, with ties and "both bad" as separate outcomes.
//!
//! [`good_enough`] estimates the absolute quality of models from the frequency of "both bad" votes, and `good_enough_change.rs` its
//! change; [`comparison`] compares tie models by likelihood. Both fit the loss of `negative_log_likelihood.rs`, whose outcomes are in
//! `outcomes.rs`.

pub mod comparison;
pub mod good_enough;
pub(super) mod good_enough_change;

mod negative_log_likelihood;
mod outcomes;
