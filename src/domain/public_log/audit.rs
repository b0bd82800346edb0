//! Audit of a whole log: entries against their hashes, tiles against the entries, the root against the checkpoint, and an earlier
//! checkpoint against the current tree.

use super::entry_bundle::decode_entries;
use super::frontier::Frontier;
use super::hash::TreeHash;
use super::merkle_proof::TreeHead;
use super::recount::{EntryError, Recount};
use super::tile::{Tile, TileKind, decode_hashes};
use crate::plural::counted;

/// Error of an audit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// A tile or bundle is malformed, or does not have the size of its path.
    #[error("{0} is damaged: it does not hold as many hashes or entries as its address says")]
    Damaged(String),
    /// An entry does not have its published hash.
    #[error("entry {0} is not the one that was hashed")]
    ChangedEntry(u64),
    /// A tile above level 0 does not match the entries.
    #[error("{0} does not follow from the entries")]
    ChangedTile(String),
    /// The entries do not hash to the signed root.
    #[error("the entries do not lead to the root hash that was signed for {0} entries")]
    WrongRoot(u64),
    /// The log has fewer entries than before.
    #[error("the log shrank: it has {}, and had {known} when it was verified before", counted(.found, "entry", "entries"))]
    Shrank {
        /// Current number of entries.
        found: u64,
        /// Earlier number of entries.
        known: u64,
    },
    /// The log does not continue its earlier state.
    #[error("the log was rewritten: its first {0} entries are not those that were verified before")]
    Rewritten(u64),
    /// The entries contradict each other.
    #[error(transparent)]
    Entry(#[from] EntryError),
}

/// Running audit of a log.
#[derive(Debug)]
pub struct Audit {
    head: TreeHead,
    known: Option<TreeHead>,
    frontier: Frontier,
    /// Hashes of full tiles by the level that contains them; none for level 0.
    levels: Vec<Vec<TreeHash>>,
    recount: Recount,
}

impl Audit {
    /// Starts an audit of a log against its checkpoint, and against one that was verified before.
    ///
    /// # Errors
    /// [`AuditError::Shrank`], [`AuditError::Rewritten`].
    pub fn new(head: TreeHead, known: Option<TreeHead>) -> Result<Self, AuditError> {
        if let Some(known) = known.filter(|known| known.size > head.size) {
            return Err(AuditError::Shrank { found: head.size, known: known.size });
        }
        let audit =
            Self { head, known, frontier: Frontier::default(), levels: vec![Vec::new()], recount: Recount::default() };
        audit.compare_known()?;
        Ok(audit)
    }

    /// Checks and adds the next bundle of entries, with its tile of level 0.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn add(&mut self, tile: Tile, bundle: &[u8], hashes: &[u8]) -> Result<(), AuditError> {
        let damaged = |kind: TileKind| AuditError::Damaged(kind.to_string());
        let hashes = decode_hashes(hashes, tile).ok_or_else(|| damaged(TileKind::Hashes(tile)))?;
        let entries = decode_entries(bundle).filter(|entries| entries.len() == hashes.len());
        let entries = entries.ok_or_else(|| damaged(TileKind::Entries(tile)))?;
        for (entry, hash) in entries.into_iter().zip(hashes) {
            let leaf = TreeHash::leaf(entry);
            if leaf != hash {
                return Err(AuditError::ChangedEntry(self.frontier.size()));
            }
            self.append(leaf)?;
            self.recount.add(entry)?;
        }
        Ok(())
    }

    fn append(&mut self, leaf: TreeHash) -> Result<(), AuditError> {
        let levels = &mut self.levels;
        self.frontier.append(leaf, |filled| {
            let level = usize::from(filled.level);
            levels.resize_with(levels.len().max(level + 1), Vec::new);
            levels[level].push(filled.hash);
        });
        self.compare_known()
    }

    fn compare_known(&self) -> Result<(), AuditError> {
        match self.known {
            Some(known) if known.size == self.frontier.size() && known.root != self.frontier.root() => {
                Err(AuditError::Rewritten(known.size))
            }
            _ => Ok(()),
        }
    }

    /// Checks a tile above level 0, after all entries.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn check(&self, tile: Tile, hashes: &[u8]) -> Result<(), AuditError> {
        let path = || TileKind::Hashes(tile).to_string();
        let hashes = decode_hashes(hashes, tile).ok_or_else(|| AuditError::Damaged(path()))?;
        let computed = self.levels.get(usize::from(tile.level())).and_then(|level| {
            let range = usize::try_from(tile.start()).ok()?..usize::try_from(tile.end()).ok()?;
            level.get(range)
        });
        if computed == Some(&hashes[..]) { Ok(()) } else { Err(AuditError::ChangedTile(path())) }
    }

    /// Completes the audit and returns the votes and exclusions of the log.
    ///
    /// # Errors
    /// [`AuditError::WrongRoot`].
    pub fn finish(self) -> Result<Recount, AuditError> {
        if self.frontier.size() == self.head.size && self.frontier.root() == self.head.root {
            Ok(self.recount)
        } else {
            Err(AuditError::WrongRoot(self.head.size))
        }
    }
}

#[cfg(test)]
mod tests;
