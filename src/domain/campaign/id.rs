//! Ids of campaigns and of their questions.

/// Maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 64;

/// Whether a text is a valid id of a campaign or question: lower-case letters, digits, `-` and `_`, beginning with a letter or digit.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inner = |byte: u8| allowed(byte) || matches!(byte, b'-' | b'_');
    text.len() <= MAX_ID_BYTES && text.bytes().next().is_some_and(allowed) && text.bytes().all(inner)
}
