//! The integration tests.

mod rating;
