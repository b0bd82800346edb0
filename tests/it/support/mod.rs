//! What the tests share: a real arena on a free port with scripted models, a visitor who talks to it, and a scripted
//! model server.

pub(crate) mod arena;
pub(crate) mod scripted;
pub(crate) mod upstream;
pub(crate) mod visitor;
