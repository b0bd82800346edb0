//! The register of models: every model that was ever configured or in a battle, what changed about it and why, its share of the
//! battles, and the pairing policy with its history.
//!
//! [`changes`] says what has to be recorded when the settings change, [`days`] counts battles by finished days, [`report`] puts
//! both together. Nothing of the register reveals who is in a battle before its vote: a day is counted once all of its battles are
//! over (see [`days::countable_until`]).

pub mod changes;
pub mod days;
pub mod report;
