//! HTML escaper of all templates.

use std::fmt;

use askama::filters::Escaper;

use crate::domain::text_direction::in_name;

/// HTML escaper of all templates (`askama.toml`), which also applies [`in_name`].
#[derive(Debug, Clone, Copy)]
pub struct Html;

impl Escaper for Html {
    fn write_escaped_str<W: fmt::Write>(&self, out: W, text: &str) -> fmt::Result {
        askama::filters::Html.write_escaped_str(out, &in_name(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_escape_markup_and_direction() {
        let mut out = String::new();
        Html.write_escaped_str(&mut out, "<b>\u{202e}").unwrap();
        assert_eq!(out, "&#60;b&#62;⟨U+202E⟩");
    }
}
