//! Models of all outcomes of a vote, with ties and "both bad" as outcomes of their own.
//!
//! [`good_enough`] finds how good models are by themselves, from how often both replies are bad, and `good_enough_change.rs` how
//! this changes; [`comparison`] compares
//! the ways to count ties by likelihood. Both fit the loss of `negative_log_likelihood.rs`, whose outcomes are in `outcomes.rs`.

pub mod comparison;
pub mod good_enough;
pub(super) mod good_enough_change;

mod negative_log_likelihood;
mod outcomes;
