//! Why a judgement cannot be taken, and the letters that it names answers by.

/// The letters under which answers are shown, in order.
pub const LETTERS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Why a judgement cannot be taken: what to send instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJudgement(pub String);
