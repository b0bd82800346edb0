//! Votes in and out: imports, exports, archives.

pub(super) mod archive;
pub(super) mod dataset_export;
pub(super) mod import;
pub(super) mod imported_votes;
pub(super) mod vote_files;
