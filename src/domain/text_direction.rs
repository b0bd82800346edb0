//! Display of Unicode's bidirectional control characters, which are invisible and change the direction of text.
//!
//! In a name they make a page, a table or a log line show another name than the actual one, so names show them by code point. Text of
//! right-to-left languages is displayed correctly without them. In texts of people and models, the directional marks that such languages do
//! use stay, and characters that reorder the text around them are shown by code point.

use std::borrow::Cow;

/// Formats a name for display: replaces every bidirectional control by its code point, as in `⟨U+202E⟩`.
#[must_use]
pub fn in_name(text: &str) -> Cow<'_, str> {
    replace_by_code_points(text, |c| reorders_text(c) || is_mark(c))
}

/// Formats a text for display: replaces characters that reorder text by their code points, and keeps directional marks.
#[must_use]
pub fn in_prose(text: &str) -> Cow<'_, str> {
    replace_by_code_points(text, reorders_text)
}

/// Whether a character is an embedding, override or isolate, or ends one.
fn reorders_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is a directional mark, which affects only adjacent characters.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

fn replace_by_code_points(text: &str, is_one: impl Fn(char) -> bool) -> Cow<'_, str> {
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
