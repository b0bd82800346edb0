//! Who may take part, and at what price: rules without clock, randomness or memory.

pub mod proof_of_work;
