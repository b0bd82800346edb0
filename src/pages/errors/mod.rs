//! Pages that say why a request was refused.

pub mod foreign_host;
pub mod not_found;
pub mod refused;
pub mod unavailable;
