//! The langya program.

fn main() {}
