//! Keeps a provider's key out of its replies, such as one that echoes the request.
//!
//! The key may come in pieces. A text that ends in the beginning of the key waits for its next piece, from [`LEAST_HELD`] bytes of
//! the key on: fewer say nothing of it, as most keys begin alike, and usual text would wait for them. What is kept of a reply is
//! shorter than the key.

use std::collections::VecDeque;

use secrecy::{ExposeSecret, SecretString};

use super::ReplyPart;

/// Stands in the place of the key.
const REDACTED: &str = "[redacted]";
/// Bytes of a key at least. Shorter values are no secrets but words that a local server is given, such as "none".
const SHORTEST_KEY: usize = 16;
/// Bytes of the beginning of the key at the end of a text that are not passed on before the next piece.
const LEAST_HELD: usize = 3;
/// Bytes of the beginning of the key at the end of a reply that are redacted; fewer may be a word, such as the "sk-" of "risk-".
const LEAST_REDACTED: usize = 8;

/// Redacts the key in the parts of one reply.
#[derive(Default)]
pub(super) struct KeyRedaction {
    key: Option<SecretString>,
    text: TextEnd,
    reasoning: TextEnd,
}

impl KeyRedaction {
    /// For a reply of a provider that is asked with this key.
    pub(super) fn new(key: Option<&SecretString>) -> Self {
        let key = key.filter(|key| key.expose_secret().len() >= SHORTEST_KEY).cloned();
        Self { key, ..Self::default() }
    }

    /// Redacts the next parts; `is_last` where no more of them come. Nothing waits beyond the end of the text, where a reader may stop.
    pub(super) fn redact(&mut self, parts: &mut VecDeque<ReplyPart>, is_last: bool) {
        let Some(key) = &self.key else { return };
        let key = key.expose_secret();
        for part in parts.iter_mut() {
            match part {
                ReplyPart::Text(text) => *text = self.text.pass(text, key),
                ReplyPart::Reasoning(text) => *text = self.reasoning.pass(text, key),
                ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded => {}
            }
        }
        if is_last || parts.contains(&ReplyPart::TextEnded) {
            parts.extend(self.reasoning.end().map(ReplyPart::Reasoning));
            parts.extend(self.text.end().map(ReplyPart::Text));
        }
        parts.retain(|part| !matches!(part, ReplyPart::Text(text) | ReplyPart::Reasoning(text) if text.is_empty()));
    }
}

/// The end of a text so far that is a beginning of the key.
#[derive(Default)]
struct TextEnd {
    begun: String,
    /// Bytes of it that were passed on.
    passed: usize,
}

impl TextEnd {
    /// What may be passed on once the next piece has come.
    fn pass(&mut self, piece: &str, key: &str) -> String {
        let mut text = std::mem::take(&mut self.begun);
        text.push_str(piece);
        let (mut passed_on, mut from, mut searched) = (String::new(), self.passed, 0);
        while let Some(at) = text[searched..].find(key) {
            // Nothing where the key begins in what was passed on before.
            passed_on.push_str(text.get(from..searched + at).unwrap_or_default());
            passed_on.push_str(REDACTED);
            searched += at + key.len();
            from = searched;
        }
        let begun = begun_at_end(&text[searched..], key);
        let begin = text.len() - begun;
        let until = if begun < LEAST_HELD { text.len() } else { begin };
        passed_on.push_str(text.get(from..until).unwrap_or_default());
        self.passed = from.max(until) - begin;
        self.begun = text.split_off(begin);
        passed_on
    }

    /// What is passed on at the end of the text: much of the key is no part of the reply either. Should more come, the rest of a key is
    /// still found.
    fn end(&mut self) -> Option<String> {
        let held = self.begun.get(self.passed..).filter(|held| !held.is_empty())?;
        let shown = if self.begun.len() < LEAST_REDACTED { held } else { REDACTED }.to_owned();
        self.passed = self.begun.len();
        Some(shown)
    }
}

