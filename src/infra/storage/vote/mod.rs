//! The table of votes and its exclusions: inserts, pages, counts and imports.

pub(super) mod counts;
pub(super) mod exclusions;
pub(super) mod imported_votes;
pub(super) mod imports;
pub(super) mod leak_checks;
pub(super) mod pages;
pub(super) mod votes;
