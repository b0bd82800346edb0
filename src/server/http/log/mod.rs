//! The public log, exclusions, and votes for programs with a key.

pub(super) mod exclusions;
pub(super) mod public_log;
pub(super) mod vote_log_api;
