//! Result of asking a model one question.

use serde::Serialize;

/// One line of `models check`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedModel {
    /// Key used in logs and exports.
    pub id: String,
    /// Whether it answered.
    pub ok: bool,
    /// From the request to the first text, in milliseconds.
    pub first_token_ms: Option<u64>,
    /// Characters a second from the first text on; `None` for an answer that came in one piece.
    pub chars_per_second: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
    /// What to change.
    pub advice: Option<String>,
}
