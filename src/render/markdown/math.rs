//! Converts LaTeX to MathML. Invalid LaTeX is shown as source.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, mathml::push_mathml};

use super::{escape, sanitize};

/// Maximum characters of LaTeX of an inline formula.
const MAX_INLINE_CHARS: usize = 48;

/// Maximum bytes of one formula.
const MAX_LATEX_BYTES: usize = 4 * 1024;
/// Maximum bytes of a formula's MathML: a single character may become one element.
const MAX_MATHML_BYTES: usize = 40 * 1024;
/// Maximum nesting of groups, and consecutive commands, in one formula.
const MAX_DEPTH: usize = 32;
/// Commands that define others: they could expand a short formula without limit.
const DEFINING_COMMANDS: &[&str] = &[
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

/// Placement of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FormulaPlace {
    /// Within a line of text.
    Inline,
    /// Separate block.
    Block,
}

/// Renders a formula as its source.
pub(super) fn source(latex: &str) -> String {
    format!("<code class=\"tex\">{}</code>", escape(latex))
}

/// Renders a formula as MathML.
pub(super) fn html(latex: &str, layout: FormulaPlace) -> String {
    // The parser's internal assertions must not end a battle; no state is shared with it.
    let mathml = catch_unwind(AssertUnwindSafe(|| mathml(latex, layout))).ok().flatten();
    mathml.unwrap_or_else(|| source(latex))
}

fn mathml(latex: &str, layout: FormulaPlace) -> Option<String> {
    if latex.len() > MAX_LATEX_BYTES || depth(latex).max(longest_chain(latex)) > MAX_DEPTH {
        return None;
    }
    if DEFINING_COMMANDS.iter().any(|name| latex.contains(name)) {
        return None;
    }
    let storage = Storage::new();
    let events = Parser::new(latex, &storage).collect::<Result<Vec<_>, _>>().ok()?;
    // MathML does not wrap: a formula wider than a phone's screen becomes a scrollable block.
    let layout = if latex.chars().count() > MAX_INLINE_CHARS { FormulaPlace::Block } else { layout };
    let display_mode = match layout {
        FormulaPlace::Inline => DisplayMode::Inline,
        FormulaPlace::Block => DisplayMode::Block,
    };
    let mut mathml = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    push_mathml(&mut mathml, events.into_iter().map(Ok::<_, std::convert::Infallible>), config).ok()?;
    if mathml.len() > MAX_MATHML_BYTES {
        return None;
    }
    let clean = sanitize::formula(&mathml);
    // A block formula may overflow; it is focusable for scrolling by keyboard.
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

/// Longest run of consecutive commands. Each may take the next one as its argument (`\not\not …`), for which the parser
/// recurses.
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
