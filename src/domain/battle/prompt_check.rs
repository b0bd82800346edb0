//! Validation of prompts.

use crate::visible_text::has_visible_text;

/// Reason why a prompt is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// It has no visible text.
    #[error("the prompt is empty: write a question")]
    Empty,
    /// It is too long.
    #[error("the prompt has {bytes} bytes and {limit} are allowed: shorten it")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It contains a NUL character.
    #[error("the prompt holds a NUL character: remove it")]
    HasNul,
    /// The operator's rules refuse it; the visitor does not learn which one.
    #[error("this arena does not accept this question: ask another one")]
    Refused,
    /// The moderation service does not answer, and the operator requires a check of each prompt.
    #[error("questions cannot be checked at the moment: try again in a minute")]
    Unchecked,
}

/// Checks the length and the characters of a prompt of at most `limit` bytes.
///
/// # Errors
/// [`PromptError::TooLong`], [`PromptError::HasNul`] and [`PromptError::Empty`].
pub fn check_form(prompt: &str, limit: usize) -> Result<(), PromptError> {
    match prompt {
        _ if prompt.len() > limit => Err(PromptError::TooLong { bytes: prompt.len(), limit }),
        _ if prompt.contains('\0') => Err(PromptError::HasNul),
        _ if !has_visible_text(prompt) => Err(PromptError::Empty),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_something_to_see_no_nul_and_no_more_bytes_than_allowed() {
        assert_eq!(check_form("hello", 5), Ok(()));
        assert_eq!(check_form("hello!", 5), Err(PromptError::TooLong { bytes: 6, limit: 5 }));
        assert_eq!(check_form("a\0b", 5), Err(PromptError::HasNul));
        for empty in ["", " \n", "\u{200b}"] {
            assert_eq!(check_form(empty, 5), Err(PromptError::Empty), "{empty:?}");
        }
    }
}
