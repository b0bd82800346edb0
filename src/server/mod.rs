//! The edges of a serving process: HTTP, websockets and background jobs.

pub mod http;
pub mod jobs;
pub mod state;
pub mod watched_settings_file;
pub mod ws;
