//! Reasons of a voter for finding a reply good or bad: words of a fixed list, each at most once for a side.
//!
//! They are given before the names are shown, so that they are as blind as the vote.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Reason for finding a reply good or bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The reply helps.
    Useful,
    /// Nothing is missing.
    Complete,
    /// Its statements are true.
    Correct,
    /// It is easy to understand.
    Clear,
    /// Something in it is false.
    Wrong,
    /// It is superficial.
    Shallow,
    /// It is longer than needed.
    TooLong,
    /// It does not follow the prompt's instructions.
    IgnoredInstructions,
}

/// An unknown reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown reason {0:?}: send one of {known}", known = Reason::ALL.map(Reason::as_str).join(", "))]
pub struct UnknownReason(pub String);

impl Reason {
    /// All reasons, the good ones first.
    pub const ALL: [Reason; 8] = [
        Reason::Useful,
        Reason::Complete,
        Reason::Correct,
        Reason::Clear,
        Reason::Wrong,
        Reason::Shallow,
        Reason::TooLong,
        Reason::IgnoredInstructions,
    ];

    /// Spelling on the wire, in the database and in exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Useful => "useful",
            Reason::Complete => "complete",
            Reason::Correct => "correct",
            Reason::Clear => "clear",
            Reason::Wrong => "wrong",
            Reason::Shallow => "shallow",
            Reason::TooLong => "too_long",
            Reason::IgnoredInstructions => "ignored_instructions",
        }
    }

    /// Parses the spelling.
    ///
    /// # Errors
    /// [`UnknownReason`] for anything else.
    pub fn parse(text: &str) -> Result<Self, UnknownReason> {
        let found = Self::ALL.into_iter().find(|reason| reason.as_str() == text);
        found.ok_or_else(|| UnknownReason(text.chars().take(40).collect()))
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The reasons given for one side. Its text is the spellings in the order of [`Reason::ALL`], joined by commas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReasonSet(u8);

impl ReasonSet {
    /// Whether no reason was given.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The reasons in it, in the order of [`Reason::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.into_iter().filter(move |reason| self.0 & reason.bit() != 0)
    }

    /// Parses the stored text; a repeated reason counts once.
    ///
    /// # Errors
    /// [`UnknownReason`] for the first unknown word.
    pub fn parse(text: &str) -> Result<Self, UnknownReason> {
        text.split(',').filter(|word| !word.is_empty()).map(Reason::parse).collect()
    }

    /// The stored text; `None` where no reason was given.
    #[must_use]
    pub fn stored(self) -> Option<String> {
        (!self.is_empty()).then(|| self.to_string())
    }
}

impl FromIterator<Reason> for ReasonSet {
    fn from_iter<I: IntoIterator<Item = Reason>>(reasons: I) -> Self {
        Self(reasons.into_iter().fold(0, |set, reason| set | reason.bit()))
    }
}

impl fmt::Display for ReasonSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(Reason::as_str).collect();
        f.write_str(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_reasons_is_read_as_it_is_written() {
        for bits in 0..=u8::MAX {
            let set = ReasonSet(bits);
            assert_eq!(ReasonSet::parse(&set.to_string()), Ok(set));
            assert_eq!(set.iter().count(), bits.count_ones() as usize);
            assert_eq!(set.stored().is_none(), bits == 0);
        }
    }

    #[test]
    fn the_order_is_fixed_and_a_repeated_reason_counts_once() {
        let set = ReasonSet::parse("too_long,useful,too_long").unwrap();
        assert_eq!(set.to_string(), "useful,too_long");
    }

    #[test]
    fn an_unknown_reason_is_named_with_the_known_ones() {
        let error = ReasonSet::parse("useful,funny").unwrap_err();
        assert!(error.to_string().starts_with("unknown reason \"funny\": send one of useful, complete"), "{error}");
    }
}
