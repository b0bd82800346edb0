//! Texts that a spreadsheet does not evaluate.

use crate::text_direction;
use std::borrow::Cow;

/// A text as a spreadsheet shows it: one that begins like a formula would be worked out there, and gets an apostrophe. What
/// would reorder the text is shown by its number.
#[must_use]
pub fn defused(text: &str) -> Cow<'_, str> {
    let text = text_direction::in_prose(text);
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text }
}
