//! Spelling variants of a name in a normalized text: digits for letters, spelled out, in chunks, with marks between, backwards; and the
//! boundaries of a name.

use std::sync::LazyLock;

use regex::Regex;

use super::normalized_text::{NormalizedText, UPPER};

/// Maximum number of marks between two characters of a name.
const MAX_GAP_MARKS: usize = 3;
/// Minimum length of names that match with digits for letters, and minimum number of letters of one-word names of the arena's models.
pub(super) const MIN_DISGUISED_LENGTH: usize = 4;
/// Minimum number of letters of a name that may be broken into several chunks.
const MIN_CHUNKED_LETTERS: usize = 7;
/// Suffixes joined to a name: ClaudeAI.
const JOINED_SUFFIXES: [&str; 8] = ["ai", "bot", "chat", "lm", "pro", "gpt", "llm", "assistant"];
/// Words after a name that belong to it.
pub(super) const VARIANT_WORDS: [&str; 37] = [
    "audio",
    "vl",
    "math",
    "air",
    "base",
    "beta",
    "bot",
    "chat",
    "code",
    "coder",
    "experimental",
    "flash",
    "haiku",
    "instant",
    "instruct",
    "large",
    "latest",
    "lite",
    "max",
    "medium",
    "mini",
    "nano",
    "nemo",
    "omni",
    "opus",
    "plus",
    "preview",
    "pro",
    "reasoner",
    "scout",
    "small",
    "sonnet",
    "thinking",
    "turbo",
    "ultra",
    "maverick",
    "vision",
];
/// First names and titles that make the next word a person, place or thing.
const FORENAMES: [&str; 14] = [
    "jean",
    "mr",
    "mrs",
    "ms",
    "dr",
    "monsieur",
    "madame",
    "project",
    "uncle",
    "saint",
    "st",
    "sir",
    "operation",
    "nasa's",
];
/// Kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Unambiguous name of a model.
    Model,
    /// Name of a model that is also a word, a person or a place.
    Word,
    /// Name of a model that is a word, a god or a person that texts often speak as: it counts where the sentence is about a model.
    Common,
    /// Name of an organisation.
    Maker,
    /// Product or founder of an organisation.
    Hint,
}

/// Occurrence of a name: characters `start..end` of the normalized text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameHit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: NameKind,
    pub(super) maker: usize,
}

/// Search pattern of a name.
#[derive(Debug)]
pub(super) struct NamePattern {
    /// Normalized letters and digits of the name.
    pub(super) chars: Vec<char>,
    /// Positions before which the name itself has a space or mark.
    pub(super) gaps: Vec<usize>,
    /// Kind of the name.
    pub(super) kind: NameKind,
    /// Number of the maker, shared by the names of one maker and its models.
    pub(super) maker: usize,
}

/// Returns whether a text says that something in it is to be read backwards.
pub(super) fn mentions_reversal(text: &NormalizedText) -> bool {
    static MENTION_OF_REVERSAL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("backward|reverse|right to left|from the end|mirror|倒着|反过来|倒过来|倒序|反着|从右")
            .expect("the built-in rule is a regular expression")
    });
    MENTION_OF_REVERSAL.is_match(&text.chars.iter().collect::<String>())
}

/// Maps letters and digits that substitute each other to one shape.
pub(super) fn shape(c: char) -> char {
    match c {
        '1' | 'l' | '!' | '|' => 'i',
        '0' => 'o',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        c => c,
    }
}

/// Returns whether a sign replaces a letter: it is between two letters or digits.
pub(super) fn is_letter_sign(text: &NormalizedText, at: usize) -> bool {
    let is_latin = |at: Option<usize>| at.and_then(|at| text.chars.get(at)).is_some_and(char::is_ascii_alphanumeric);
    matches!(text.chars[at], '@' | '$' | '!' | '|') && is_latin(at.checked_sub(1)) && is_latin(Some(at + 1))
}

impl NamePattern {
    /// Returns whether the characters at these positions are this name and not a part of another word.
    pub(super) fn fits(&self, text: &NormalizedText, at: &[usize]) -> bool {
        self.is_spelled(text, at) && self.is_together(text, at) && is_whole(text, at[0], at[at.len() - 1])
    }

    /// Compares the characters: a digit of the name must be equal; a letter may be a digit or sign if the name is long enough to be
    /// recognised by the rest.
    fn is_spelled(&self, text: &NormalizedText, at: &[usize]) -> bool {
        let mut disguised = false;
        for (name, place) in self.chars.iter().zip(at) {
            let found = text.chars[*place];
            if found != *name {
                if name.is_ascii_digit() {
                    return false;
                }
                disguised = true;
            }
        }
        !disguised || self.chars.len() >= MIN_DISGUISED_LENGTH
    }

