//! What holds while everything around two instances fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod checker;
