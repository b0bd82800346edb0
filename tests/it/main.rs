//! The integration tests: each drives the real application as a visitor, an operator or a model server would.

mod battle;
mod rating;
mod support;
mod tidy;