/// Bytes of the longest beginning of the key, not all of it, with which the text ends.
fn begun_at_end(text: &str, key: &str) -> usize {
    let (text, key) = (text.as_bytes(), key.as_bytes());
    (1..key.len().min(text.len() + 1)).rev().find(|&length| text.ends_with(&key[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Usage;

    const KEY: &str = "sk-canary-0123456789";

    /// What comes of a reply in these pieces, piece by piece and at its end.
    fn redacted(key: &str, pieces: &[&str]) -> Vec<String> {
        let mut redaction = KeyRedaction::new(Some(&SecretString::from(key)));
        let mut one = |piece: &str, is_last| {
            let mut parts: VecDeque<_> = [ReplyPart::Text(piece.to_owned())].into();
            redaction.redact(&mut parts, is_last);
            let text = |part| if let ReplyPart::Text(text) = part { text } else { panic!("only text was given") };
            parts.into_iter().map(text).collect::<String>()
        };
        let last = pieces.len() - 1;
        pieces.iter().enumerate().map(|(number, piece)| one(piece, number == last)).collect()
    }

    #[test]
    fn a_key_is_redacted_wherever_its_pieces_part() {
        let text = format!("Authorization: Bearer {KEY}, and {KEY}{KEY}.");
        let expected = "Authorization: Bearer [redacted], and [redacted][redacted].";
        for at in 0..=text.len() {
            let (one, two) = text.split_at(at);
            let shown = redacted(KEY, &[one, two]).concat();
            assert!(!shown.contains(&KEY[..LEAST_HELD]), "{shown}");
        }
        assert_eq!(redacted(KEY, &[&text]).concat(), expected);
        let letters: Vec<&str> = text.split("").collect();
        let shown = redacted(KEY, &letters).concat();
        assert_eq!(shown.replace("sk[", "["), expected, "what came before the third letter had been passed on");
    }

    #[test]
    fn text_that_only_begins_like_a_key_is_whole_and_other_text_never_waits() {
        let usual = ["it is", " a risk", "y sk", " -can", "!"];
        assert_eq!(redacted(KEY, &usual), usual);
        assert_eq!(
            redacted(KEY, &["a risk-", "free desk-", "can"]),
            ["a ri", "sk-free de", "sk-can"],
            "one piece later"
        );
        let like_a_key = ["a sk-canary-01", "5 \u{4f60}\u{597d}", "sk-"];
        assert_eq!(redacted(KEY, &like_a_key), ["a ", "sk-canary-015 \u{4f60}\u{597d}", "sk-"]);
        assert_eq!(redacted("aaaaaaaaaaaaaaaab", &["aaaaaaaaaaaa", "aaaaaaaaab", "c"]).concat(), "aaaaa[redacted]c");
    }

    #[test]
    fn the_end_of_a_reply_shows_nothing_of_a_key_that_broke_off() {
        assert_eq!(redacted(KEY, &["Bearer ", &KEY[..19]]), ["Bearer ", "[redacted]"]);
        assert_eq!(redacted(KEY, &["Bearer s", "k", "-"]), ["Bearer s", "k", "-"]);
        assert_eq!(redacted(KEY, &["at no risk-"]), ["at no risk-"], "a word is no key");
    }

    #[test]
    fn nothing_is_held_back_once_the_text_has_ended() {
        let mut redaction = KeyRedaction::new(Some(&SecretString::from(KEY)));
        let text = |text: &str| ReplyPart::Text(text.to_owned());
        let mut parts: VecDeque<_> = [text("at no risk-"), ReplyPart::TextEnded].into();
        redaction.redact(&mut parts, false);
        assert_eq!(parts, [text("at no ri"), ReplyPart::TextEnded, text("sk-")]);
        let mut parts: VecDeque<_> = [text(&KEY[3..])].into();
        redaction.redact(&mut parts, true);
        assert_eq!(parts, [text("[redacted]")], "what comes all the same");
    }

    #[test]
    fn reasoning_is_redacted_too_and_what_was_counted_passes() {
        let usage = ReplyPart::Usage(Usage { input: Some(7), output: None });
        let mut parts: VecDeque<_> = [ReplyPart::Reasoning(KEY.to_owned()), usage.clone()].into();
        KeyRedaction::new(Some(&SecretString::from(KEY))).redact(&mut parts, true);
        assert_eq!(parts, [ReplyPart::Reasoning("[redacted]".to_owned()), usage]);
    }

    #[test]
    fn a_word_that_a_local_server_takes_for_a_key_is_no_secret() {
        assert_eq!(redacted("none", &["none of them"]), ["none of them"]);
    }
}
