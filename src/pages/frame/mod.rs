//! Parts of every page: its frame, language, times, queries and responses.

pub mod gzip;
pub mod invalid_query;
pub mod language;
pub(super) mod page;
pub mod query_string;
pub(super) mod response;
pub(super) mod site_frame;
pub mod static_files;
pub mod time;
