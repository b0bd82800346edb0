//! Signed notes and the keys that verify them (C2SP signed-note), Ed25519 only. Signing is in `infra`, which has the private key.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::hash::TreeHash;
use crate::hex::hex;

/// Type byte of Ed25519 signatures.
const ED25519_TYPE: u8 = 1;
/// Prefix of a signature line.
const SIGNATURE_LINE_PREFIX: &str = "— ";

/// Public key of a log with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    key: [u8; 32],
}

/// Error of an invalid verifier key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a log's key looks like \"arena.example/log+1a2b3c4d+AbCd…\": copy it from the page /log of the arena")]
pub struct InvalidKey;

/// Error of a note that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text is not a signed note.
    #[error("the checkpoint is not a signed note")]
    Malformed,
    /// The note has no signature by the key.
    #[error("the checkpoint is not signed by the key {0}")]
    Unsigned(String),
    /// The signature does not match the text.
    #[error("the signature of the checkpoint is wrong")]
    WrongSignature,
}

impl VerifierKey {
    /// Creates a key with a name; `None` if the name is empty or has a space or plus.
    #[must_use]
    pub fn new(name: &str, key: [u8; 32]) -> Option<Self> {
        is_name(name).then(|| Self { name: name.to_owned(), key })
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the key id, the first four bytes of the hash of name, type and key. It distinguishes keys, and proves nothing.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        key_id(&self.name, ED25519_TYPE, &self.key)
    }

    /// Parses [`VerifierKey::to_string`](ToString).
    ///
    /// # Errors
    /// [`InvalidKey`].
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let (name, key) = parse_key(text, ED25519_TYPE).ok_or(InvalidKey)?;
        Self::new(name, key).ok_or(InvalidKey)
    }

    /// Builds the note of a text and this key's signature of it.
    #[must_use]
    pub fn signed(&self, text: &str, signature: &[u8]) -> String {
        let line = STANDARD.encode([&self.id(), signature].concat());
        format!("{text}\n{SIGNATURE_LINE_PREFIX}{} {line}\n", self.name)
    }

    /// Returns the text of a note that this key signed. Signatures by other keys, such as those of witnesses, are ignored.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn verify<'n>(&self, note: &'n str) -> Result<&'n str, NoteError> {
        let (text, signatures) = split_note(note)?;
        let mut is_signed = false;
        for signature in signatures.iter().filter(|signature| signature.is_by(&self.name, self.id())) {
            let key = UnparsedPublicKey::new(&ED25519, self.key);
            key.verify(text.as_bytes(), &signature.bytes).map_err(|_| NoteError::WrongSignature)?;
            is_signed = true;
        }
        if is_signed { Ok(text) } else { Err(NoteError::Unsigned(self.to_string())) }
    }
}

/// Signature line below the text of a note.
pub(super) struct SignatureLine<'n> {
    name: &'n str,
    id: [u8; 4],
    pub(super) bytes: Vec<u8>,
}

impl<'n> SignatureLine<'n> {
    /// Parses a line without its line feed.
    pub(super) fn parse(line: &'n str) -> Result<Self, NoteError> {
        let parts = line.strip_prefix(SIGNATURE_LINE_PREFIX).and_then(|line| line.split_once(' '));
        let (name, encoded) = parts.ok_or(NoteError::Malformed)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| NoteError::Malformed)?;
        let (id, bytes) = bytes.split_first_chunk::<4>().ok_or(NoteError::Malformed)?;
        Ok(Self { name, id: *id, bytes: bytes.to_vec() })
    }

    pub(super) fn is_by(&self, name: &str, id: [u8; 4]) -> bool {
        self.name == name && self.id == id
    }
}

/// Splits a note into its text, including the last line feed, and its signatures.
pub(super) fn split_note(note: &str) -> Result<(&str, Vec<SignatureLine<'_>>), NoteError> {
    let is_clean = !note.chars().any(|c| c.is_ascii_control() && c != '\n');
    let end = note.rfind("\n\n").filter(|_| is_clean).ok_or(NoteError::Malformed)?;
    let (text, lines) = (&note[..=end], &note[end + 2..]);
    let lines = lines.strip_suffix('\n').ok_or(NoteError::Malformed)?;
    Ok((text, lines.split('\n').map(SignatureLine::parse).collect::<Result<_, _>>()?))
}

/// Whether a text is valid as the name of a key.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

/// Computes the key id, the first four bytes of the hash of name, type and key.
pub(super) fn key_id(name: &str, kind: u8, key: &[u8; 32]) -> [u8; 4] {
    let hash = TreeHash::sha256(&[name.as_bytes(), b"\n", &[kind], key]);
    [hash.0[0], hash.0[1], hash.0[2], hash.0[3]]
}

/// Parses `NAME+ID+KEY` into name and key; `None` if the type or id does not match.
pub(super) fn parse_key(text: &str, kind: u8) -> Option<(&str, [u8; 32])> {
    let mut parts = text.trim().splitn(3, '+');
    let (name, id, encoded) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = STANDARD.decode(encoded).ok()?;
    let (found, key) = bytes.split_first()?;
    let key = key.try_into().ok().filter(|_| *found == kind)?;
    (id == hex(&key_id(name, kind, &key))).then_some((name, key))
}

/// Formats a key as `NAME+ID+KEY`.
pub(super) fn write_key(f: &mut fmt::Formatter<'_>, name: &str, kind: u8, key: &[u8; 32]) -> fmt::Result {
    let encoded = STANDARD.encode([&[kind], key.as_slice()].concat());
    write!(f, "{name}+{}+{encoded}", hex(&key_id(name, kind, key)))
}

impl fmt::Display for VerifierKey {
    /// Formats the key as `NAME+ID+KEY`, the format of Go's `sumdb/note` and other tools.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_key(f, &self.name, ED25519_TYPE, &self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Public example of Go's `golang.org/x/mod/sumdb/note`.
    const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const NOTE: &str = "If you think cryptography is the answer to your problem,\n\
        then you don't know what your problem is.\n\n\
        — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_note_of_another_program_is_verified() {
        let key = VerifierKey::parse(PETER).unwrap();
        assert_eq!(key.to_string(), PETER);
        assert!(key.verify(NOTE).unwrap().ends_with("your problem is.\n"));
    }

    #[test]
    fn every_changed_character_of_a_note_is_found() {
        let key = VerifierKey::parse(PETER).unwrap();
        for at in (0..NOTE.len()).filter(|at| NOTE.is_char_boundary(*at)) {
            let changed: String = NOTE
                .char_indices()
                .map(|(place, c)| if place == at { if c == 'x' { 'y' } else { 'x' } } else { c })
                .collect();
            assert!(key.verify(&changed).is_err(), "character {at}");
        }
        assert_eq!(key.verify("no note"), Err(NoteError::Malformed));
        let other = VerifierKey::new("PeterNeumann", [9; 32]).unwrap();
        assert!(matches!(other.verify(NOTE), Err(NoteError::Unsigned(_))));
    }

    #[test]
    fn a_key_has_one_spelling() {
        for text in ["", "a+b", "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "x+c74f20a3+AR=="]
        {
            assert_eq!(VerifierKey::parse(text), Err(InvalidKey), "{text}");
        }
        for name in ["", "a b", "a+b", "a\nb"] {
            assert_eq!(VerifierKey::new(name, [0; 32]), None, "{name:?}");
        }
    }
}
