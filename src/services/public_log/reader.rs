//! Reads the parts of the log that the arena publishes.

use std::time::Duration;

use super::stored_tiles::{entries_of, hashes_of, hashes_of_ranges};
use super::{PublicLog, PublicLogError};
use crate::domain::public_log::entry_bundle::encode_entries;
use crate::domain::public_log::merkle_proof::inclusion_ranges;
use crate::domain::public_log::promised_vote::included_by;
use crate::domain::public_log::tile::{TileKind, encode_hashes};
use crate::domain::public_log::tlog_proof::LoggedEntry;
use crate::domain::time::Timestamp;
use crate::infra::storage::LogCheckpoint;

/// Status of a vote in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicLogLookup {
    /// Promised to be in the log by this time.
    Promised(Timestamp),
    /// Included in the log.
    Logged(Box<LoggedVoteReceipt>),
}

/// Receipt of a vote in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedVoteReceipt {
    /// Entry with its inclusion proof.
    pub logged: LoggedEntry,
    /// The salt of the entry's commitment, unless it was deleted.
    pub salt: Option<String>,
}

impl PublicLog {
    /// Returns the latest checkpoint; `None` before the first one is signed.
    ///
    /// # Errors
    /// [`PublicLogError`].
    pub async fn latest(&self) -> Result<Option<LogCheckpoint>, PublicLogError> {
        Ok(self.store.log_checkpoint().await?)
    }

    /// Returns the bytes of a tile or entry bundle; `None` if no signed tree has it.
    ///
    /// # Errors
    /// [`PublicLogError`].
    pub async fn tile(&self, kind: TileKind) -> Result<Option<Vec<u8>>, PublicLogError> {
        let size = self.latest().await?.map_or(0, |latest| latest.head.size);
        let (TileKind::Hashes(tile) | TileKind::Entries(tile)) = kind;
        if !tile.is_in(size) {
            return Ok(None);
        }
        Ok(Some(match kind {
            TileKind::Hashes(tile) => encode_hashes(&hashes_of(&self.store, tile).await?),
            TileKind::Entries(tile) => {
                let entries = entries_of(&self.store, tile).await?;
                encode_entries(entries.iter().map(String::as_bytes))?
            }
        }))
    }

    /// Returns the status of the vote with this id, where votes are logged `within` this time; `None` for an unknown vote.
    ///
    /// # Errors
    /// [`PublicLogError`].
    pub async fn receipt(&self, vote: &str, within: Duration) -> Result<Option<PublicLogLookup>, PublicLogError> {
        // The checkpoint is read first: the entry is then in its tree or in a later one.
        let (latest, logged) = (self.latest().await?, self.store.logged_vote(vote).await?);
        let signed = latest.zip(logged).filter(|(latest, logged)| logged.position < latest.head.size);
        let Some((latest, logged)) = signed else {
            let cast_at = self.store.vote_cast_at(vote).await?;
            return Ok(cast_at.map(|time| PublicLogLookup::Promised(included_by(time, within))));
        };
        let size = latest.head.size;
        let hashes = hashes_of_ranges(&self.store, &inclusion_ranges(logged.position, size), size).await?;
        let entry =
            LoggedEntry { entry: logged.body.into_bytes(), index: logged.position, hashes, checkpoint: latest.note };
        Ok(Some(PublicLogLookup::Logged(Box::new(LoggedVoteReceipt { logged: entry, salt: logged.salt }))))
    }
}
