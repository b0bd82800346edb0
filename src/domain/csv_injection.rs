//! Escaping of texts that a spreadsheet would evaluate, and its inverse.

use crate::text_direction;
use std::borrow::Cow;

/// Escapes a text for spreadsheets: prefixes one that begins like a formula with an apostrophe, and replaces characters that would reorder
/// the text by their code points.
#[must_use]
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    let text = text_direction::in_prose(text);
    if is_formula(text.trim_start_matches('\'')) { format!("'{text}").into() } else { text }
}

/// Reverses [`escape_formula`]; code points stay.
#[must_use]
pub fn restored(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| is_formula(rest.trim_start_matches('\''))).unwrap_or(text)
}

/// Returns whether a text begins like a formula. Excel accepts full-width signs of Chinese and Japanese keyboards as well.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_gets_an_apostrophe_that_is_taken_off_again() {
        for (text, cell) in
            [("=1+1", "'=1+1"), ("+a", "'+a"), ("@a", "'@a"), ("'=1", "''=1"), ("'n", "'n"), ("a=", "a=")]
        {
            assert_eq!(escape_formula(text), cell);
            assert_eq!(restored(cell), text);
        }
    }

    #[test]
    fn signs_of_full_width_and_a_line_break_begin_a_formula_too() {
        for text in ["＝1+1", "＋1", "－1", "＠SUM(A1)", "\n=1+1"] {
            let cell = format!("'{text}");
            assert_eq!((escape_formula(text).as_ref(), restored(&cell)), (cell.as_str(), text));
        }
    }
}
