//! Text sizes in characters and in bytes of UTF-8.
//!
//! Visible text is cut by characters. Speed is measured in bytes: a model writes tokens, and a token has about as many bytes in every
//! script, while it has three or four times as many characters in English as in Chinese.

use std::ops::AddAssign;

use crate::stats::real_len;

/// Size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::battle::pacing) struct TextSize {
    pub(in crate::battle::pacing) chars: usize,
    pub(in crate::battle::pacing) bytes: usize,
}

impl TextSize {
    pub(in crate::battle::pacing) fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), bytes: text.len() }
    }

    pub(super) fn saturating_sub(self, other: Self) -> Self {
        let [chars, bytes] = [(self.chars, other.chars), (self.bytes, other.bytes)].map(|(a, b)| a.saturating_sub(b));
        Self { chars, bytes }
    }

    /// Size of this text without its `beginning`; `None` where the beginning has more characters.
    pub(super) fn remainder_after(self, beginning: Self) -> Option<Self> {
        (self.chars >= beginning.chars).then(|| self.saturating_sub(beginning))
    }
}

impl AddAssign for TextSize {
    fn add_assign(&mut self, other: Self) {
        self.chars += other.chars;
        self.bytes += other.bytes;
    }
}

/// Bytes per character of a text.
#[derive(Debug, Clone, Copy)]
pub(in crate::battle::pacing) struct BytesPerChar(f64);

impl BytesPerChar {
    /// ASCII text, one byte per character.
    pub(in crate::battle::pacing) const ONE: Self = Self(1.0);

    /// Bytes per character of a text; one for an empty text.
    pub(super) fn of(text: TextSize) -> Self {
        if text.chars == 0 { Self::ONE } else { Self(real_len(text.bytes) / real_len(text.chars)) }
    }

    /// The greater of the two.
    pub(in crate::battle::pacing) fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Mean bytes of this number of characters.
    pub(in crate::battle::pacing) fn bytes_of(self, chars: usize) -> f64 {
        self.0 * real_len(chars)
    }
}

/// Rounds a number of bytes down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes in memory")]
pub(in crate::battle::pacing) fn whole_bytes(bytes: f64) -> usize {
    bytes as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_denser_of_two_texts_sets_the_bytes_of_a_step() {
        let [english, chinese, none] = ["Hello!", "你好！!", ""].map(|text| BytesPerChar::of(TextSize::of(text)));
        let tenths = |text: BytesPerChar, chars| whole_bytes(10.0 * text.bytes_of(chars));
        assert_eq!([english, chinese, none].map(|text| tenths(text, 12)), [120, 300, 120]);
        let greater = [english.max(chinese), chinese.max(english), none.max(chinese)];
        assert_eq!(greater.map(|text| tenths(text, 1)), [25; 3]);
        assert_eq!([29.0, 29.9].map(whole_bytes), [29; 2]);
    }

    #[test]
    fn a_rest_is_never_less_than_nothing() {
        let size = |chars, bytes| TextSize { chars, bytes };
        assert_eq!(size(5, 15).remainder_after(size(3, 3)), Some(size(2, 12)));
        assert_eq!(size(5, 5).remainder_after(size(3, 9)), Some(size(2, 0)));
        assert_eq!(size(2, 6).remainder_after(size(3, 3)), None);
    }
}
