//! Inclusion proof of an entry as one text that a voter can keep and verify without the arena (C2SP tlog-proof). Its extra data is the
//! entry itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::checkpoint::Checkpoint;
use super::hash::TreeHash;
use super::merkle_proof::includes;
use super::signed_note::{NoteError, VerifierKey};

/// First line of a proof.
const VERSION: &str = "c2sp.org/tlog-proof@v1";

/// Entry with its inclusion proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEntry {
    /// Bytes of the entry.
    pub entry: Vec<u8>,
    /// Position in the log, from 0.
    pub index: u64,
    /// Sibling hashes from the leaf up.
    pub hashes: Vec<TreeHash>,
    /// Signed checkpoint.
    pub checkpoint: String,
}

/// Error of an invalid inclusion proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InclusionError {
    /// The checkpoint is not signed by the log.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is not a checkpoint.
    #[error("the signed text is not a checkpoint")]
    NotACheckpoint,
    /// Entry, index and hashes do not yield the signed root.
    #[error("the entry is not at position {0} of the signed tree")]
    NotIncluded(u64),
}

impl LoggedEntry {
    /// Formats the proof as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let hashes: String = self.hashes.iter().map(|hash| hash.to_base64() + "\n").collect();
        let extra = STANDARD.encode(&self.entry);
        format!("{VERSION}\nextra {extra}\nindex {}\n{hashes}\n{}", self.index, self.checkpoint)
    }

    /// Parses [`LoggedEntry::to_text`]; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (head, checkpoint) = text.split_once("\n\n")?;
        let mut lines = head.strip_prefix(VERSION)?.strip_prefix('\n')?.split('\n');
        let entry = STANDARD.decode(lines.next()?.strip_prefix("extra ")?).ok()?;
        let number = lines.next()?.strip_prefix("index ")?;
        let index: u64 = number.parse().ok().filter(|index: &u64| index.to_string() == number)?;
        let hashes: Option<Vec<TreeHash>> = lines.map(TreeHash::from_base64).collect();
        Some(Self { entry, index, hashes: hashes?, checkpoint: checkpoint.to_owned() })
    }

    /// Verifies the proof and returns the log's checkpoint.
    ///
    /// # Errors
    /// [`InclusionError`].
    pub fn verify(&self, key: &VerifierKey) -> Result<Checkpoint, InclusionError> {
        let checkpoint = Checkpoint::parse(key.verify(&self.checkpoint)?).ok_or(InclusionError::NotACheckpoint)?;
        let head = checkpoint.head;
        if includes(TreeHash::leaf(&self.entry), self.index, head.size, &self.hashes, head.root) {
            Ok(checkpoint)
        } else {
            Err(InclusionError::NotIncluded(self.index))
        }
    }
}
