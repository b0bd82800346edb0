//! Renders Markdown to top-level blocks.
//!
//! The syntax tree is sanitised first ([`replace_unsafe_nodes`]); code and formulas become slots, `<data value="3"></data>`, which a
//! model's text cannot contain because raw HTML is escaped. Then each block is formatted, cleaned by the allow-list, and its slots are
//! filled with the output of [`super::code`] and [`super::math`].

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use comrak::nodes::{Node, NodeLink, NodeList, NodeValue};
use comrak::options::Plugins;
use comrak::{Arena, Options};

use super::math::{self, FormulaPlace};
use super::outline::OpenHeadings;
use super::{code, escape, sanitize};

/// Maximum bytes of one line that is parsed as Markdown.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum bytes of one text that are parsed as Markdown.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// Maximum bytes of one formatted block, and of its HTML.
const MAX_BLOCK_BYTES: usize = 64 * 1024;
const MAX_HTML_BYTES: usize = 512 * 1024;
/// Bytes after which plain text continues in another block.
const PLAIN_BLOCK_BYTES: usize = 32 * 1024;
/// Maximum number of formatted blocks of one text: browsers take long to lay out ten thousand.
pub(super) const MAX_BLOCKS: usize = 1_000;
/// Maximum bytes of one text with highlighted code and typeset formulas: both take the most work and HTML, repeated for each reader.
const MAX_DETAILED_BYTES: usize = 64 * 1024;
/// Maximum openings of a LaTeX formula between two blank lines: the parser searches for the end of each.
const MAX_FORMULA_OPENINGS: usize = 256;
/// Maximum nesting of quotes, lists and emphasis within one block.
const MAX_DEPTH: usize = 24;

/// Top-level block with the offset of its first line in the rendered text.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) html: String,
    /// Outline after the block.
    pub(super) outline: OpenHeadings,
}

/// Whether closed code is highlighted and formulas are typeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RenderDetail {
    Full,
    Plain,
}

/// Part rendered separately from Markdown and inserted after cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Slot {
    Code { language: String, text: String, closed: bool, detail: RenderDetail },
    Math { latex: String, layout: FormulaPlace, detail: RenderDetail },
}

impl Slot {
    fn html(&self) -> String {
        match self {
            Slot::Code { language, text, closed: true, detail: RenderDetail::Full } => {
                code::highlighted(language, text)
            }
            Slot::Code { language, text, .. } => code::plain(language, text),
            Slot::Math { latex, layout, detail: RenderDetail::Full } => math::html(latex, *layout),
            Slot::Math { latex, .. } => math::source(latex),
        }
    }
}

/// Cached slots of the last rendering, so that an unchanged block is not highlighted again.
#[derive(Debug, Default)]
pub(super) struct SlotCache(HashMap<Slot, String>);

/// Offset from which the text is shown as plain text: the first overlong line, or the maximum length.
pub(super) fn plain_from(text: &str) -> usize {
    let (mut start, mut openings) = (0, 0);
    for line in text.split_inclusive('\n') {
        openings = if line.trim().is_empty() { 0 } else { openings + formula_openings(line) };
        if line.len() > MAX_LINE_BYTES || start + line.len() > MAX_TEXT_BYTES || openings > MAX_FORMULA_OPENINGS {
            return start;
        }
        start += line.len();
    }
    start
}

fn formula_openings(line: &str) -> usize {
    line.as_bytes().windows(2).filter(|pair| *pair == b"\\(" || *pair == b"\\[").count()
}

/// Creates a block of plain text.
fn plain(text: &str, start: usize, outline: OpenHeadings) -> Block {
    Block { start, html: format!("<pre class=\"plain\" dir=\"auto\">{}</pre>", escape(text)), outline }
}

/// Splits plain text into blocks of whole lines, so that only the last block of a growing text changes.
pub(super) fn plain_blocks(text: &str, start: usize) -> Vec<Block> {
    let (mut blocks, mut from, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if at - from >= PLAIN_BLOCK_BYTES {
            blocks.push(plain(&text[from..at], start + from, OpenHeadings::default()));
            from = at;
        }
        at += line.len();
    }
    if from < at {
        blocks.push(plain(&text[from..], start + from, OpenHeadings::default()));
    }
    blocks
}

/// Renders Markdown without overlong lines, which begins at byte `from` of a text, below the headings of `outline`. Text on which the
/// parser fails is shown as plain text.
pub(super) fn render(text: &str, from: usize, outline: OpenHeadings, cache: &mut SlotCache) -> Vec<Block> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    // A parser's panic on crafted text must not end a battle. No state is shared with it: the old cache is only read, and the new one
    // is dropped on a panic.
    let rendered = catch_unwind(AssertUnwindSafe(|| {
        let mut fresh = SlotCache::default();
        let blocks = render_blocks(text, from, outline, cache, &mut fresh);
        (blocks, fresh)
    }));
    match rendered {
        Ok((blocks, fresh)) => {
            *cache = fresh;
            blocks
        }
        Err(_) => vec![plain(text, 0, outline)],
    }
}

