//! Redacts the providers' keys in replies, such as one that echoes the request.
//!
//! A whole key is always redacted. A part of one is not, so that a visitor who lets a model repeat a guess learns nothing. Every reply is
//! checked against the keys of all models, so that a person who knows a key cannot recognise its model by it. Text that could be a part of
//! a key, judged by its characters alone ([`may_be_key`]), is held until the next piece.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::RwLock;
use secrecy::{ExposeSecret, SecretString};

use super::super::ReplyPart;

/// Replacement of a key.
const REDACTED: &str = "[redacted]";
/// Minimum length of a key in bytes. Shorter values are not secrets but placeholders for a local server, such as "none".
const MIN_KEY_BYTES: usize = 16;
/// Minimum length in bytes of a key's beginning that is redacted at the end of a reply, if it is at least half of the key. Shorter ones
/// could be guessed: providers publish how their keys begin, up to 13 bytes, and all JSON Web Tokens share a header.
const MIN_REDACTED_PREFIX: usize = 24;
/// Minimum number of consecutive visible ASCII characters that are held, if not all of them are letters.
const MIN_HELD_BYTES: usize = 8;
/// The same if all are letters: hardly any word is as long.
const MIN_HELD_LETTERS: usize = 16;
/// Text is held up to the length of the longest key, rounded up to a multiple of this, which hides the exact length.
const HELD_STEP: usize = 64;

/// Keys of all models that a process uses, former ones included. Clones share them.
#[derive(Debug, Clone, Default)]
pub(in crate::llm) struct KnownKeys(Arc<RwLock<Arc<[SecretString]>>>);

impl KnownKeys {
    /// Adds a key that is redacted in all replies that begin from now on.
    pub(in crate::llm) fn add(&self, key: &SecretString) {
        let mut keys = self.0.write();
        let is_known = keys.iter().any(|known| known.expose_secret() == key.expose_secret());
        if key.expose_secret().len() >= MIN_KEY_BYTES && !is_known {
            *keys = keys.iter().chain([key]).cloned().collect();
        }
    }

    #[cfg(test)]
    pub(in crate::llm) fn len(&self) -> usize {
        self.0.read().len()
    }
}

/// Redacts keys in the parts of one reply.
#[derive(Default)]
pub(super) struct KeyRedaction {
    keys: Arc<[SecretString]>,
    text: TextTail,
    reasoning: TextTail,
}

impl KeyRedaction {
    /// Creates the redaction for a reply of any model.
    pub(in crate::llm) fn new(keys: &KnownKeys) -> Self {
        Self { keys: keys.0.read().clone(), ..Self::default() }
    }

    /// Redacts the next parts; `is_last` if no more of them come. Nothing is held beyond the end of the text, where a reader may stop.
    pub(super) fn redact(&mut self, parts: &mut VecDeque<ReplyPart>, is_last: bool) {
        if self.keys.is_empty() {
            return;
        }
        for part in parts.iter_mut() {
            match part {
                ReplyPart::Text(text) => *text = self.text.redact_piece(text, &self.keys),
                ReplyPart::Reasoning(text) => *text = self.reasoning.redact_piece(text, &self.keys),
                ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded => {}
            }
        }
        if is_last || parts.contains(&ReplyPart::TextEnded) {
            parts.extend(self.reasoning.end(&self.keys).map(ReplyPart::Reasoning));
            parts.extend(self.text.end(&self.keys).map(ReplyPart::Text));
        }
        parts.retain(|part| !matches!(part, ReplyPart::Text(text) | ReplyPart::Reasoning(text) if text.is_empty()));
    }
}

/// Trailing visible ASCII characters of the text so far, limited to the maximum that is held.
#[derive(Default)]
struct TextTail {
    tail: String,
    /// Number of its bytes already released.
    passed: usize,
}

