//! What a verifier trusts before it reads a log, and whether a signed checkpoint agrees with it.

use super::checkpoint::Checkpoint;
use super::cosignature::WitnessKey;
use super::merkle_proof::TreeHead;
use super::signed_note::{InvalidKey, NoteError, VerifierKey};

/// Why a key or a checkpoint is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The key is not the one that was trusted the last time.
    #[error(
        "the key of the log has changed: {found} instead of {known}. If the operator announced another key, give it \
         with --key"
    )]
    OtherKey {
        /// The key that the arena names.
        found: String,
        /// The key that was known.
        known: String,
    },
    /// The checkpoint is not signed as it should be.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is no checkpoint of this log.
    #[error("the signed text is not a checkpoint of {0}")]
    NotACheckpoint(String),
    /// Witnesses that were asked for did not sign it.
    #[error("the checkpoint is not signed by {}: ask the operator of the arena or of the witness why", .0.join(", "))]
    Unwitnessed(Vec<String>),
}

/// What a verifier trusts before it reads a log.
#[derive(Debug, Clone, Default)]
pub struct TrustAnchors {
    /// The key to trust; without one, the key that the arena names is taken.
    pub key: Option<VerifierKey>,
    /// The note that was verified the last time.
    pub checkpoint: Option<String>,
    /// Who has to have signed the checkpoint beside the log.
    pub witnesses: Vec<WitnessKey>,
}

/// The tree of a signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTree {
    /// The tree.
    pub head: TreeHead,
    /// Names of the witnesses that signed it, with the times in seconds since 1970.
    pub witnesses: Vec<(String, u64)>,
}

impl TrustAnchors {
    /// The key that is known, or the one that the arena names where none is.
    ///
    /// # Errors
    /// [`TrustError::Key`] and [`TrustError::OtherKey`].
    pub fn trusted_key(&self, named: Option<&str>) -> Result<Option<VerifierKey>, TrustError> {
        let named = named.map(VerifierKey::parse).transpose()?;
        match (self.key.clone(), named) {
            (Some(known), Some(named)) if known != named => {
                Err(TrustError::OtherKey { found: named.to_string(), known: known.to_string() })
            }
            (known, named) => Ok(known.or(named)),
        }
    }

    /// The tree of the note that was verified the last time; `None` where this key did not sign it.
    #[must_use]
    pub fn known_head(&self, key: &VerifierKey) -> Option<TreeHead> {
        Some(Checkpoint::parse(key.verify(self.checkpoint.as_deref()?).ok()?)?.head)
    }

    /// The tree of a note that this key and all of the witnesses signed.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn signed_tree(&self, note: &str, key: &VerifierKey) -> Result<SignedTree, TrustError> {
        let checkpoint = Checkpoint::parse(key.verify(note)?).filter(|checkpoint| checkpoint.origin == key.name());
        let head = checkpoint.ok_or_else(|| TrustError::NotACheckpoint(key.name().to_owned()))?.head;
        Ok(SignedTree { head, witnesses: self.witnessed(note)? })
    }

    /// When each of the witnesses signed a note.
    fn witnessed(&self, note: &str) -> Result<Vec<(String, u64)>, TrustError> {
        let (mut signed, mut missing) = (Vec::new(), Vec::new());
        for witness in &self.witnesses {
            match witness.cosigned_at(note)? {
                Some(time) => signed.push((witness.name().to_owned(), time)),
                None => missing.push(witness.name().to_owned()),
            }
        }
        if missing.is_empty() { Ok(signed) } else { Err(TrustError::Unwitnessed(missing)) }
    }
}

/// A log in which everything holds.
#[derive(Debug)]
pub struct Verified {
    /// The key that signed it.
    pub key: VerifierKey,
    /// The signed note.
    pub checkpoint: String,
    /// The tree.
    pub head: TreeHead,
    /// The tree that was known before.
    pub known: Option<TreeHead>,
    /// Votes in the log.
    pub votes: usize,
    /// Votes that are excluded now.
    pub excluded: usize,
    /// Votes of the leaderboard that follows from the log; `None` where it was not compared.
    pub leaderboard_votes: Option<u64>,
    /// Receipts that hold.
    pub receipts: usize,
    /// Names of the witnesses that signed it, with the times in seconds since 1970.
    pub witnesses: Vec<(String, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> VerifierKey {
        VerifierKey::new("arena.example/log", [byte; 32]).unwrap()
    }

    #[test]
    fn the_named_key_is_taken_only_where_none_is_known() {
        let nothing = TrustAnchors::default();
        assert_eq!(nothing.trusted_key(None).unwrap(), None);
        assert_eq!(nothing.trusted_key(Some(&key(1).to_string())).unwrap(), Some(key(1)));
        assert!(matches!(nothing.trusted_key(Some("no key")), Err(TrustError::Key(_))));
        let known = TrustAnchors { key: Some(key(1)), ..nothing };
        assert_eq!(known.trusted_key(None).unwrap(), Some(key(1)));
        assert_eq!(known.trusted_key(Some(&key(1).to_string())).unwrap(), Some(key(1)));
        assert!(matches!(known.trusted_key(Some(&key(2).to_string())), Err(TrustError::OtherKey { .. })));
    }

    #[test]
    fn a_note_that_the_key_did_not_sign_proves_nothing() {
        let note = key(1).signed("arena.example/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", &[0; 64]);
        let anchors = TrustAnchors { checkpoint: Some(note.clone()), ..TrustAnchors::default() };
        assert_eq!(anchors.known_head(&key(1)), None);
        assert!(matches!(anchors.signed_tree(&note, &key(1)), Err(TrustError::Note(NoteError::WrongSignature))));
        assert!(matches!(anchors.signed_tree(&note, &key(2)), Err(TrustError::Note(NoteError::Unsigned(_)))));
    }
}
