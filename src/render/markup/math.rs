//! LaTeX to MathML. What cannot be read as LaTeX is shown as it was written.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, mathml::push_mathml};

use super::{escape, sanitize};

/// Characters of LaTeX of the longest formula within a line of text.
const LONGEST_INLINE: usize = 48;

/// Bytes of one formula.
const MAX_LATEX: usize = 4 * 1024;
/// Bytes of the MathML that one formula becomes: a single character may become an element of its own.
const MAX_MATHML: usize = 40 * 1024;
/// Levels of groups, and commands in a row, in one formula.
const MAX_DEPTH: usize = 32;
/// Commands that define others: a formula of a few bytes could grow without end.
const DEFINITIONS: &[&str] = &[
    "\\def",
    "\\edef",
    "\\gdef",
    "\\xdef",
    "\\let",
    "\\futurelet",
    "\\global",
    "\\newcommand",
    "\\renewcommand",
    "\\providecommand",
];

/// Where a formula stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FormulaPlace {
    /// Within a line of text.
    Inline,
    /// On a line of its own.
    Block,
}

/// A formula as it was written.
pub(super) fn source(latex: &str) -> String {
    format!("<code class=\"tex\">{}</code>", escape(latex))
}

/// A formula as MathML.
pub(super) fn html(latex: &str, layout: FormulaPlace) -> String {
    // The parser's few internal assertions must not end a battle; it shares no state with us.
    let mathml = catch_unwind(AssertUnwindSafe(|| mathml(latex, layout))).ok().flatten();
    mathml.unwrap_or_else(|| source(latex))
}

fn mathml(latex: &str, layout: FormulaPlace) -> Option<String> {
    if latex.len() > MAX_LATEX || depth(latex).max(longest_chain(latex)) > MAX_DEPTH {
        return None;
    }
    if DEFINITIONS.iter().any(|name| latex.contains(name)) {
        return None;
    }
    let storage = Storage::new();
    let events = Parser::new(latex, &storage).collect::<Result<Vec<_>, _>>().ok()?;
    // MathML breaks no lines: what is longer than a phone is wide stands on a line of its own, which scrolls.
    let layout = if latex.chars().count() > LONGEST_INLINE { FormulaPlace::Block } else { layout };
    let display_mode = match layout {
        FormulaPlace::Inline => DisplayMode::Inline,
        FormulaPlace::Block => DisplayMode::Block,
    };
    let mut mathml = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    push_mathml(&mut mathml, events.into_iter().map(Ok::<_, std::convert::Infallible>), config).ok()?;
    if mathml.len() > MAX_MATHML {
        return None;
    }
    let clean = sanitize::formula(&mathml);
    // A formula on a line of its own may be wider than its place; keys scroll what can be focused.
    Some(match layout {
        FormulaPlace::Inline => clean,
        FormulaPlace::Block => clean.replacen("<math", "<math tabindex=\"0\"", 1),
    })
}

/// Deepest nesting of braces; an unclosed one counts as open to the end.
fn depth(latex: &str) -> usize {
    let mut open = 0usize;
    let mut deepest = 0;
    for byte in latex.bytes() {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// Longest run of commands with nothing between them. Each may take the next one as its argument (`\not\not …`),
/// and the parser calls itself for that.
fn longest_chain(latex: &str) -> usize {
    let mut chars = latex.chars().peekable();
    let (mut chain, mut longest) = (0usize, 0);
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chain += 1;
                longest = longest.max(chain);
                if chars.next().is_some_and(|c| c.is_ascii_alphabetic()) {
                    while chars.next_if(char::is_ascii_alphabetic).is_some() {}
                }
            }
            '%' => while chars.next_if(|c| *c != '\n').is_some() {},
            c if c.is_whitespace() => {}
            _ => chain = 0,
        }
    }
    longest
}
