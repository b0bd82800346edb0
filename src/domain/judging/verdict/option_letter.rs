//! Parses the option letter of a multiple-choice answer: the only one that stands alone.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// Letter of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OptionLetter {
    /// First option.
    A,
    /// Second option.
    B,
    /// Third option.
    C,
    /// Fourth option.
    D,
}

impl OptionLetter {
    /// All letters, in order.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::D];

    /// Parses a letter of a data file: A to D, half or full width, in either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "A" | "a" | "Ａ" => Some(Self::A),
            "B" | "b" | "Ｂ" => Some(Self::B),
            "C" | "c" | "Ｃ" => Some(Self::C),
            "D" | "d" | "Ｄ" => Some(Self::D),
            _ => None,
        }
    }

    /// Returns the letter as text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }
}

/// Letter that is not part of a Latin word or number; adjacent Chinese characters are allowed.
static STANDALONE_LETTER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:^|[^A-Za-z0-9Ａ-Ｚａ-ｚ０-９'’])([A-DＡ-Ｄ])").expect("the pattern is valid"));

/// Parses the letter that an answer asserts; `None` if it has no letter, or several different ones.
#[must_use]
pub fn parse(answer: &str) -> Option<OptionLetter> {
    let mut asserted = None;
    for found in STANDALONE_LETTER.captures_iter(answer) {
        let letter = found.get(1)?;
        if answer[letter.end()..].starts_with(joins_word) {
            continue;
        }
        let letter = OptionLetter::parse(letter.as_str());
        if asserted.is_some() && asserted != letter {
            return None;
        }
        asserted = letter;
    }
    asserted
}

/// Whether a character joins the preceding letter into a word.
fn joins_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '\'' | '’' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '０'..='９')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: Option<OptionLetter>) {
        assert_eq!(parse(answer), expected, "{answer:?}");
    }

    #[test]
    fn a_letter_that_stands_alone_is_the_answer() {
        check("B", Some(OptionLetter::B));
        check("答案：C", Some(OptionLetter::C));
        check("选项D正确", Some(OptionLetter::D));
        check("（Ａ）", Some(OptionLetter::A));
        check("B. 欧阳修\n\n答案是B。", Some(OptionLetter::B));
        check("The answer is C.", Some(OptionLetter::C));
    }

    #[test]
    fn several_letters_or_none_are_no_answer() {
        check("A和B都对", None);
        check("我不知道", None);
        check("", None);
        check("ABCD", None);
        check("A、B", None);
    }

    #[test]
    fn a_letter_within_a_word_is_none() {
        check("Dogs and Cats", None);
        check("I'D say 4B", None);
        check("DNA 的答案：A", Some(OptionLetter::A));
    }
}
