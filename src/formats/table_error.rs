//! Error of a table file, regardless of its content.

use std::path::{Path, PathBuf};

use crate::standard_input::input_name;
use crate::votes::VoteFileError;

/// Error of reading a table file.
#[derive(Debug, thiserror::Error)]
pub enum TableFileError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] VoteFileError),
    /// A column is missing, or a row is invalid.
    #[error("{}: {reason}", input_name(file))]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The reason, its place and the remedy.
        reason: String,
    },
}

impl TableFileError {
    /// Creates the error of a readable but invalid table.
    pub(crate) fn unusable(file: &Path, reason: String) -> Self {
        Self::Unusable { file: file.to_owned(), reason }
    }
}
