//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and prints its seed"
)]

mod bad_input;
mod battle;
mod blindness;
mod crash;
mod providers;
mod rating;
mod support;
mod tidy;
mod upstream_faults;
mod voting;
