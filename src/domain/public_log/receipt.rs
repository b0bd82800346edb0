//! Receipts: what a voter keeps as proof that the vote is in the log.

use serde_json::Value;

use super::hash::TreeHash;
use super::inclusion::{InclusionError, LoggedEntry};
use super::note::VerifierKey;
use super::proof::TreeHead;
use super::tile::Tile;

/// A receipt to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReceipt {
    /// Its file.
    pub name: String,
    /// The proof.
    pub logged: LoggedEntry,
}

/// A receipt that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("receipt {name}: {reason}")]
pub struct LogReceiptError {
    /// Its name.
    pub name: String,
    /// What is wrong.
    pub reason: LogReceiptProblem,
}

/// What is wrong with a receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogReceiptProblem {
    /// It is none.
    #[error("this is no proof in the form of c2sp.org/tlog-proof@v1")]
    Malformed,
    /// Its own proof fails.
    #[error(transparent)]
    Inclusion(#[from] InclusionError),
    /// The log has another entry there.
    #[error("the log has another entry at position {0}")]
    OtherEntry(u64),
}

impl LogReceipt {
    /// Reads a receipt: the proof itself, or the JSON that holds it.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Malformed`].
    pub fn read(name: &str, text: &str) -> Result<Self, LogReceiptError> {
        let json: Option<Value> = serde_json::from_str(text).ok();
        let proof = json.as_ref().and_then(|json| json["proof"].as_str()).unwrap_or(text);
        let malformed = || LogReceiptError { name: name.to_owned(), reason: LogReceiptProblem::Malformed };
        Ok(Self { name: name.to_owned(), logged: LoggedEntry::parse(proof).ok_or_else(malformed)? })
    }

    /// Checks a receipt by itself, without the log, and returns the tree that it is of.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Inclusion`].
    pub fn verify(&self, key: &VerifierKey) -> Result<TreeHead, LogReceiptError> {
        let checkpoint = self.logged.verify(key).map_err(|error| self.wrong(error.into()))?;
        Ok(checkpoint.head)
    }

    /// Checks it against the hashes of a tile of level 0, if its entry lies below that.
    ///
    /// # Errors
    /// [`LogReceiptError`].
    pub fn check_in(&self, tile: Tile, hashes: &[u8], key: &VerifierKey) -> Result<(), LogReceiptError> {
        let index = self.logged.index;
        if !(tile.start()..tile.end()).contains(&index) {
            return Ok(());
        }
        self.verify(key)?;
        let leaf = TreeHash::leaf(&self.logged.entry);
        let at = usize::try_from(index - tile.start()).unwrap_or(usize::MAX);
        if hashes.chunks(leaf.0.len()).nth(at) == Some(&leaf.0[..]) { Ok(()) } else { Err(self.other_entry()) }
    }

    /// Checks that a log of `size` entries can have its entry.
    ///
    /// # Errors
    /// [`LogReceiptProblem::OtherEntry`].
    pub fn check_size(&self, size: u64) -> Result<(), LogReceiptError> {
        if self.logged.index < size { Ok(()) } else { Err(self.other_entry()) }
    }

    fn other_entry(&self) -> LogReceiptError {
        self.wrong(LogReceiptProblem::OtherEntry(self.logged.index))
    }

    fn wrong(&self, reason: LogReceiptProblem) -> LogReceiptError {
        LogReceiptError { name: self.name.clone(), reason }
    }
}
