//! Correlation of series and studies.

pub(super) mod correlate;
pub(super) mod study;
