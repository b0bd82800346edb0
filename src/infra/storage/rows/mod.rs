//! Conversions between rows and the types of battles and votes.

pub(super) mod battle_rows;
pub(super) mod vote_columns;
pub(super) mod vote_rows;
