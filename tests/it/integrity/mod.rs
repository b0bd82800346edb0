//! Exclusions, anomalous voters, identity leaks, repeated prompts and labels.

pub(super) mod exclusions;
pub(super) mod flagged_voters;
pub(super) mod identity_leaks;
pub(super) mod labels;
pub(super) mod labels_by_model;
pub(super) mod leak_check;
pub(super) mod prompt_clusters;
