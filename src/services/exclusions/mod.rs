//! Excludes votes from the ratings and readmits them: selection, preview and the change itself.

pub mod flagged_voters;
pub mod leak_check;
pub mod preview;
pub mod voter_check;
pub mod write_decision;

/// Name of the program in lists of exclusions by rule.
const PROGRAM_NAME: &str = "langya";
