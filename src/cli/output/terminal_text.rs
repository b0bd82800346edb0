//! Width and sanitising of text on a terminal.

use crate::domain::text_direction;

/// Minimum width of a shortened model name, in columns.
pub(crate) const MIN_NAME_WIDTH: usize = 12;

/// Computes the width of a text on a terminal in columns: two for each wide character of East Asian scripts and emoji.
pub(crate) fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Replaces control characters, which could control the terminal, and escapes bidirectional formatting characters by their code points.
#[must_use]
pub fn printable(text: &str) -> String {
    text_direction::in_name(text).chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

/// Sanitises a message, so that file contents and names in it cannot control the terminal.
pub(crate) fn message(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{FFFD}' } else { c }).collect()
}

/// Formats a coefficient with four digits. Values that round to zero have no sign: r = −1e-17 of two series without correlation is no
/// negative one.
pub(crate) fn coefficient(value: f64) -> String {
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
