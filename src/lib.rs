//! langya: a self-hosted arena in which people compare language models.
//!
//! Modules in reading order; all but `serve` are crates. Each may use those above it and none below:
//!
//! - [`domain`]: rules and mathematics, without I/O, async, clock or global randomness
//! - [`formats`]: files to rows and back, without a database
//! - [`render`]: output for people: charts, Markdown, reports
//! - [`infra`]: adapters to external systems: database, providers, Redis, settings, metrics, clock
//! - [`services`]: use cases, which combine the parts above
//! - [`pages`]: HTML pages from templates; the data are passed in
//! - [`server`]: HTTP, websockets and background jobs
//! - [`cli`]: one module per subcommand, without the server
//! - [`serve`]: the subcommand that runs the server

pub mod serve;

pub use langya_cli as cli;
pub use langya_domain as domain;
pub use langya_formats as formats;
pub use langya_infra as infra;
pub use langya_pages as pages;
pub use langya_render as render;
pub use langya_server as server;
pub use langya_services as services;
