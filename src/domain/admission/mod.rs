//! Who may take part, and at what price: rules without clock, randomness or memory.

pub mod invite_code;
pub mod proof_of_work;
