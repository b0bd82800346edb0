//! Error of an invalid query.

/// Invalid query parameter: the message names it and the allowed values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidQuery(pub String);
