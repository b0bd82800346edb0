//! Characters without a shape that turn the direction of text (Unicode's bidirectional controls).
//!
//! In a name they make a page, a table or a log line show another name than the one that is there, so there they are
//! shown by their numbers. Text of right-to-left languages needs none of them to read from right to left. In what people
//! and models write, the marks that such languages do use stay, and what reorders the text around it does not.

use std::borrow::Cow;

/// A name as it is shown: every such character by its number, as in `⟨U+202E⟩`.
#[must_use]
pub fn in_name(text: &str) -> Cow<'_, str> {
    numbered(text, |c| reorders(c) || is_mark(c))
}

/// What somebody has written as it is shown: what reorders text by its number, marks as they are.
#[must_use]
pub fn in_prose(text: &str) -> Cow<'_, str> {
    numbered(text, reorders)
}

/// Embeddings, overrides and isolates, and their ends.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The marks of direction, which only sway the characters beside them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

fn numbered(text: &str, is_one: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_one) {
        return Cow::Borrowed(text);
    }
    let number = |mut out: String, c: char| {
        if is_one(c) {
            out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        } else {
            out.push(c);
        }
        out
    };
    Cow::Owned(text.chars().fold(String::with_capacity(text.len() + 8), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_direction_is_shown_by_its_number() {
        for (text, name, prose) in [
            ("gpt\u{202e}evil\u{202c}", "gpt⟨U+202E⟩evil⟨U+202C⟩", "gpt⟨U+202E⟩evil⟨U+202C⟩"),
            ("\u{2066}a\u{2069}", "⟨U+2066⟩a⟨U+2069⟩", "⟨U+2066⟩a⟨U+2069⟩"),
            ("שלום\u{200f}!", "שלום⟨U+200F⟩!", "שלום\u{200f}!"),
            ("\u{61c}\u{200e}", "⟨U+061C⟩⟨U+200E⟩", "\u{61c}\u{200e}"),
            ("مرحبا 琅琊榜 plain", "مرحبا 琅琊榜 plain", "مرحبا 琅琊榜 plain"),
        ] {
            assert_eq!((in_name(text).as_ref(), in_prose(text).as_ref()), (name, prose), "{text:?}");
        }
    }
}
