//! Cosignatures of witnesses below a checkpoint (C2SP tlog-cosignature, tlog-witness). A witness signs a checkpoint only after verifying
//! that it continues the last one it signed, so a log cannot show two versions of itself to people who require the same witnesses.

use std::fmt;

use ring::signature::{ED25519, UnparsedPublicKey};

use super::hash::TreeHash;
use super::signed_note::{NoteError, SignatureLine, is_name, key_id, parse_key, split_note, write_key};

/// Type byte of timestamped Ed25519 cosignatures.
const COSIGNATURE_TYPE: u8 = 4;
/// Length of the timestamp before the signature, in bytes.
const TIME_BYTES: usize = 8;

/// Public key of a witness with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    key: [u8; 32],
}

/// Error of an invalid witness key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a witness's key looks like \"witness.example+1a2b3c4d+BAbC…\": copy it from the operator of the witness")]
pub struct InvalidWitnessKey;

impl WitnessKey {
    /// Creates a key with a name; `None` if the name is empty or has a space or plus.
    #[must_use]
    pub fn new(name: &str, key: [u8; 32]) -> Option<Self> {
        is_name(name).then(|| Self { name: name.to_owned(), key })
    }

    /// Parses [`WitnessKey::to_string`](ToString).
    ///
    /// # Errors
    /// [`InvalidWitnessKey`].
    pub fn parse(text: &str) -> Result<Self, InvalidWitnessKey> {
        let (name, key) = parse_key(text, COSIGNATURE_TYPE).ok_or(InvalidWitnessKey)?;
        Self::new(name, key).ok_or(InvalidWitnessKey)
    }

    /// Returns the name of the witness.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the key id, the first four bytes of the hash of name, type and key. It distinguishes keys, and proves nothing.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        key_id(&self.name, COSIGNATURE_TYPE, &self.key)
    }

    /// Returns the time at which this witness signed a note, in seconds since 1970; `None` if it did not.
    ///
    /// # Errors
    /// [`NoteError`] for a malformed note, and for a wrong signature under the witness's name.
    pub fn cosigned_at(&self, note: &str) -> Result<Option<u64>, NoteError> {
        let (text, signatures) = split_note(note)?;
        let own = signatures.iter().find(|signature| signature.is_by(&self.name, self.id()));
        own.map(|signature| self.time_of(text, signature)).transpose()
    }

    /// Appends this witness's line from its response to the note; the response may have other lines.
    ///
    /// # Errors
    /// [`NoteError`] if no line is a signature of the note by this witness.
    pub fn add_to(&self, note: &str, answer: &str) -> Result<String, NoteError> {
        let (text, _) = split_note(note)?;
        for line in answer.lines() {
            let signature = SignatureLine::parse(line)?;
            if signature.is_by(&self.name, self.id()) {
                self.time_of(text, &signature)?;
                return Ok(format!("{note}{line}\n"));
            }
        }
        Err(NoteError::Unsigned(self.to_string()))
    }

    fn time_of(&self, text: &str, signature: &SignatureLine<'_>) -> Result<u64, NoteError> {
        let (time, signature) = signature.bytes.split_first_chunk::<TIME_BYTES>().ok_or(NoteError::WrongSignature)?;
        let time = u64::from_be_bytes(*time);
        let key = UnparsedPublicKey::new(&ED25519, self.key);
        let is_own = key.verify(cosigned_text(text, time).as_bytes(), signature).is_ok();
        if is_own { Ok(time) } else { Err(NoteError::WrongSignature) }
    }
}

impl fmt::Display for WitnessKey {
    /// Formats the key as `NAME+ID+KEY`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_key(f, &self.name, COSIGNATURE_TYPE, &self.key)
    }
}

/// Builds the text that a witness signs for a checkpoint, with a time in seconds since 1970.
#[must_use]
pub fn cosigned_text(checkpoint: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{checkpoint}")
}

/// Builds an `add-checkpoint` request of tlog-witness: the note, with the proof that its tree continues the one of `old` entries.
#[must_use]
pub fn add_checkpoint_request(old: u64, proof: &[TreeHash], note: &str) -> String {
    let proof: String = proof.iter().map(|hash| hash.to_base64() + "\n").collect();
    format!("old {old}\n{proof}\n{note}")
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    const NOTE: &str =
        "arena.example/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— arena.example/log AAAAAAAA\n";

    fn witness(seed: u8) -> (WitnessKey, Ed25519KeyPair) {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
        (WitnessKey::new("witness.example", pair.public_key().as_ref().try_into().unwrap()).unwrap(), pair)
    }

    fn line((key, pair): &(WitnessKey, Ed25519KeyPair), note: &str, time: u64) -> String {
        let text = &note[..=note.rfind("\n\n").unwrap()];
        let signature = pair.sign(cosigned_text(text, time).as_bytes());
        let bytes = [&key.id()[..], &time.to_be_bytes(), signature.as_ref()].concat();
        format!("— {} {}\n", key.name(), STANDARD.encode(bytes))
    }

    #[test]
    fn a_cosignature_says_when() {
        let (one, other) = (witness(1), witness(2));
        assert_eq!(one.0.cosigned_at(NOTE), Ok(None));
        let both = line(&other, NOTE, 5) + &line(&one, NOTE, 1_700_000_000);
        let note = one.0.add_to(NOTE, &both).unwrap();
        assert_eq!((one.0.cosigned_at(&note), other.0.cosigned_at(&note)), (Ok(Some(1_700_000_000)), Ok(None)));
        let note = other.0.add_to(&note, &both).unwrap();
        assert_eq!((one.0.cosigned_at(&note), other.0.cosigned_at(&note)), (Ok(Some(1_700_000_000)), Ok(Some(5))));
    }

    #[test]
    fn only_what_the_witness_signed_of_this_note_is_taken() {
        let own = witness(1);
        let later = NOTE.replace("\n1\n", "\n2\n");
        assert_eq!(own.0.add_to(NOTE, &line(&own, &later, 5)), Err(NoteError::WrongSignature));
        assert!(matches!(own.0.add_to(NOTE, &line(&witness(2), NOTE, 5)), Err(NoteError::Unsigned(_))));
        assert!(matches!(own.0.add_to(NOTE, ""), Err(NoteError::Unsigned(_))));
        assert_eq!(own.0.add_to(NOTE, "nonsense\n"), Err(NoteError::Malformed));
        let signed = own.0.add_to(NOTE, &line(&own, NOTE, 5)).unwrap();
        let moved = signed.replace("\n1\n", "\n2\n");
        assert_eq!(own.0.cosigned_at(&moved), Err(NoteError::WrongSignature));
    }

    #[test]
    fn a_key_has_one_spelling_and_is_no_key_of_a_log() {
        let key = witness(1).0;
        assert_eq!(WitnessKey::parse(&key.to_string()), Ok(key.clone()));
        let of_log = super::super::signed_note::VerifierKey::new(key.name(), key.key).unwrap().to_string();
        for text in ["", "a+b", of_log.as_str(), &key.to_string()[1..]] {
            assert_eq!(WitnessKey::parse(text), Err(InvalidWitnessKey), "{text}");
        }
    }

    #[test]
    fn a_request_has_the_proof_between_the_old_size_and_the_note() {
        let hash = TreeHash::empty_root();
        let expected = format!("old 7\n{0}\n{0}\n\n{NOTE}", hash.to_base64());
        assert_eq!(add_checkpoint_request(7, &[hash, hash], NOTE), expected);
        assert_eq!(add_checkpoint_request(0, &[], NOTE), format!("old 0\n\n{NOTE}"));
    }
}