fn render_blocks(
    text: &str,
    from: usize,
    mut outline: OpenHeadings,
    cache: &SlotCache,
    fresh: &mut SlotCache,
) -> Vec<Block> {
    let arena = Arena::new();
    let options = options();
    let lines = line_starts(text);
    let line_start = |line: usize| lines.get(line).copied().unwrap_or(text.len());
    let root = comrak::parse_document(&arena, text, &options);
    let source = |node: Node<'_>| {
        let position = node.data().sourcepos;
        let start = line_start(position.start.line.saturating_sub(1));
        start..line_start(position.end.line).max(start)
    };
    let block = |node| {
        let source = source(node);
        outline.adjust_heading_levels(node);
        let detail = if from + source.start < MAX_DETAILED_BYTES { RenderDetail::Full } else { RenderDetail::Plain };
        let html = if source.len() > MAX_BLOCK_BYTES { None } else { prose(node, &arena, &options, detail) };
        let Some((html, slots)) = html else { return plain(&text[source.clone()], source.start, outline) };
        Block { start: source.start, html: isolate_direction(&fill_slots(&html, &slots, cache, fresh)), outline }
    };
    root.children().map(block).collect()
}

/// Renders a block as clean HTML with its slots; `None` if it is nested too deeply or too large.
fn prose<'a>(
    node: Node<'a>,
    arena: &'a Arena<'a>,
    options: &Options<'_>,
    detail: RenderDetail,
) -> Option<(String, Vec<Slot>)> {
    let slots = replace_unsafe_nodes(node, arena, detail)?;
    let mut html = String::new();
    // Not `format_html`: in a debug build it panics on a table cell with a line break or a slot.
    comrak::format_html_with_plugins(node, options, &mut html, &Plugins::default()).ok()?;
    (html.len() <= MAX_HTML_BYTES).then(|| (sanitize::prose(&html), slots))
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.math_dollars = true;
    extension.math_latex = true;
    extension.cjk_friendly_emphasis = true;
    options.render.escape = true;
    options
}

/// Byte offset of each line.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Replaces everything that the formatter would write unescaped, and collects the slots. `None` if the block is nested too
/// deeply.
fn replace_unsafe_nodes<'a>(block: Node<'a>, arena: &'a Arena<'a>, detail: RenderDetail) -> Option<Vec<Slot>> {
    let mut slots = Vec::new();
    let mut stack = vec![(block, 0)];
    while let Some((node, depth)) = stack.pop() {
        if depth > MAX_DEPTH {
            return None;
        }
        defuse_node(node, arena, &mut slots, detail);
        stack.extend(node.children().map(|child| (child, depth + 1)));
    }
    Some(slots)
}

fn defuse_node<'a>(node: Node<'a>, arena: &'a Arena<'a>, slots: &mut Vec<Slot>, detail: RenderDetail) {
    let text_node = |text: String| arena.alloc(NodeValue::Text(text.into()).into());
    let value = node.data().value.clone();
    let replacement = match value {
        NodeValue::CodeBlock(block) if block.info.trim() == "math" && block.closed => {
            slot(slots, Slot::Math { latex: block.literal, layout: FormulaPlace::Block, detail })
        }
        NodeValue::CodeBlock(block) => {
            let language = block.info.split_whitespace().next().unwrap_or_default().to_owned();
            let closed = block.fenced && block.closed;
            slot(slots, Slot::Code { language, text: block.literal, closed, detail })
        }
        NodeValue::Math(formula) => {
            let layout = if formula.display_math { FormulaPlace::Block } else { FormulaPlace::Inline };
            slot(slots, Slot::Math { latex: formula.literal, layout, detail })
        }
        NodeValue::HtmlInline(tag) if is_line_break(&tag) => NodeValue::LineBreak,
        NodeValue::HtmlInline(tag) => NodeValue::Text(tag.into()),
        NodeValue::HtmlBlock(html) => {
            node.append(text_node(html.literal));
            NodeValue::Paragraph
        }
        // An image would be fetched from a host of the model's choice, so its alternative text replaces it.
        NodeValue::Image(_) => {
            if node.first_child().is_none() {
                node.append(text_node("🖼".into()));
            }
            NodeValue::Emph
        }
        NodeValue::TaskItem(item) => {
            let mark = if item.symbol.is_some() { "☑ " } else { "☐ " };
            if let Some(first) = node.first_child().filter(|child| matches!(child.data().value, NodeValue::Paragraph)) {
                first.prepend(text_node(mark.into()));
            }
            NodeValue::Item(NodeList::default())
        }
        NodeValue::Link(link) => NodeValue::Link(Box::new(NodeLink { title: String::new(), ..*link })),
        _ => return,
    };
    node.data_mut().value = replacement;
}

fn is_line_break(tag: &str) -> bool {
    matches!(tag.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// Stores the slot and returns its placeholder node.
fn slot(slots: &mut Vec<Slot>, slot: Slot) -> NodeValue {
    slots.push(slot);
    NodeValue::Raw(format!("<data value=\"{}\"></data>", slots.len() - 1))
}

/// Replaces placeholders by the slots' HTML.
fn fill_slots(html: &str, slots: &[Slot], cache: &SlotCache, fresh: &mut SlotCache) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("<data value=\"") {
        out.push_str(before);
        let Some((number, after)) = after.split_once("\"></data>") else { break };
        if let Some(slot) = number.parse().ok().and_then(|number: usize| slots.get(number)) {
            let filling = cache.0.get(slot).cloned().unwrap_or_else(|| slot.html());
            out.push_str(&filling);
            fresh.0.insert(slot.clone(), filling);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Wraps a block so that its text alone decides its direction, and no override reaches beyond it. A table may overflow, so it is
/// focusable for scrolling by keyboard.
fn isolate_direction(html: &str) -> String {
    let focus = if html.starts_with("<table>") { " role=\"group\" tabindex=\"0\"" } else { "" };
    format!("<div dir=\"auto\"{focus}>{}</div>", html.trim_end())
}
