//! What the tests share: a real arena on a free port with scripted models, and a visitor who talks to it.

pub(crate) mod arena;
pub(crate) mod scripted;
pub(crate) mod visitor;
