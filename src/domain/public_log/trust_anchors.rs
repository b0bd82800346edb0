//! Trust anchors of a verifier, and the check of signed checkpoints against them.

use super::checkpoint::Checkpoint;
use super::cosignature::WitnessKey;
use super::merkle_proof::TreeHead;
use super::signed_note::{InvalidKey, NoteError, VerifierKey};

/// Error of an untrusted key or checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The key is malformed.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The key is not the previously trusted one.
    #[error(
        "the key of the log has changed: {found} instead of {known}. If the operator announced another key, give it \
         with --key"
    )]
    OtherKey {
        /// Key published by the arena.
        found: String,
        /// Trusted key.
        known: String,
    },
    /// The checkpoint is not signed by the key.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is not a checkpoint of this log.
    #[error("the signed text is not a checkpoint of {0}")]
    NotACheckpoint(String),
    /// Required witnesses have not signed the checkpoint.
    #[error("the checkpoint is not signed by {}: ask the operator of the arena or of the witness why", .0.join(", "))]
    Unwitnessed(Vec<String>),
}

/// Data that a verifier trusts before it reads a log.
#[derive(Debug, Clone, Default)]
pub struct TrustAnchors {
    /// Trusted key; without one, the published key is trusted.
    pub key: Option<VerifierKey>,
    /// Last verified note.
    pub checkpoint: Option<String>,
    /// Witnesses whose signatures are required beside the log's.
    pub witnesses: Vec<WitnessKey>,
}

/// Tree of a signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTree {
    /// Size and root hash of the tree.
    pub head: TreeHead,
    /// Names of the witnesses that signed the checkpoint, with times in seconds since 1970.
    pub witnesses: Vec<(String, u64)>,
}

impl TrustAnchors {
    /// Returns the trusted key, or else the published one.
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

    /// Returns the tree of the last verified note; `None` if this key did not sign it.
    #[must_use]
    pub fn known_head(&self, key: &VerifierKey) -> Option<TreeHead> {
        Some(Checkpoint::parse(key.verify(self.checkpoint.as_deref()?).ok()?)?.head)
    }

    /// Returns the tree of a note that this key and all witnesses signed.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn signed_tree(&self, note: &str, key: &VerifierKey) -> Result<SignedTree, TrustError> {
        let checkpoint = Checkpoint::parse(key.verify(note)?).filter(|checkpoint| checkpoint.origin == key.name());
        let head = checkpoint.ok_or_else(|| TrustError::NotACheckpoint(key.name().to_owned()))?.head;
        Ok(SignedTree { head, witnesses: self.witnessed(note)? })
    }

    /// Returns the time at which each witness signed a note.
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

/// Result of verifying a log.
#[derive(Debug)]
pub struct Verified {
    /// Key that signed the checkpoint.
    pub key: VerifierKey,
    /// Signed checkpoint note.
    pub checkpoint: String,
    /// Size and root hash of the tree.
    pub head: TreeHead,
    /// Tree of the last verified note.
    pub known: Option<TreeHead>,
    /// Number of votes in the log.
    pub votes: usize,
    /// Number of excluded votes.
    pub excluded: usize,
    /// Number of votes of the recomputed leaderboard; `None` if it was not compared.
    pub leaderboard_votes: Option<u64>,
    /// Number of valid receipts.
    pub receipts: usize,
    /// Names of the witnesses that signed the checkpoint, with times in seconds since 1970.
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
