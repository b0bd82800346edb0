//! The proof that an entry is in the log, as one text that a voter can keep and check without the arena (C2SP tlog-proof). Its extra data
//! is the entry itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::checkpoint::Checkpoint;
use super::hash::TreeHash;
use super::merkle_proof::includes;
use super::signed_note::{NoteError, VerifierKey};

/// The first line.
const VERSION: &str = "c2sp.org/tlog-proof@v1";

/// An entry with the proof that it is in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEntry {
    /// The entry.
    pub entry: Vec<u8>,
    /// Its position in the log, from 0.
    pub index: u64,
    /// Hashes of the subtrees beside it, from the leaf up.
    pub hashes: Vec<TreeHash>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

/// Why an entry is not proven to be in the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InclusionError {
    /// The checkpoint is not the log's.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// What the key signed is no checkpoint.
    #[error("the signed text is not a checkpoint")]
    NotACheckpoint,
    /// Entry, index and hashes do not lead to the signed root.
    #[error("the entry is not at position {0} of the signed tree")]
    NotIncluded(u64),
}

impl LoggedEntry {
    /// The proof as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let hashes: String = self.hashes.iter().map(|hash| hash.to_base64() + "\n").collect();
        let extra = STANDARD.encode(&self.entry);
        format!("{VERSION}\nextra {extra}\nindex {}\n{hashes}\n{}", self.index, self.checkpoint)
    }

    /// Reads [`LoggedEntry::to_text`]; `None` where it is none.
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

    /// The checkpoint of the log that has the entry.
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
