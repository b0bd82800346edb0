//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and prints its seed"
)]

mod backup;
mod bad_input;
mod battle;
mod blindness;
mod command_line;
mod crash;
mod deploy;
mod health;
mod logs;
mod metrics;
mod pairing;
mod providers;
mod rating;
mod ready;
mod storage;
mod support;
mod tidy;
mod upstream_faults;
mod voting;
