//! Register of models: every model that was ever configured or in a battle, its changes and their reasons, its share of the battles, and
//! the pairing policy with its history.
//!
//! [`changes`] computes the changes to record when the settings change, [`days`] counts battles by finished days, and [`report`] combines
//! both. The register never reveals the models of a battle before its vote: a day is counted once all of its battles are over (see
//! [`days::first_uncountable_day`]).

pub mod changes;
pub mod days;
pub mod report;