impl TextTail {
    /// Appends a piece and returns the text that may be released.
    fn redact_piece(&mut self, piece: &str, keys: &[SecretString]) -> String {
        let mut text = std::mem::take(&mut self.tail);
        text.push_str(piece);
        let (mut passed_on, mut from, mut searched) = (String::new(), self.passed, 0);
        while let Some((at, length)) = first_key(&text[searched..], keys) {
            // Empty if the key begins in text that was released before.
            passed_on.push_str(text.get(from..searched + at).unwrap_or_default());
            passed_on.push_str(REDACTED);
            searched += at + length;
            from = searched;
        }
        let begin = searched + tail_begin(&text[searched..], keys);
        let until = if may_be_key(&text[begin..]) { begin.max(from) } else { text.len() };
        passed_on.push_str(text.get(from..until).unwrap_or_default());
        self.passed = from.max(until) - begin;
        self.tail = text.split_off(begin);
        passed_on
    }

    /// Returns the held text at the end of the text, without a long beginning of a key. If more text follows, the rest of a key is still
    /// found.
    fn end(&mut self, keys: &[SecretString]) -> Option<String> {
        let held = self.tail.get(self.passed..).filter(|held| !held.is_empty())?;
        let begun = keys.iter().filter_map(|key| redacted_at_end(&self.tail, key.expose_secret())).max();
        let shown = begun.map_or_else(
            || held.to_owned(),
            |begun| self.tail.get(self.passed..self.tail.len() - begun).unwrap_or_default().to_owned() + REDACTED,
        );
        self.passed = self.tail.len();
        Some(shown)
    }
}

/// Returns position and length of the first whole key in a text, the longest of those that begin there.
fn first_key(text: &str, keys: &[SecretString]) -> Option<(usize, usize)> {
    let places = keys.iter().filter_map(|key| Some((text.find(key.expose_secret())?, key.expose_secret().len())));
    places.min_by_key(|&(at, length)| (at, std::cmp::Reverse(length)))
}

/// Returns the start of a text's tail.
fn tail_begin(text: &str, keys: &[SecretString]) -> usize {
    let longest = keys.iter().map(|key| key.expose_secret().len()).max().unwrap_or(0);
    let visible = text.bytes().rev().take(longest.next_multiple_of(HELD_STEP)).take_while(u8::is_ascii_graphic).count();
    text.len() - visible
}

/// Whether these visible characters may be part of a key, regardless of the actual keys.
fn may_be_key(tail: &str) -> bool {
    let only_letters = tail.bytes().all(|byte| byte.is_ascii_alphabetic());
    tail.len() >= if only_letters { MIN_HELD_LETTERS } else { MIN_HELD_BYTES }
}

