//! Stub.

pub mod models;
