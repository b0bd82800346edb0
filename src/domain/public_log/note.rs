//! Signed notes and the keys that verify them (C2SP signed-note), Ed25519 only. Signing needs the private key, which lies in `infra`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::hash::TreeHash;

/// The byte that says Ed25519.
const ED25519_TYPE: u8 = 1;
/// What a signature line begins with.
const DASH: &str = "— ";

/// A public key with the name under which it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    key: [u8; 32],
}

/// Why a text is no verifier key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a log's key looks like \"arena.example/log+1a2b3c4d+AbCd…\": copy it from the page /log of the arena")]
pub struct InvalidKey;

/// Why a note is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// No text with signatures.
    #[error("the checkpoint is no signed note")]
    Malformed,
    /// None of its signatures is by the key.
    #[error("the checkpoint is not signed by the key {0}")]
    Unsigned(String),
    /// The signature is not one of this text.
    #[error("the signature of the checkpoint is wrong")]
    WrongSignature,
}

impl VerifierKey {
    /// A key under a name; `None` where the name is empty or has a space or a plus.
    #[must_use]
    pub fn new(name: &str, key: [u8; 32]) -> Option<Self> {
        let fits = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
        fits.then(|| Self { name: name.to_owned(), key })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// First four bytes of the hash of name, type and key: tells keys apart, and proves nothing.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        let hash = TreeHash::sha256(&[self.name.as_bytes(), b"\n", &[ED25519_TYPE], &self.key]);
        [hash.0[0], hash.0[1], hash.0[2], hash.0[3]]
    }

    /// Reads [`VerifierKey::to_string`](ToString).
    ///
    /// # Errors
    /// [`InvalidKey`].
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let mut parts = text.trim().splitn(3, '+');
        let (name, id, key) = (parts.next(), parts.next(), parts.next());
        let bytes = key.and_then(|key| STANDARD.decode(key).ok()).ok_or(InvalidKey)?;
        let (kind, key) = bytes.split_first().ok_or(InvalidKey)?;
        let key = key.try_into().ok().filter(|_| *kind == ED25519_TYPE).ok_or(InvalidKey)?;
        let found = name.and_then(|name| Self::new(name, key)).ok_or(InvalidKey)?;
        if id == Some(found.id_text().as_str()) { Ok(found) } else { Err(InvalidKey) }
    }

    fn id_text(&self) -> String {
        self.id().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The note of a text and this key's signature of it.
    #[must_use]
    pub fn signed(&self, text: &str, signature: &[u8]) -> String {
        let line = STANDARD.encode([&self.id(), signature].concat());
        format!("{text}\n{DASH}{} {line}\n", self.name)
    }

    /// The text of a note that this key signed. Signatures by others, such as witnesses, are passed over.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn verify<'n>(&self, note: &'n str) -> Result<&'n str, NoteError> {
        let is_clean = !note.chars().any(|c| c.is_ascii_control() && c != '\n');
        let end = note.rfind("\n\n").filter(|_| is_clean).ok_or(NoteError::Malformed)?;
        let (text, lines) = (&note[..=end], &note[end + 2..]);
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Malformed)?;
        let mut is_signed = false;
        for line in lines.split('\n') {
            let parts = line.strip_prefix(DASH).and_then(|line| line.split_once(' '));
            let (name, encoded) = parts.ok_or(NoteError::Malformed)?;
            let bytes = STANDARD.decode(encoded).map_err(|_| NoteError::Malformed)?;
            let (id, signature) = bytes.split_first_chunk::<4>().ok_or(NoteError::Malformed)?;
            if name == self.name && *id == self.id() {
                let key = UnparsedPublicKey::new(&ED25519, self.key);
                key.verify(text.as_bytes(), signature).map_err(|_| NoteError::WrongSignature)?;
                is_signed = true;
            }
        }
        if is_signed { Ok(text) } else { Err(NoteError::Unsigned(self.to_string())) }
    }
}

impl std::fmt::Display for VerifierKey {
    /// `NAME+ID+KEY`, as Go's `sumdb/note` and other tools of the format read it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = STANDARD.encode([&[ED25519_TYPE], self.key.as_slice()].concat());
        write!(f, "{}+{}+{key}", self.name, self.id_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's `golang.org/x/mod/sumdb/note`, whose key and signature are public.
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
