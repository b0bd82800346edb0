//! The edges of a serving process: HTTP, websockets and background jobs.

pub mod followed_file;
pub mod http;
pub mod jobs;
pub mod state;
pub mod ws;
