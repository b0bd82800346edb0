//! The HTML pages. Most files hold one page: its template's data and a function that renders it. `server` loads the data of a page.
//!
//! Shared parts: [`Page`] is the frame of every page, [`respond`] renders a page as a response, and [`static_files`] and [`gzip`] serve
//! assets. [`leaderboard_query`], [`leaderboard_selection`] and [`correlation_query`] parse query strings.
//!
//! Templates are in `web/`, all texts in [`i18n`](langya_render::i18n). Pages work in every language of
//! [`Language`](langya_domain::language::Language); the visitor's language comes from `?lang=`, then the cookie that `?lang=` sets, then
//! `Accept-Language`.
#![expect(missing_docs, reason = "what a template reads has its name from the template; docs say what a name does not")]

pub mod about;
pub mod admin;
pub mod battle;
pub mod benchmark;
pub mod campaign;
pub mod campaign_report;
pub mod charts;
pub mod consent;
pub mod correlation;
pub mod correlation_query;
pub mod docs;
pub mod embed;
pub mod exclusions;
pub mod feed;
pub mod foreign_host;
pub mod gzip;
pub mod history;
pub mod invalid_query;
pub mod judges;
pub mod language;
pub mod leaderboard;
pub mod leaderboard_controls;
pub mod leaderboard_query;
pub mod leaderboard_selection;
pub mod model;
pub mod models;
pub mod not_found;
mod page;
pub mod public_log;
pub mod query_string;
pub mod refused;
mod response;
pub mod robustness_details;
pub mod sign_in;
mod site_frame;
pub mod static_files;
pub mod time;
pub mod unavailable;
pub mod value;

pub use language::requested_language;
pub use page::{Page, Section};
pub use response::{respond, respond_gzip, respond_html};

use langya_domain as domain;
use langya_infra as infra;
use langya_render as render;

#[cfg(test)]
mod tests;
