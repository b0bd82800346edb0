//! Adapters to external systems.

pub mod allowed_addresses;
pub mod backoff;
pub mod batch_writer;
pub mod cache_validity;
pub mod config;
pub mod data_folder_probe;
pub mod disk;
pub mod events;
pub mod job_report;
pub mod limits;
pub mod live_battles;
pub mod llm;
pub mod metrics;
pub mod moderation;
pub mod oidc;
pub mod pacing_class_draws;
pub mod passphrase_hash;
pub mod public_log;
pub mod raw_pacing_ticks;
pub mod redis;
pub mod rng;
pub mod sessions;
pub mod shared_clock;
pub mod single_flight;
pub mod storage;
pub mod stored_votes;
pub mod tasks;
pub mod telemetry;
pub mod time;
pub mod unfinished_files;
pub mod webhooks;

use langya_domain as domain;
use langya_formats as formats;
