//! Admission rules: invite codes and proof of work, without clock, randomness or state.

pub mod invite_code;
pub mod proof_of_work;
