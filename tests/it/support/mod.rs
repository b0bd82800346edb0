//! What the tests share: a real arena on a free port with scripted models, and a visitor who talks to it.

pub mod arena;
pub mod scripted;
pub mod visitor;
