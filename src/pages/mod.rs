//! The HTML pages. Most files hold one page: its template's data and a function that renders it. `server` loads the data of a page.
//!
//! Shared parts: [`Page`] is the frame of every page, [`respond`] renders a page as a response, and [`static_files`](frame::static_files)
//! and [`gzip`](frame::gzip) serve assets. [`leaderboard_query`](leaderboards::leaderboard_query),
//! [`leaderboard_selection`](leaderboards::leaderboard_selection) and [`correlation_query`] parse query strings.
//!
//! Templates are in `web/`, all texts in [`i18n`](langya_render::i18n). Pages work in every language of
//! [`Language`](langya_domain::language::Language); the visitor's language comes from `?lang=`, then the cookie that `?lang=` sets, then
//! `Accept-Language`.
#![expect(missing_docs, reason = "what a template reads has its name from the template; docs say what a name does not")]

pub mod about;
pub mod admin;
pub mod benchmark;
pub mod campaigns;
pub mod correlation;
pub mod correlation_query;
pub mod docs;
pub mod errors;
pub mod exclusions;
pub mod frame;
pub mod judges;
pub mod leaderboards;
pub mod public_log;
pub mod visitor;

pub use frame::language::requested_language;
pub use frame::page::{Page, Section};
pub use frame::response::{respond, respond_gzip, respond_html};

use langya_domain as domain;
use langya_infra as infra;
use langya_render as render;

#[cfg(test)]
mod tests;
