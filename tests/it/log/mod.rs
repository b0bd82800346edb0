//! The public log: appending, promises, witnesses, tampering.

pub(super) mod log_beside_votes;
pub(super) mod log_tampering;
pub(super) mod public_log;
pub(super) mod witnesses;
