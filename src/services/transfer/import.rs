//! Imports votes from files as battles and votes.
//!
//! A file is read to its end before anything is written, and all of its votes are kept in one transaction. Its id is made
//! of its bytes, so the same file a second time changes nothing.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::hex::hex;
use crate::domain::rating::vote_log::ColumnSet;
use crate::domain::time::Timestamp;
use crate::formats::votes::{ReadLimits, ReadOptions, VoteFileError, read_log};
use crate::infra::disk;
use crate::infra::storage::{Import, Imported, ImportedVote, Store, StoreError, UnusableName, unusable_name};

/// What an import keeps of a vote.
const KEPT: ColumnSet = ColumnSet {
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
    excluded_votes: false,
};

/// Why a file was not imported; nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] VoteFileError),
    /// It names something as nothing can be named here.
    #[error("{} names {name}", .path.display())]
    UnusableName {
        /// The file.
        path: PathBuf,
        /// What is named, and how.
        name: UnusableName,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Whether its votes were new.
    pub imported: Imported,
    /// Votes and rows that were left out, by reason.
    pub excluded: Vec<(String, u64)>,
}

/// Imports one file. `progress` gets the number of votes so far and in total.
///
/// # Errors
/// [`ImportError`].
pub async fn votes(
    store: &Store,
    path: &Path,
    options: &ReadOptions,
    now: Timestamp,
    mut progress: impl FnMut(u64, u64),
) -> Result<ImportReport, ImportError> {
    let unreadable = |source| VoteFileError::Unreadable { path: path.to_owned(), source };
    let copy = copy_of_pipe(path, options.limits).map_err(unreadable)?;
    let whole = copy.as_ref().map_or_else(|| path.to_owned(), path_of);
    let log = read_log(&[&whole], KEPT, options).map_err(|error| error.in_file(path))?;
    if let Some(name) = unusable_name(&log) {
        return Err(ImportError::UnusableName { path: path.to_owned(), name });
    }
    let id = id_of(&whole).map_err(unreadable)?;
    let source = path.file_name().unwrap_or_default().to_string_lossy();
    let import = Import { id: &id, source: &source, models: log.models.as_slice(), at: now };
    let rows = (0..log.len()).map(|row| ImportedVote::of_log(&log, row, &id, now));
    let all = log.len() as u64;
    let imported = store.import_votes(import, rows, |done| progress(done, all)).await?;
    Ok(ImportReport { imported, excluded: log.excluded.into_iter().collect() })
}

/// What is no file, such as a pipe, gives its bytes once, and an import reads them twice: they are kept in a file meanwhile, without a
/// name, so that it goes with the process however that ends.
fn copy_of_pipe(path: &Path, limits: ReadLimits) -> io::Result<Option<File>> {
    let source = File::open(path)?;
    if source.metadata()?.is_file() {
        return Ok(None);
    }
    let folder = std::env::temp_dir();
    // An endless pipe must not fill the disk for others.
    let free = disk::space(&folder)?.free;
    copy_at_most(source, limits.decompressed_bytes.min(free / 2), &folder).map(Some)
}

/// Copies all of a source into a file of this folder, which has no name. One that gives more bytes is refused.
fn copy_at_most(source: impl Read, most: u64, folder: &Path) -> io::Result<File> {
    let unwritable = |error: io::Error| {
        let reason =
            format!("what comes from it cannot be kept in {}: {error}; set TMPDIR to another folder", folder.display());
        io::Error::new(error.kind(), reason)
    };
    let mut copy = tempfile::tempfile_in(folder).map_err(unwritable)?;
    let mut source = source.take(most.saturating_add(1));
    let (mut block, mut copied) = (vec![0; 1 << 16], 0);
    loop {
        let read = source.read(&mut block)?;
        copied += read as u64;
        if copied > most {
            let reason = format!("more than {most} bytes come from it: write them to a file, and import that");
            return Err(io::Error::other(reason));
        }
        if read == 0 {
            return Ok(copy);
        }
        copy.write_all(&block[..read]).map_err(unwritable)?;
    }
}

/// Where a file without a name can be opened.
fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()))
}

/// A name for what a file holds.
fn id_of(path: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut block) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => digest.update(&block[..read]),
        }
    }
    Ok(format!("import-{}", hex(&digest.finalize()[..16])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_without_end_is_refused_at_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let refused = copy_at_most(io::repeat(b'x'), 100_000, folder.path()).unwrap_err().to_string();
        assert_eq!(refused, "more than 100000 bytes come from it: write them to a file, and import that");
        let copy = copy_at_most(io::repeat(b'x').take(100_000), 100_000, folder.path()).unwrap();
        assert_eq!(copy.metadata().unwrap().len(), 100_000);
        let nowhere = copy_at_most(io::empty(), 1, &folder.path().join("absent")).unwrap_err().to_string();
        assert!(
            nowhere.contains("cannot be kept in") && nowhere.ends_with("set TMPDIR to another folder"),
            "{nowhere}"
        );
    }
}
