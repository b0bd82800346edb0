//! Background jobs, one per file: each waits for a time or an event and calls a service. `job_table.rs` lists those of every arena, and
//! `server/app.rs` starts them.

pub mod abandoned_battles;
pub mod bench_plans;
pub mod breakers;
pub mod correlations;
pub mod heartbeat;
pub(crate) mod job_table;
pub mod judging_rounds;
pub mod leader_election;
pub mod leaderboard;
pub mod metrics_upkeep;
mod model_discovery;
pub mod model_probes;
pub mod model_register;
mod next_run;
pub mod partitions;
pub mod prompt_digests;
pub mod public_log;
pub mod retention;
pub mod robustness;
pub mod settings_reload;
pub mod sign_outs;
pub mod voter_check;
mod wait_for_event;
pub mod webhooks;
pub mod witnesses;
