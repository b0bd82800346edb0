//! Excludes votes from the ratings and rates them again: which votes, what that would change, and the change itself.

pub mod flagged_voters;
pub mod leak_check;
pub mod preview;
pub mod voter_check;
pub mod write_decision;

/// Who excludes by the rules, as lists of exclusions name it.
const PROGRAM: &str = "langya";
