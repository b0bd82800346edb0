//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

mod battle;
mod support;
mod tidy;
