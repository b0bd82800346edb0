//! Result of asking a model one question.

use serde::Serialize;

/// One line of `models check`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedModel {
    /// Key used in logs and exports.
    pub id: String,
    /// Whether it answered.
    pub ok: bool,
    /// Time from the request to the first text, in milliseconds.
    pub first_token_ms: Option<u64>,
    /// Characters per second from the first text on; `None` for an answer that arrived in one piece.
    pub chars_per_second: Option<u64>,
    /// Description of the failure.
    pub error: Option<String>,
    /// Advice on the failure.
    pub advice: Option<String>,
}
