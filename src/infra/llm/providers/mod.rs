//! Interfaces of the providers.

pub mod anthropic;
pub mod builtin;
pub mod ollama;
pub mod openai;
