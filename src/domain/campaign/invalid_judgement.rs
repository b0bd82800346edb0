//! Errors of submitted judgements, and the letters that refer to answers.

/// Letters under which answers are shown, in order.
pub const ANSWER_LETTERS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Error of an invalid judgement, with the expected input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJudgement(pub String);
