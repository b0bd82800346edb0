//! Incremental rendering of a growing text: only changed blocks are returned.
//!
//! Later Markdown never changes a closed block, so all blocks before the last one are settled, and each update parses only the text after
//! them. Two lines are held back: a line that is still being written may look like the start of another block, and a table is
//! recognised by its second line. The one exception is a link reference definition (`[a]: https://…`), which may change any earlier
//! block: a text that may hold one is parsed as a whole each time.

use std::borrow::Cow;

use super::blocks::{self, MAX_BLOCKS, SlotCache};
use super::outline::OpenHeadings;
use crate::domain::text_direction;

/// Incremental renderer of a growing text to HTML blocks.
#[derive(Debug, Default)]
pub struct Renderer {
    /// Bytes of the text with settled blocks, which no longer change.
    settled: usize,
    /// Number of those blocks.
    settled_blocks: usize,
    /// Outline after the settled blocks.
    outline: OpenHeadings,
    /// The HTML last returned for each block, empty for settled ones.
    shown: Vec<String>,
    slots: SlotCache,
}

/// New or changed block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockChange {
    /// Position of the block.
    pub block: usize,
    /// Its current HTML; empty if the block was removed.
    pub html: String,
    /// Length of the prefix of `html` shared with the former HTML of the block, in bytes at a character boundary.
    pub kept: usize,
}

impl Renderer {
    /// Creates a renderer without text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Renders the text so far and returns the new or changed blocks. The text may only grow; use another renderer for another
    /// text.
    pub fn update(&mut self, text_so_far: &str) -> Vec<BlockChange> {
        let text = normalize(text_so_far);
        let may_settle = !may_define_references(&text);
        if !may_settle || !text.is_char_boundary(self.settled) {
            (self.settled, self.settled_blocks, self.outline) = (0, 0, OpenHeadings::default());
        }
        let mut plain_from = blocks::plain_from(&text).max(self.settled);
        let markdown = &text[self.settled..plain_from];
        let mut tail = blocks::render(markdown, self.settled, self.outline, &mut self.slots);
        let room = MAX_BLOCKS.saturating_sub(self.settled_blocks);
        if let Some(first_too_many) = tail.get(room) {
            plain_from = self.settled + first_too_many.start;
            tail.truncate(room);
        }
        let certain = second_last_line(markdown);
        let open = tail.iter().rposition(|block| block.start < certain).unwrap_or(0);
        let open_start = tail.get(open).map_or(0, |block| block.start);
        let settled_outline = tail[..open].last().map_or(self.outline, |block| block.outline);
        tail.extend(blocks::plain_blocks(&text[plain_from..], plain_from));
        let changes = self.changes(tail.into_iter().map(|block| block.html));
        if may_settle && open > 0 {
            self.settled += open_start;
            let settled = self.settled_blocks..self.settled_blocks + open;
            self.settled_blocks = settled.end;
            self.shown[settled].fill_with(String::new);
            self.outline = settled_outline;
        }
        changes
    }

    /// Compares the blocks after the settled ones with those last returned, and stores them.
    fn changes(&mut self, tail: impl Iterator<Item = String>) -> Vec<BlockChange> {
        let before = self.shown.split_off(self.settled_blocks.min(self.shown.len()));
        let mut changes = Vec::new();
        for (position, html) in tail.enumerate() {
            let former = before.get(position).map_or("", String::as_str);
            if former != html {
                changes.push(BlockChange {
                    block: self.shown.len(),
                    kept: common_prefix(former, &html),
                    html: html.clone(),
                });
            }
            self.shown.push(html);
        }
        let gone = self.shown.len()..self.settled_blocks + before.len();
        changes.extend(gone.map(|block| BlockChange { block, html: String::new(), kept: 0 }));
        changes
    }
}

/// Bytes of the longest common prefix of two texts, in whole characters.
fn common_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same)
}

/// Offset of the second-last line.
fn second_last_line(text: &str) -> usize {
    text.rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at + 1)
}

/// Normalises line ends to `\n` and removes NUL and byte-order marks, which Markdown parsers treat differently. Bidirectional
/// controls are shown as code points.
fn normalize(text: &str) -> Cow<'_, str> {
    let text = text_direction::in_prose(text);
    if !text.contains(['\r', '\0', '\u{feff}']) {
        return text;
    }
    let mut out = text.replace("\r\n", "\n").replace('\r', "\n");
    out.retain(|c| c != '\u{feff}' && c != '\0');
    Cow::Owned(out)
}

/// Whether the text could hold a link reference definition. May give false positives, but no false negatives.
fn may_define_references(text: &str) -> bool {
    let opens_with_bracket = |line: &str| {
        let container =
            |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, '>' | '-' | '*' | '+' | '.' | ')');
        line.trim_start_matches(container).starts_with('[')
    };
    text.contains("]:") && text.lines().any(opens_with_bracket)
}
