//! The network interface of a serving process: HTTP, websockets and background jobs.

pub mod app;
pub mod http;
pub mod jobs;
pub mod state;
pub mod watched_settings_file;
pub mod ws;

use langya_domain as domain;
use langya_formats as formats;
use langya_infra as infra;
use langya_pages as pages;
use langya_render as render;
use langya_services as services;