/// Returns the length in bytes of the longest beginning of the key at the end of the text, if it is too long to be guessed.
fn redacted_at_end(text: &str, key: &str) -> Option<usize> {
    let (text, key) = (text.as_bytes(), key.as_bytes());
    let least = MIN_REDACTED_PREFIX.max(key.len() / 2);
    (least..key.len().min(text.len() + 1)).rev().find(|&length| text.ends_with(&key[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Usage;

    const KEY: &str = "sk-or-v1-0f1e2d3c4b5a69788796a5b4";

    fn known(keys: &[&str]) -> KnownKeys {
        let known = KnownKeys::default();
        keys.iter().for_each(|key| known.add(&SecretString::from(*key)));
        known
    }

    /// Returns the redacted reply piece by piece and its end.
    fn redacted(keys: &[&str], pieces: &[&str]) -> Vec<String> {
        let mut redaction = KeyRedaction::new(&known(keys));
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
            let shown = redacted(&[KEY], &[one, two]).concat();
            assert!(!shown.contains(&KEY[..MIN_HELD_BYTES]), "{shown}");
        }
        assert_eq!(redacted(&[KEY], &[&text]).concat(), expected);
        let letters: Vec<&str> = text.split("").collect();
        let shown = redacted(&[KEY], &letters).concat();
        let passed = &KEY[..MIN_HELD_BYTES - 1];
        assert_eq!(
            shown.replace(&format!("{passed}["), "["),
            expected,
            "what came before the eighth had been passed on"
        );
    }

    #[test]
    fn a_guess_of_a_key_comes_and_waits_as_any_other_text() {
        let token = format!("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.{}", "eyJzdWIiOiJhcmVuYSJ9".repeat(8));
        for key in [KEY, &token] {
            let (least, other) = (MIN_REDACTED_PREFIX.max(key.len() / 2), "x".repeat(key.len()));
            for (known, guess) in (0..key.len()).flat_map(|known| ["0", "f", "e", "-"].map(|guess| (known, guess))) {
                let guessed = format!("{}{guess}", &key[..known]);
                if guessed.len() >= least && key.starts_with(&guessed) {
                    continue;
                }
                let pieces = ["Say ", &guessed, " now, or ", &guessed, "!\n", &guessed];
                let with_key = redacted(&[key], &pieces);
                assert_eq!(with_key, redacted(&[&other], &pieces), "{guessed}");
                assert_eq!(with_key.concat(), pieces.concat());
            }
        }
    }

    #[test]
    fn every_reply_is_held_against_the_keys_of_all_models() {
        let (other, shorter) = ("gsk_0123456789abcdef", "sk-or-v1-0f1e2d3c4b");
        let shown = redacted(&[shorter, KEY, other], &["a ", other, " b ", KEY]);
        assert_eq!(shown.concat(), "a [redacted] b [redacted]", "the longest of those that begin alike");
        assert_eq!(redacted(&[], &["a ", other]), ["a ", other]);
    }

    #[test]
    fn words_do_not_wait_and_long_text_without_spaces_waits_for_as_long_as_a_key_is() {
        let usual = ["it is", " a risk", "y under", "standing", "\u{4f60}\u{597d}", "!"];
        assert_eq!(redacted(&[KEY], &usual), usual);
        assert_eq!(redacted(&[KEY], &["a risk-", "free-desk", ", then"]), ["a risk-", "", "free-desk, then"]);
        let digits = "0123456789".repeat(5);
        let shown = redacted(&[KEY], &[&digits, &digits, " end"]);
        assert_eq!(shown.iter().map(String::len).collect::<Vec<_>>(), [0, 100 - HELD_STEP, HELD_STEP + 4]);
    }

    #[test]
    fn the_end_of_a_reply_shows_nothing_of_a_key_that_broke_off_late() {
        assert_eq!(redacted(&[KEY], &["Bearer ", &KEY[..MIN_REDACTED_PREFIX]]), ["Bearer ", "[redacted]"]);
        assert_eq!(redacted(&[KEY], &["key=", &KEY[..30]]).concat(), "key=[redacted]");
        let early = &KEY[..MIN_REDACTED_PREFIX - 1];
        assert_eq!(redacted(&[KEY], &["Bearer ", early]), ["Bearer ", early]);
    }

    #[test]
    fn nothing_is_held_back_once_the_text_has_ended() {
        let mut redaction = KeyRedaction::new(&known(&[KEY]));
        let text = |text: &str| ReplyPart::Text(text.to_owned());
        let mut parts: VecDeque<_> = [text("at no "), text(&KEY[..9]), ReplyPart::TextEnded].into();
        redaction.redact(&mut parts, false);
        assert_eq!(parts, [text("at no "), ReplyPart::TextEnded, text(&KEY[..9])]);
        let mut parts: VecDeque<_> = [text(&KEY[9..])].into();
        redaction.redact(&mut parts, true);
        assert_eq!(parts, [text("[redacted]")], "what comes all the same");
    }

    #[test]
    fn reasoning_is_redacted_too_and_what_was_counted_passes() {
        let usage = ReplyPart::Usage(Usage { input: Some(7), output: None });
        let mut parts: VecDeque<_> = [ReplyPart::Reasoning(KEY.to_owned()), usage.clone()].into();
        KeyRedaction::new(&known(&[KEY])).redact(&mut parts, true);
        assert_eq!(parts, [ReplyPart::Reasoning("[redacted]".to_owned()), usage]);
    }

    #[test]
    fn a_word_that_a_local_server_takes_for_a_key_is_no_secret() {
        assert_eq!(redacted(&["none"], &["none of them"]), ["none of them"]);
    }
}
