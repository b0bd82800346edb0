//! The integration tests. `cfg(test)` lets clippy know that helpers are test code too.

#[cfg(test)]
mod rating;
