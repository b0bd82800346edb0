//! Runs of a suite: plan, participants, state, progress, manifest and comparison.

pub mod batch_events;
pub mod canaries;
pub mod mixed_settings;
pub mod participants;
pub mod plan_end;
pub mod run_manifest;
pub mod run_plan;
pub mod run_report;
pub mod run_selector;
pub mod run_state;
