//! Hexadecimal encoding.

use std::fmt::Write as _;

/// Encodes bytes as two lower-case digits each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

/// Decodes pairs of hexadecimal digits; `None` for any other text.
#[must_use]
pub fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?));
    if odd.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(decode_hex("aF"), Some(vec![0xaf]));
        assert_eq!(decode_hex(""), Some(Vec::new()));
        for other in ["a", "abc", "+f", " f", "0x", "é", "0g"] {
            assert_eq!(decode_hex(other), None, "{other:?}");
        }
    }
}
