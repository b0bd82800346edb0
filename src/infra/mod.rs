//! Adapters, one outside world each.

pub mod allowed_addresses;
pub mod backoff;
pub mod batch_writer;
pub mod checkpoint_file;
pub mod class_draws;
pub mod clock;
pub mod config;
pub mod credentials;
pub mod disk;
pub mod events;
pub mod freshness;
pub mod job_report;
pub mod limits;
pub mod live_battles;
pub mod llm;
pub mod log_key;
pub mod log_source;
pub mod metrics;
pub mod moderation;
pub mod oidc;
pub mod raw_ticks;
pub mod redis;
pub mod rng;
pub mod sessions;
pub mod single_flight;
pub mod storage;
pub mod tasks;
pub mod telemetry;
pub mod watched_clock;
pub mod webhooks;
pub mod witness;

use langya_domain as domain;
use langya_formats as formats;
