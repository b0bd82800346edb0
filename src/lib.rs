//! langya: a self-hosted arena in which people compare language models.
//!
//! Modules in reading order; each may use those above it and none below
//! (`tests/it/tidy.rs` holds that line):
//!
//! - pure rules: [`battle`], [`rating`], [`stats`], [`annotation`], [`judging`], [`benchmark`], [`markup`], [`chart`]
//! - settings, time, waits, randomness, what is seen from outside: [`config`], [`clock`], [`backoff`], [`chance`],
//!   [`telemetry`], [`metrics`]
//! - adapters, one outside world each: [`storage`], [`llm`], [`shared`], [`events`],
//!   [`limits`]
//! - use cases, where rules and adapters meet: [`services`], [`jobs`]
//! - edges, which translate and decide nothing: [`ws`], [`http`], [`cli`]
//! - [`app`] wires them together.

pub mod annotation;
pub mod battle;
pub mod benchmark;
pub mod chart;
pub mod crowd;
pub mod judging;
pub mod markup;
pub mod rating;
pub mod stats;

pub mod backoff;
pub mod chance;
pub mod clock;
pub mod config;
pub mod metrics;
pub mod telemetry;

pub mod events;
pub mod limits;
pub mod llm;
pub mod shared;
pub mod storage;

pub mod jobs;
pub mod services;

pub mod cli;
pub mod http;
pub mod ws;

pub mod app;
