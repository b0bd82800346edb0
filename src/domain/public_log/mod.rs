//! Public vote log: an append-only Merkle tree of votes and exclusions that anyone can verify.
//!
//! The tree is that of RFC 6962 ([`hash`], [`frontier`], [`merkle_proof`]), published as C2SP tlog-tiles ([`tile`], [`subtree`],
//! [`entry_bundle`]) under a signed checkpoint ([`checkpoint`], [`signed_note`]). [`entry`] defines the content of an entry, [`commitment`]
//! its commitment to private data, and [`vote_entry`] builds entries from votes. A voter gets a [`promise`] at once and later a
//! [`tlog_proof`], both kept as a [`log_receipt`]. [`recount`] computes the leaderboard from the entries, and [`leaderboard_check`]
//! compares it with a published one; [`audit`] checks a whole log, starting from a verifier's [`trust_anchors`].

pub mod audit;
pub mod checkpoint;
pub mod commitment;
pub mod cosignature;
pub mod entry;
pub mod entry_bundle;
pub mod frontier;
pub mod hash;
pub mod leaderboard_check;
pub mod log_receipt;
pub mod merkle_proof;
pub mod promise;
pub mod promised_vote;
pub mod recount;
pub mod signed_note;
pub mod subtree;
pub mod tile;
pub mod tlog_proof;
pub mod trust_anchors;
pub mod vote_entry;
