//! Why a file with a table cannot be used, whatever the table holds.

use std::path::{Path, PathBuf};

use crate::standard_input::input_name;
use crate::votes::VoteFileError;

/// Why a file with a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableFileError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] VoteFileError),
    /// A column is missing, or a row does not say what it should.
    #[error("{}: {reason}", input_name(file))]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, where, and what to do.
        reason: String,
    },
}

impl TableFileError {
    /// The error of a table that can be read and not used.
    pub(crate) fn unusable(file: &Path, reason: String) -> Self {
        Self::Unusable { file: file.to_owned(), reason }
    }
}
