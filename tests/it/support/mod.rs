//! What the tests share: a real arena on a free port with scripted models, a visitor who talks to it, a scripted
//! model server, and the real program.

pub(crate) mod arena;
pub(crate) mod instance;
pub(crate) mod log;
pub(crate) mod postgres;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod redis;
pub(crate) mod scripted;
pub(crate) mod upstream;
pub(crate) mod visitor;
pub(crate) mod wire;
