//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and prints its seed"
)]

mod access_control;
mod admin;
mod agree;
mod battle_judging;
mod battles;
mod bench;
mod blindness;
mod campaign;
mod correlation;
mod faults;
mod import_cycles;
mod import_export;
mod integrity;
mod interval_coverage;
mod log;
mod many_instances;
mod models;
mod operation;
mod pages;
mod rating;
mod rating_methods;
mod storage;
mod suites;
mod support;
mod tidy;
