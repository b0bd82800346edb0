//! Why an address asks for what no page shows.

/// A parameter of an address that cannot be used: the message names it and what it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidQuery(pub String);
