//! The public vote log: an append-only Merkle tree of votes and exclusions that anybody can check from outside.
//!
//! The tree is that of RFC 6962 ([`hash`], [`frontier`], [`merkle_proof`]); it is published as C2SP tlog-tiles ([`tile`], [`subtree`],
//! [`entry_bundle`]) under a signed checkpoint ([`checkpoint`], [`signed_note`]). [`entry`] says what an entry holds, [`commitment`] how it
//! commits to what it does not show, [`vote_entry`] makes entries of votes, [`promise`] is what a voter gets at once,
//! [`tlog_proof`] is the proof that a voter keeps as a [`log_receipt`], [`recount`] makes the leaderboard of the
//! entries, and [`leaderboard_check`] compares it with a published one; [`audit`] checks a whole log, and [`trust_anchors`] are what a
//! verifier knew before.

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