    /// Checks the gaps between the characters: those of the name itself; a mark; or spaces where the name is spelled out, or is broken
    /// once, or a long one a few times.
    fn is_together(&self, text: &NormalizedText, at: &[usize]) -> bool {
        let mut spaced = Vec::new();
        for (position, pair) in at.windows(2).enumerate() {
            let between = &text.chars[pair[0] + 1..pair[1]];
            if between.is_empty() {
                continue;
            }
            if between.len() > MAX_GAP_MARKS {
                return false;
            }
            let is_space = between.iter().all(|c| c.is_whitespace());
            if is_space && !self.gaps.contains(&(position + 1)) {
                spaced.push(position + 1);
            } else if !is_space
                && (between.contains(&'\n') || between.len() > 1 && between.contains(&' ') && !is_dashed(between))
            {
                return false;
            }
        }
        let length = self.chars.len();
        let least_broken = MIN_DISGUISED_LENGTH + usize::from(self.kind == NameKind::Maker);
        spaced.is_empty()
            || spaced.len() == 1 && length >= least_broken
            || spaced.len() <= length / 2 && length >= MIN_CHUNKED_LETTERS
            || spaced.len() + 1 >= length - self.gaps.len()
    }
}

fn is_dashed(between: &[char]) -> bool {
    between.iter().all(|c| matches!(c, ' ' | '-' | '+' | '—' | '·' | '.' | '/' | '|')) || between == [',', ' ']
}

/// Returns whether a Latin name is not part of a longer word; a version may follow.
pub(super) fn is_whole(text: &NormalizedText, first: usize, last: usize) -> bool {
    let joins = |own: usize, other: Option<usize>| {
        let other = other.and_then(|other| text.chars.get(other));
        text.chars[own].is_ascii_alphanumeric() && other.is_some_and(char::is_ascii_alphanumeric)
    };
    let goes_on = text.chars.get(last + 1).is_some_and(char::is_ascii_digit);
    let rest: String = text.chars[last + 1..].iter().take(10).take_while(|c| c.is_ascii_alphanumeric()).collect();
    !joins(first, first.checked_sub(1))
        && (!joins(last, Some(last + 1))
            || goes_on && !text.chars[last].is_ascii_digit()
            || JOINED_SUFFIXES.contains(&rest.as_str()))
}

/// Returns the end of the versions and variants after a name: `-4o mini`, ` 3.5 Sonnet`, `2.5-7b`.
pub(super) fn after_version(text: &NormalizedText, end: usize) -> usize {
    let mut end = end;
    for _ in 0..6 {
        let has_mark = text.chars.get(end).is_some_and(|c| matches!(c, ' ' | '-' | ':' | '/'));
        let start = end + usize::from(has_mark);
        let word: String =
            text.chars[start..].iter().take(12).take_while(|c| c.is_ascii_alphanumeric() || **c == '.').collect();
        let word = word.trim_end_matches('.');
        if word.is_empty() || word.len() == 12 || !is_version(word) && !VARIANT_WORDS.contains(&word) {
            break;
        }
        end = start + word.len();
    }
    end + usize::from(text.chars.get(end) == Some(&'+'))
}

/// Returns whether a word is a number with at most two letters on either side, such as `4o`, `v3`, `8x7b`, `r1`.
fn is_version(word: &str) -> bool {
    let before = word.find(|c: char| c.is_ascii_digit());
    before.is_some_and(|digit| digit <= 1) && word.chars().filter(char::is_ascii_alphabetic).count() <= 2
}

/// Returns whether a capitalised word after a name, or a title before it, makes it a person or a thing: Claude Monet, Project Gemini.
pub(super) fn is_person(text: &NormalizedText, hit: &NameHit) -> bool {
    let surname = text.chars.get(hit.end) == Some(&' ')
        && text.flags.get(hit.end + 1).is_some_and(|flags| flags & UPPER > 0)
        && text.chars.get(hit.end + 2).is_some_and(char::is_ascii_alphabetic)
        && text.chars.get(hit.end + 2) != Some(&'\'');
    // A Chinese text writes a foreign name with a dot before the surname.
    let chinese_surname = text.chars.get(hit.end) == Some(&'·')
        && text.chars.get(hit.end + 1).is_some_and(|c| ('\u{4E00}'..='\u{9FFF}').contains(c));
    if chinese_surname {
        return true;
    }
    let before: String = text.chars[hit.start.saturating_sub(12)..hit.start].iter().collect();
    let before = before.trim_end_matches([' ', '-', '.']);
    let forename = before.rsplit(|c: char| !c.is_ascii_alphabetic() && c != '\'').next().unwrap_or_default();
    text.chars[hit.start].is_ascii_alphabetic() && (surname || FORENAMES.contains(&forename))
}
