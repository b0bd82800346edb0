//! Properties of a visitor's question that affect the result of a reply.

use crate::domain::battle::{RunId, VisitorId};

/// Visitor, run and maximum reply length of a question.
#[derive(Debug, Clone)]
pub struct VisitorQuestion {
    /// Visitor who asked.
    pub visitor: VisitorId,
    /// Run that the question belongs to; `None` if no other model's reply is compared with this one.
    pub run: Option<RunId>,
    /// Maximum length of the reply in bytes. It is cut there, so a model that has written this much has answered.
    pub max_bytes: usize,
}
