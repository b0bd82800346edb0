//! The integration tests.

#![expect(clippy::unwrap_used, reason = "what a test's own tools cannot do fails the test")]

mod providers;
mod support;
