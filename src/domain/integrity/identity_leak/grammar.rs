//! Grammars: lists of regular expressions that match sentences with names.
//!
//! A sentence has one placeholder for each name. The expressions are written with named parts such as `<SELF>`. They have no look-around,
//! so matching is linear in the text.

use regex::Regex;

use super::spelling::NameKind;

/// Placeholder of an unambiguous model name.
pub(super) const MODEL: char = '\u{E000}';
/// Placeholder of a model name that is also a word.
pub(super) const WORD: char = '\u{E001}';
/// Placeholder of an organisation.
pub(super) const MAKER: char = '\u{E002}';

/// Placeholder of a hint at an organisation, such as its founder.
pub(super) const HINT: char = '\u{E003}';

/// Length of a placeholder in bytes.
pub(super) const PLACEHOLDER_BYTES: usize = MODEL.len_utf8();

/// Returns the placeholder of a name.
pub(super) fn placeholder(kind: NameKind) -> char {
    match kind {
        NameKind::Model => MODEL,
        NameKind::Word | NameKind::Common => WORD,
        NameKind::Maker => MAKER,
        NameKind::Hint => HINT,
    }
}

/// Returns whether a character is a placeholder.
pub(super) fn is_placeholder(c: char) -> bool {
    matches!(c, MODEL | WORD | MAKER | HINT)
}

/// Compiled grammar.
#[derive(Debug)]
pub(super) struct Grammar {
    rules: Vec<Regex>,
}

impl Grammar {
    /// Compiles rules; `parts` are the named parts, each of which may use those before it.
    pub(super) fn new(parts: &[(&str, &str)], rules: &[&str]) -> Self {
        let mut known: Vec<(String, String)> = vec![
            ("<N>".into(), format!("(?:{MAKER}(?:'s|的)? ?)?[{MODEL}{WORD}]")),
            ("<STRONG>".into(), format!("(?:{MAKER}(?:'s|的)? ?)?{MODEL}")),
            ("<K>".into(), MAKER.to_string()),
            ("<A>".into(), format!("[{MODEL}{WORD}{MAKER}]")),
            ("<H>".into(), format!("[{MODEL}{WORD}{MAKER}{HINT}]")),
            ("<B>".into(), r"(?-u:\b)".into()),
        ];
        for (name, part) in parts {
            let part = format!("(?:{})", expand(part, &known));
            known.push((format!("<{name}>"), part));
        }
        let compile =
            |rule: &&str| Regex::new(&expand(rule, &known)).expect("the built-in rules are regular expressions");
        Self { rules: rules.iter().map(compile).collect() }
    }

    /// Returns the ranges of a sentence that match a rule.
    pub(super) fn matches<'s>(&'s self, sentence: &'s str) -> impl Iterator<Item = std::ops::Range<usize>> + 's {
        self.rules.iter().flat_map(move |rule| rule.find_iter(sentence).map(|found| found.range()))
    }

    /// Like [`Grammar::matches`], for rules whose first group must also pass a test.
    pub(super) fn matches_where<'s>(
        &'s self,
        sentence: &'s str,
        passes: fn(&str) -> bool,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + 's {
        let found = self.rules.iter().flat_map(move |rule| rule.captures_iter(sentence));
        found
            .filter(move |found| found.get(1).is_none_or(|group| passes(group.as_str())))
            .filter_map(|found| Some(found.get(0)?.range()))
    }
}

fn expand(text: &str, parts: &[(String, String)]) -> String {
    parts.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part))
}
