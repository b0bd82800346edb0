//! Adapters, one outside world each.

pub mod backoff;
pub mod checkpoint_file;
pub mod clock;
pub mod config;
pub mod disk;
pub mod events;
pub mod limits;
pub mod llm;
pub mod log_key;
pub mod log_source;
pub mod metrics;
pub mod reach;
pub mod redis;
pub mod rng;
pub mod storage;
pub mod tasks;
pub mod telemetry;

use langya_domain as domain;
use langya_formats as formats;
