//! Counts of words, headings, lists and bold spans in a text, for style control and the vote log.
//!
//! Pure. The names follow LMArena's `conv_metadata`; tokens are counted without a model's tokenizer: a run of
//! letters or digits is one, and so is each Chinese, Japanese or Korean character.

use serde::{Deserialize, Serialize};

/// Counts of one side's replies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCounts {
    /// Words and East Asian characters.
    pub tokens: u64,
    /// Markdown headings by level, 1 to 6.
    pub headings: [u64; 6],
    /// Items of numbered lists.
    pub ordered: u64,
    /// Items of bulleted lists.
    pub unordered: u64,
    /// Bold spans written `**…**`.
    pub bold_stars: u64,
    /// Bold spans written `__…__`.
    pub bold_underscores: u64,
}

impl TextCounts {
    /// Counts a text. Code blocks count as tokens only.
    #[must_use]
    pub fn count(text: &str) -> Self {
        let mut counts = Self { tokens: count_tokens(text), ..Self::default() };
        let mut open = None;
        for line in text.lines().map(str::trim_start) {
            match (open, CodeFence::parse(line)) {
                (None, None) => counts.count_line(line),
                (None, begins) => open = begins,
                (Some(begun), Some(fence)) if fence.closes(begun) => open = None,
                (Some(_), _) => {}
            }
        }
        counts
    }

    /// The sum of two counts.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.tokens += other.tokens;
        for (mine, theirs) in self.headings.iter_mut().zip(other.headings) {
            *mine += theirs;
        }
        self.ordered += other.ordered;
        self.unordered += other.unordered;
        self.bold_stars += other.bold_stars;
        self.bold_underscores += other.bold_underscores;
        self
    }

    fn count_line(&mut self, line: &str) {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
            self.headings[hashes - 1] += 1;
        } else if ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet)) {
            self.unordered += 1;
        } else if is_numbered(line) {
            self.ordered += 1;
        }
        self.bold_stars += spans(line, "**");
        self.bold_underscores += spans(line, "__");
    }
}

/// A line that begins or ends a block of code: CommonMark 0.31, section 4.5, at any indentation.
#[derive(Debug, Clone, Copy)]
struct CodeFence {
    mark: u8,
    length: usize,
    /// Whether no info string follows, such as the name of a programming language.
    is_bare: bool,
}

impl CodeFence {
    fn parse(line: &str) -> Option<Self> {
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let info = line[length..].trim();
        let is_inline_code = mark == b'`' && info.contains('`');
        (length >= 3 && !is_inline_code).then_some(Self { mark, length, is_bare: info.is_empty() })
    }

    fn closes(self, begun: Self) -> bool {
        self.is_bare && self.mark == begun.mark && self.length >= begun.length
    }
}

fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=9).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "))
}

fn spans(line: &str, mark: &str) -> u64 {
    (line.matches(mark).count() / 2) as u64
}

fn count_tokens(text: &str) -> u64 {
    let mut tokens = 0;
    let mut in_word = false;
    for c in text.chars() {
        let stands_alone = is_east_asian(c);
        let is_word = c.is_alphanumeric() && !stands_alone;
        if stands_alone || (is_word && !in_word) {
            tokens += 1;
        }
        in_word = is_word;
    }
    tokens
}

fn is_east_asian(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3134F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structured_reply_is_counted() {
        let text = "# Title\n\nSome **bold** and __more__ text.\n\n- one\n- two\n\n1. first\n2) second\n\n```\n# no heading\n- no item\n```\n### Sub";
        let counts = TextCounts::count(text);
        assert_eq!(counts.headings, [1, 0, 1, 0, 0, 0]);
        assert_eq!((counts.unordered, counts.ordered), (2, 2));
        assert_eq!((counts.bold_stars, counts.bold_underscores), (1, 1));
    }

    #[test]
    fn code_ends_at_a_fence_like_its_own() {
        for text in [
            "```\n~~~\n# code\n```\n# Heading",
            "````md\n```\n# code\n```\n- code\n````\n# Heading",
            "~~~\n```\n# code\n~~~~\n# Heading",
            "```\n```rust\n# code\n```\n# Heading",
            "```let x``` in a line\n# Heading",
            "  ```\n  # code\n  ```\n# Heading",
        ] {
            let counts = TextCounts::count(text);
            assert_eq!((counts.headings, counts.unordered), ([1, 0, 0, 0, 0, 0], 0), "{text:?}");
        }
        assert_eq!(TextCounts::count("```\n# code that never ends").headings, [0; 6]);
    }

    #[test]
    fn chinese_characters_count_one_by_one() {
        assert_eq!(TextCounts::count("琅琊 arena 2026!").tokens, 4);
        assert_eq!(TextCounts::count("").tokens, 0);
    }
}
