//! Text in the columns of a terminal.

use crate::domain::text_direction;

/// Columns that a shortened model name keeps on a narrow terminal.
pub(super) const SHORTEST_NAME: usize = 12;

/// Columns that a text takes on a terminal: two for each wide character of East Asian scripts and emoji.
pub(super) fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Replaces control characters, which could steer the terminal, and shows by their numbers those that turn the direction of text.
#[must_use]
pub fn printable(text: &str) -> String {
    text_direction::in_name(text).chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

/// A message as a terminal may show it: texts of files and names in it cannot steer the terminal.
pub(super) fn message(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{FFFD}' } else { c }).collect()
}

/// A coefficient with four digits. What rounds to zero has no sign: r = −1e-17 of two series without correlation is no negative one.
pub(super) fn coefficient(value: f64) -> String {
    let text = format!("{value:.4}");
    if text == "-0.0000" { "0.0000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coefficient_that_rounds_to_zero_has_no_sign() {
        assert_eq!(
            [-1e-17, -0.0, 0.0, -4.9e-5, -5.1e-5].map(coefficient),
            ["0.0000", "0.0000", "0.0000", "0.0000", "-0.0001"]
        );
    }

    #[test]
    fn a_message_keeps_its_lines_and_no_escape_sequence() {
        assert_eq!(message("a\u{1b}[31m\r\u{9b}b\n\tc"), "a\u{FFFD}[31m\u{FFFD}\u{FFFD}b\n\tc");
    }
}
