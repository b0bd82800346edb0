//! Lone surrogates in JSON: a provider that cuts its text between the two escapes of one character sends JSON that no parser accepts.

use std::borrow::Cow;

/// The replacement character as an escape, of the same length as the escape it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// Replaces each escape of a lone surrogate (`\ud83d` without its second half) by U+FFFD, so that the reply can be parsed. Other text is
/// returned unchanged.
pub(in crate::llm) fn without_half_characters(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), unit(rest.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole.push_str(REPLACEMENT);
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // The escaped character does not begin an escape.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Cow::Owned(whole + rest)
}

/// Returns the UTF-16 unit of the escape at the start of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::llm::ReplyPart;
    use crate::llm::http::transport::StreamProgress;
    use crate::llm::providers::{anthropic, ollama, openai};
    use crate::llm::stream::sse::SseEvent;

    #[test]
    fn half_a_character_is_replaced_and_all_else_stays() {
        let cases = [
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\uDE00 b"}"#, r#"{"a":"\ufffd b"}"#),
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"a":"\ude00\ud83d"}"#, r#"{"a":"\ufffd\ufffd"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\\\ud83d"}"#, r#"{"a":"\\\ufffd"}"#),
            (r#"{"a":"\u4f60\ud83d\u597d"}"#, r#"{"a":"\u4f60\ufffd\u597d"}"#),
            (r#"{"a":"plain"}"#, r#"{"a":"plain"}"#),
            (r#"{"a":"\ud83"#, r#"{"a":"\ud83"#),
            (r#"{"a":"\ud"#, r#"{"a":"\ud"#),
            ("\\ud你好\\", "\\ud你好\\"),
        ];
        for (sent, read) in cases {
            assert_eq!(without_half_characters(sent), read, "{sent}");
        }
    }

    #[test]
    fn no_provider_ends_a_reply_with_half_a_character() {
        let mut parts = VecDeque::new();
        let event = |data| SseEvent { name: "", data };
        let openai = r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#;
        assert_eq!(openai::read_event(event(openai), &mut parts), Ok(StreamProgress::More));
        let anthropic = r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"b\ud83d"}}"#;
        assert_eq!(anthropic::read_event(event(anthropic), &mut parts), Ok(StreamProgress::More));
        let ollama = r#"{"message":{"content":"c\ud83d"},"done":false}"#;
        assert_eq!(ollama::read_line(ollama, &mut parts), Ok(StreamProgress::More));
        assert_eq!(parts, ["a\u{fffd}", "b\u{fffd}", "c\u{fffd}"].map(|text| ReplyPart::Text(text.into())));
    }
}
