//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and prints its seed"
)]

mod access;
mod agree;
mod archive;
mod backup;
mod bad_input;
mod ballots;
mod battle;
mod battle_judging;
mod bench;
mod benchmark_pages;
mod blindness;
mod bounds;
mod canaries;
mod cancels;
mod command_line;
mod correlate;
mod correlation_page;
mod coverage;
mod crash;
mod cycles;
mod deploy;
mod derived;
mod exclusions;
mod faults;
mod faulty_models;
mod flagged_voters;
mod fleet;
mod frames;
mod graceful;
mod health;
mod hosts;
mod import;
mod instances;
mod jackknife;
mod labels;
mod leaks;
mod limit_stories;
mod limits;
mod log_cost;
mod log_tampering;
mod logs;
mod metrics;
mod pairing;
mod panics;
mod pooling;
mod prompt_clusters;
mod proofs;
mod providers;
mod public_log;
mod rating;
mod rating_methods;
mod ready;
mod redis_bus;
mod register;
mod reload;
mod robustness;
mod robustness_overall;
mod robustness_page;
mod sequential;
mod sessions;
mod shared_breakers;
mod shared_limits;
mod side;
mod slices;
mod source;
mod stats;
mod storage;
mod study;
mod style;
mod suites;
mod support;
mod tidy;
mod ties;
mod timing;
mod upstream_faults;
mod value;
mod vote_files;
mod voting;
