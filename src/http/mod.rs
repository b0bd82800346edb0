//! The arena over HTTP: pages, static files and the headers that every answer carries.

pub mod headers;
pub mod pages;
pub mod static_files;
