//! Continuity of the stored log with the checkpoints signed before: the latest one is also stored in a file outside of the database.

use std::io;
use std::path::Path;

use super::stored_tiles::hashes_of_ranges;
use super::{PublicLog, PublicLogError};
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::domain::public_log::frontier::Frontier;
use crate::domain::public_log::hash::TreeHash;
use crate::domain::public_log::merkle_proof::TreeHead;
use crate::domain::public_log::signed_note::NoteError;
use crate::domain::public_log::subtree::complete_parts;
use crate::infra::public_log::signed_checkpoint_file::CheckpointFile;
use crate::infra::public_log::signing_key::UnusableKey;
use crate::infra::storage::{LogCheckpoint, Store};

/// Compares key, checkpoint and entries of a database with each other and with the checkpoint in a data folder. Read-only.
///
/// # Errors
/// [`PublicLogError`] for the first fault that prevents continuing the log.
pub async fn check_stored_log(store: &Store, data_folder: &Path) -> Result<(), PublicLogError> {
    let file = CheckpointFile::in_folder(data_folder);
    if let Some(log) = PublicLog::read(store.clone()).await? {
        return LogContinuity { log, file }.check().await;
    }
    // An arena generates its key when it first serves.
    if store.log_checkpoint().await?.is_some() {
        return Err(UnusableKey.into());
    }
    match read_note(&file).await? {
        Some(_) => Err(PublicLogError::Foreign(file.path().to_owned())),
        None => Ok(()),
    }
}

/// Log with the file of its latest checkpoint.
pub(super) struct LogContinuity {
    pub(super) log: PublicLog,
    pub(super) file: CheckpointFile,
}

impl LogContinuity {
    async fn check(&self) -> Result<(), PublicLogError> {
        let note = read_note(&self.file).await?;
        let Some(stored) = self.log.store.log_checkpoint().await? else {
            return self.check_begins(self.head_in(note)?).await;
        };
        // Checked before the file's signature: a wrong key is no fault of the file.
        self.check_signature(&stored)?;
        if self.root_at(stored.head.size).await? != stored.head.root {
            return Err(PublicLogError::Rewritten(stored.head.size));
        }
        self.check_continues(stored.head, self.head_in(note)?).await
    }

    /// Checks that a log without a checkpoint may begin.
    pub(super) async fn check_begins(&self, kept: Option<TreeHead>) -> Result<(), PublicLogError> {
        self.check_continues(TreeHead { size: 0, root: TreeHash::empty_root() }, kept).await
    }

    /// Checks that the log's key has signed the stored checkpoint.
    pub(super) fn check_signature(&self, stored: &LogCheckpoint) -> Result<(), PublicLogError> {
        match self.log.key.verifier().verify(&stored.note) {
            Ok(text) if Checkpoint::parse(text) == Some(self.log.checkpoint(stored.head)) => Ok(()),
            Err(NoteError::Unsigned(_)) => Err(PublicLogError::OtherKey),
            _ => Err(PublicLogError::Rewritten(stored.head.size)),
        }
    }

    /// Reads the checkpoint in the file. Call it before reading the database, which can only be ahead of it then: another instance that
    /// shares the file writes it after its commit.
    pub(super) async fn read_checkpoint_file(&self) -> Result<Option<TreeHead>, PublicLogError> {
        self.head_in(read_note(&self.file).await?)
    }

    fn head_in(&self, note: Option<String>) -> Result<Option<TreeHead>, PublicLogError> {
        let Some(note) = note else { return Ok(None) };
        let kept = self.log.key.verifier().verify(&note).ok().and_then(Checkpoint::parse);
        kept.map(|kept| Some(kept.head)).ok_or_else(|| PublicLogError::Foreign(self.file.path().to_owned()))
    }

    /// Writes a checkpoint to the file.
    pub(super) async fn write_checkpoint_file(&self, note: String) -> Result<(), PublicLogError> {
        let file = self.file.clone();
        on_disk(&self.file, move || file.write(&note)).await
    }

    /// Checks that a tree is consistent with the checkpoint in the file.
    pub(super) async fn check_continues(&self, head: TreeHead, kept: Option<TreeHead>) -> Result<(), PublicLogError> {
        let Some(kept) = kept else { return Ok(()) };
        if kept.size > head.size {
            let path = self.file.path().to_owned();
            return Err(PublicLogError::Shrank { found: head.size, signed: kept.size, path });
        }
        let root = if kept.size == head.size { head.root } else { self.root_at(kept.size).await? };
        if root == kept.root { Ok(()) } else { Err(PublicLogError::Rewritten(kept.size)) }
    }

    async fn root_at(&self, size: u64) -> Result<TreeHash, PublicLogError> {
        Ok(self.frontier_at(size).await?.root())
    }

    /// Returns the frontier (right edge) of the stored tree at this size.
    pub(super) async fn frontier_at(&self, size: u64) -> Result<Frontier, PublicLogError> {
        let parts = hashes_of_ranges(&self.log.store, &complete_parts(size), size).await?;
        Frontier::new(size, parts).ok_or(PublicLogError::Rewritten(size))
    }
}

async fn read_note(file: &CheckpointFile) -> Result<Option<String>, PublicLogError> {
    let reading = file.clone();
    on_disk(file, move || reading.read()).await
}

/// Reads or writes the file on a blocking thread.
async fn on_disk<T: Send + 'static>(
    file: &CheckpointFile,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, PublicLogError> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|source| PublicLogError::File { path: file.path().to_owned(), source })
}
