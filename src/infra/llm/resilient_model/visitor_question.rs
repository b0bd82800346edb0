//! The question of a visitor, as far as the result of a reply depends on it.

use crate::domain::battle::{RunId, VisitorId};

/// Whose question a model is asked, and where its reply is cut.
#[derive(Debug, Clone)]
pub struct VisitorQuestion {
    /// The visitor who asks.
    pub visitor: VisitorId,
    /// The answering that the question belongs to; `None` where no other model's reply is compared with this one.
    pub run: Option<RunId>,
    /// Longest reply in bytes. It is cut there, so a model that has written so much has answered.
    pub max_bytes: usize,
}
