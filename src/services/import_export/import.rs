//! Imports votes from files as battles and votes.
//!
//! A file is read completely before anything is written, and its votes are stored in one transaction. Its id is a digest of its bytes, so
//! importing the same file again changes nothing. A vote on a battle that has one here, as in a log exported by this arena, is omitted, by
//! whatever route it is imported (`imported_battle_ids.rs`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::imported_battle_ids::BattleNames;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::domain::time::Timestamp;
use crate::formats::rereadable_file::RereadableFile;
use crate::formats::votes::{ReadOptions, VoteFileError, read_open_file};
use crate::formats::{input_name, is_standard_input};
use crate::infra::disk;
use crate::infra::storage::{Import, Imported, ImportedVote, Store, StoreError, UnusableName, unusable_name};

/// Columns of a vote that an import stores.
const STORED_COLUMNS: ColumnSet = ColumnSet {
    voters: true,
    languages: true,
    categories: true,
    intents: true,
    turns: true,
    prompt_tokens: false,
    satisfactions: true,
    reasons: true,
    seconds: true,
    style: true,
    pair_probabilities: true,
    timings: true,
    pairing_policies: false,
    battle_ids: true,
    excluded_votes: false,
};

/// Error of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] VoteFileError),
    /// The file has an invalid name.
    #[error("{} names {name}", input_name(.path))]
    UnusableName {
        /// Path of the file.
        path: PathBuf,
        /// Invalid name.
        name: UnusableName,
    },
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Whether the file's votes were new.
    pub imported: Imported,
    /// Number of votes omitted because their battles have votes here.
    pub already_here: u64,
    /// Number of omitted votes and rows, by reason.
    pub excluded: Vec<(String, u64)>,
    /// Ignored columns that may hold vote counts: each row is one vote.
    pub unread_columns: BTreeSet<String>,
}

/// Completely read file of votes that can be imported.
#[derive(Debug)]
pub struct VotesFile {
    /// Digest of the file's bytes.
    id: String,
    source: String,
    log: VoteLog,
    read_at: Timestamp,
}

impl VotesFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ImportError`] if it cannot be read or imported.
    pub fn read(path: &Path, options: &ReadOptions, now: Timestamp) -> Result<Self, ImportError> {
        let unreadable = |source| VoteFileError::Unreadable { path: path.to_owned(), source };
        // An endless pipe must not fill the disk.
        let limit = options.limits.decompressed_bytes;
        let most = |folder: &Path| disk::space(folder).map(|space| limit.min(space.free / 2));
        let whole = RereadableFile::open(path, most).map_err(unreadable)?;
        let log = read_open_file(whole.reader().map_err(unreadable)?, path, STORED_COLUMNS, options)?;
        if let Some(name) = unusable_name(&log) {
            return Err(ImportError::UnusableName { path: path.to_owned(), name });
        }
        let id = format!("import-{}", whole.digest().map_err(unreadable)?);
        Ok(Self { id, source: source_name(path), log, read_at: now })
    }
}

/// Returns the stored name of an import.
fn source_name(path: &Path) -> String {
    if is_standard_input(path) {
        return "stdin".to_owned();
    }
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Imports one file. `progress` gets the number of votes so far and in total.
///
/// # Errors
/// [`StoreError`]; nothing of the file was imported then.
pub async fn votes(
    store: &Store,
    file: VotesFile,
    mut progress: impl FnMut(u64, u64),
) -> Result<ImportReport, StoreError> {
    let VotesFile { id, source, mut log, read_at } = file;
    let mut names = BattleNames::new(&id, &mut log);
    let already_here = leave_out_votes_here(store, &mut log, &mut names).await?;
    let import = Import { id: &id, source: &source, models: log.models.as_slice(), at: read_at };
    let rows = (0..log.len()).map(|row| ImportedVote::of_log(&log, row, names.of(row), read_at));
    let all = log.len() as u64;
    let imported = store.import_votes(import, rows, |done| progress(done, all)).await?;
    let excluded = log.excluded.into_iter().collect();
    Ok(ImportReport { imported, already_here, excluded, unread_columns: log.unread_columns })
}

/// Removes the votes on battles that have a vote here, and returns their number.
async fn leave_out_votes_here(
    store: &Store,
    log: &mut VoteLog,
    names: &mut BattleNames<'_>,
) -> Result<u64, StoreError> {
    let keep = names.are_new(store).await?;
    let left_out = keep.iter().filter(|keep| !**keep).count();
    if left_out > 0 {
        names.retain(&keep);
        log.retain(&keep);
        log.forget_unused_names();
    }
    Ok(left_out as u64)
}
