//! One piece of Markdown to its top-level blocks.
//!
//! The syntax tree is made harmless first ([`defuse`]); code and formulas become slots, `<data value="3"></data>`,
//! which nothing in a model's text can spell because raw HTML is escaped. Then each block is formatted, cleaned by the
//! allow-list, and its slots are filled with what [`super::code`] and [`super::math`] make.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use comrak::nodes::{Node, NodeLink, NodeList, NodeValue};
use comrak::options::Plugins;
use comrak::{Arena, Options};

use super::math::{self, FormulaPlace};
use super::outline::Outline;
use super::{code, escape, sanitize};

/// Bytes of one line that are still read as Markdown.
const MAX_LINE: usize = 16 * 1024;
/// Bytes of one text that are still read as Markdown.
const MAX_TEXT: usize = 256 * 1024;
/// Bytes of one block, and of the HTML that it becomes, that are still formatted.
const MAX_BLOCK: usize = 64 * 1024;
const MAX_HTML: usize = 512 * 1024;
/// Bytes after which text that is shown as it stands goes on in another block.
const PLAIN_BLOCK: usize = 32 * 1024;
/// Blocks of one text that are still formatted: a page takes long to lay out ten thousand.
pub(super) const MAX_BLOCKS: usize = 1_000;
/// Bytes of one text whose code gets colours and whose formulas are typeset: both are the most work and the most HTML on a page,
/// and that is done for each reader again.
const MAX_DETAILED: usize = 64 * 1024;
/// Openings of a LaTeX formula between two blank lines: the parser looks for the end of each one.
const MAX_OPENINGS: usize = 256;
/// Levels of quotes, lists and emphasis within one block.
const MAX_DEPTH: usize = 24;

/// A top-level block and where its first line starts in the text that was rendered.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) html: String,
    /// The headings above what follows it.
    pub(super) outline: Outline,
}

/// Whether code gets colours once it is closed, and formulas are typeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Detail {
    Full,
    Plain,
}

/// A part that is rendered apart from Markdown and put in after cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Slot {
    Code { language: String, text: String, closed: bool, detail: Detail },
    Math { latex: String, layout: FormulaPlace, detail: Detail },
}

impl Slot {
    fn html(&self) -> String {
        match self {
            Slot::Code { language, text, closed: true, detail: Detail::Full } => code::highlighted(language, text),
            Slot::Code { language, text, .. } => code::plain(language, text),
            Slot::Math { latex, layout, detail: Detail::Full } => math::html(latex, *layout),
            Slot::Math { latex, .. } => math::source(latex),
        }
    }
}

/// The slots of the last rendering, so that a block that is read again is not highlighted again.
#[derive(Debug, Default)]
pub(super) struct SlotCache(HashMap<Slot, String>);

/// From which byte on the text is shown as it stands: the first line that is too long, or too much altogether.
pub(super) fn plain_from(text: &str) -> usize {
    let (mut start, mut openings) = (0, 0);
    for line in text.split_inclusive('\n') {
        openings = if line.trim().is_empty() { 0 } else { openings + formula_openings(line) };
        if line.len() > MAX_LINE || start + line.len() > MAX_TEXT || openings > MAX_OPENINGS {
            return start;
        }
        start += line.len();
    }
    start
}

fn formula_openings(line: &str) -> usize {
    line.as_bytes().windows(2).filter(|pair| *pair == b"\\(" || *pair == b"\\[").count()
}

/// A block that shows its text as it stands.
fn plain(text: &str, start: usize, outline: Outline) -> Block {
    Block { start, html: format!("<pre class=\"plain\" dir=\"auto\">{}</pre>", escape(text)), outline }
}

/// Text as it stands in blocks of whole lines, so that of a long one that grows only the last block changes.
pub(super) fn plain_blocks(text: &str, start: usize) -> Vec<Block> {
    let (mut blocks, mut from, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if at - from >= PLAIN_BLOCK {
            blocks.push(plain(&text[from..at], start + from, Outline::default()));
            from = at;
        }
        at += line.len();
    }
    if from < at {
        blocks.push(plain(&text[from..], start + from, Outline::default()));
    }
    blocks
}

/// Renders Markdown without overlong lines, which begins at byte `from` of a text, below the headings of `outline`. What makes a parser
/// give up is shown as it stands.
pub(super) fn render(text: &str, from: usize, outline: Outline, cache: &mut SlotCache) -> Vec<Block> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    // A parser's own panic on text made for it must not end a battle. No state is shared with it: the old cache is
    // only read, and the new one is dropped when it panics.
    let rendered = catch_unwind(AssertUnwindSafe(|| {
        let mut fresh = SlotCache::default();
        let blocks = render_blocks((text, from), outline, cache, &mut fresh);
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
    (text, from): (&str, usize),
    mut outline: Outline,
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
        outline.settle(node);
        let detail = if from + source.start < MAX_DETAILED { Detail::Full } else { Detail::Plain };
        let html = if source.len() > MAX_BLOCK { None } else { prose(node, &arena, &options, detail) };
        let Some((html, slots)) = html else { return plain(&text[source.clone()], source.start, outline) };
        Block { start: source.start, html: wrap(&fill(&html, &slots, cache, fresh)), outline }
    };
    root.children().map(block).collect()
}

/// A block as clean HTML with its slots; `None` where it is nested too deeply or becomes too large.
fn prose<'a>(
    node: Node<'a>,
    arena: &'a Arena<'a>,
    options: &Options<'_>,
    detail: Detail,
) -> Option<(String, Vec<Slot>)> {
    let slots = defuse(node, arena, detail)?;
    let mut html = String::new();
    // Not `format_html`: in a debug build it panics on a cell of a table that holds a line break or a slot.
    comrak::format_html_with_plugins(node, options, &mut html, &Plugins::default()).ok()?;
    (html.len() <= MAX_HTML).then(|| (sanitize::prose(&html), slots))
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

/// Replaces everything that the formatter would write as it stands, and collects the slots. `None` where the block
/// is nested too deeply.
fn defuse<'a>(block: Node<'a>, arena: &'a Arena<'a>, detail: Detail) -> Option<Vec<Slot>> {
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

fn defuse_node<'a>(node: Node<'a>, arena: &'a Arena<'a>, slots: &mut Vec<Slot>, detail: Detail) {
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
        // A picture would be fetched from a host of the model's choice, so its alternative text stands for it.
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

/// Keeps the slot and gives the node that marks its place.
fn slot(slots: &mut Vec<Slot>, slot: Slot) -> NodeValue {
    slots.push(slot);
    NodeValue::Raw(format!("<data value=\"{}\"></data>", slots.len() - 1))
}

/// Puts the slots' HTML in the place of their marks.
fn fill(html: &str, slots: &[Slot], cache: &SlotCache, fresh: &mut SlotCache) -> String {
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

/// Direction is decided for each block by its own text, and no override reaches beyond the block. A table may be wider than
/// its place, and can be focused, so that keys scroll it.
fn wrap(html: &str) -> String {
    let focus = if html.starts_with("<table>") { " role=\"group\" tabindex=\"0\"" } else { "" };
    format!("<div dir=\"auto\"{focus}>{}</div>", html.trim_end())
}
