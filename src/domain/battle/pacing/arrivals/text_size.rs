//! How much text there is, in characters and in bytes of UTF-8.
//!
//! What is shown is cut by characters. How fast a model writes is measured in bytes: a model writes tokens, and a token
//! has about as many bytes in every script, while it has three or four times as many characters in English as in Chinese.

use std::ops::AddAssign;

/// Size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct TextSize {
    pub(in super::super) chars: usize,
    pub(in super::super) bytes: usize,
}

impl TextSize {
    pub(in super::super) fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), bytes: text.len() }
    }

    pub(super) fn saturating_sub(self, other: Self) -> Self {
        let [chars, bytes] = [(self.chars, other.chars), (self.bytes, other.bytes)].map(|(a, b)| a.saturating_sub(b));
        Self { chars, bytes }
    }

    /// What this text has more characters than its `beginning`; `None` where it has fewer.
    pub(super) fn rest_after(self, beginning: Self) -> Option<Self> {
        (self.chars >= beginning.chars).then(|| self.saturating_sub(beginning))
    }
}

impl AddAssign for TextSize {
    fn add_assign(&mut self, other: Self) {
        self.chars += other.chars;
        self.bytes += other.bytes;
    }
}

/// How many bytes a text has a character, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct BytesPerChar(TextSize);

impl BytesPerChar {
    /// One, where there is no text.
    pub(super) fn of(text: TextSize) -> Self {
        Self(if text.chars == 0 { TextSize { chars: 1, bytes: 1 } } else { text })
    }

    /// The greater of the two.
    pub(in super::super) fn max(self, other: Self) -> Self {
        let (one, another) = (self.0.bytes * other.0.chars, other.0.bytes * self.0.chars);
        if one < another { other } else { self }
    }

    /// Bytes of so many characters, rounded up.
    pub(in super::super) fn bytes_of(self, chars: usize) -> usize {
        (chars * self.0.bytes).div_ceil(self.0.chars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_denser_of_two_texts_sets_the_bytes_of_a_step() {
        let [english, chinese, none] = ["Hello!", "你好！!", ""].map(|text| BytesPerChar::of(TextSize::of(text)));
        assert_eq!([english, chinese, none].map(|text| text.bytes_of(12)), [12, 30, 12]);
        assert_eq!((english.max(chinese), chinese.max(english), none.max(chinese)), (chinese, chinese, chinese));
        assert_eq!(chinese.bytes_of(1), 3, "rounded up");
    }

    #[test]
    fn a_rest_is_never_less_than_nothing() {
        let size = |chars, bytes| TextSize { chars, bytes };
        assert_eq!(size(5, 15).rest_after(size(3, 3)), Some(size(2, 12)));
        assert_eq!(size(5, 5).rest_after(size(3, 9)), Some(size(2, 0)));
        assert_eq!(size(2, 6).rest_after(size(3, 3)), None);
    }
}
