//! Renders models' Markdown as safe HTML: tables, code with colours, LaTeX as MathML.
//!
//! The input is untrusted. Raw HTML is shown as text, images as their alternative text, links lead only to http, https and
//! mailto, and every block passes an allow-list (`sanitize`). Work is bounded: very long lines, very long texts and very
//! deep nesting are shown as plain text. The output has no `style`, `id` or event attribute, so a page with a strict content
//! security policy can show it. Scrollable elements are focusable, and headings begin at the fourth level, below the name of
//! the model (`outline`).
//!
//! [`render`] is for a whole text, [`Renderer`] for one that is still being written; both return the same blocks.

mod blocks;
mod code;
pub mod escape;
mod math;
mod outline;
mod sanitize;
mod stream;

pub use stream::{BlockChange, Renderer};

use crate::domain::text_diff::DiffPart;

/// Renders a whole text: one HTML string for each top-level block. Never panics.
#[must_use]
pub fn render(text: &str) -> Vec<String> {
    Renderer::new().update(text).into_iter().map(|change| change.html).collect()
}

/// Renders a plain text as safe HTML, with differing parts in `mark` elements.
#[must_use]
pub fn marked(parts: &[DiffPart]) -> String {
    let part = |part: &DiffPart| match part.differs {
        true => format!("<mark>{}</mark>", escape(&part.text)),
        false => escape(&part.text),
    };
    let text: String = parts.iter().map(part).collect();
    format!("<p class=\"plain\" dir=\"auto\">{text}</p>")
}

/// Escapes the five special characters of HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
