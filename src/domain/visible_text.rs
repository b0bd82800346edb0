//! Detection of texts without visible characters: such a question or reply is empty.

/// Whether a text has a visible character, other than white space, control characters and characters without width.
#[must_use]
pub fn has_visible_text(text: &str) -> bool {
    text.chars().any(|character| !character.is_whitespace() && !character.is_control() && !has_no_width(character))
}

/// Whether a character is a soft hyphen, joiner, directional mark, variation selector, tag or filler.
fn has_no_width(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_text() {
        for blank in ["", " \n\u{3000}", "\0\u{7}\u{1b}", "\u{200b}\u{200d}", "\u{feff}", "\u{e0041}\u{fe0f}"] {
            assert!(!has_visible_text(blank), "{blank:?}");
        }
        for seen in ["a", "\u{200b}.", "你", "👨\u{200d}👩", "\u{fffd}", "\u{301}"] {
            assert!(has_visible_text(seen), "{seen:?}");
        }
    }
}
