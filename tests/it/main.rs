//! The integration tests.

mod providers;
mod support;
