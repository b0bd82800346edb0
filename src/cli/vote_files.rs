//! Flags of the commands that read vote files.

use std::collections::BTreeSet;

use clap::Args;

use crate::domain::rating::notes::RatingNote;
use crate::formats::votes::{ColumnNames, ReadLimits, ReadOptions};
use crate::output::terminal_text::printable;

/// Heading of these flags in help texts.
const VOTE_FILES_HEADING: &str = "Files of votes";

/// Prints a note on stderr if the files have ignored columns that may hold vote counts.
pub(crate) fn note_unread_columns(columns: &BTreeSet<String>) {
    if !columns.is_empty() {
        let note = RatingNote::UnreadColumns { columns: columns.iter().cloned().collect() };
        eprintln!("note: {}", printable(&note.to_string()));
    }
}

/// Options for reading vote files. A column needs a name only where it differs from LMArena's.
#[derive(Debug, Clone, Args)]
pub struct ReadFlags {
    /// Column with the model on side A
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub model_a: Option<String>,
    /// Column with the model on side B
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub model_b: Option<String>,
    /// Column with the outcome: model_a, model_b, tie, both_bad, or the winner's name
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub winner: Option<String>,
    /// Column that distinguishes voters
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub voter: Option<String>,
    /// Column with the time of the vote: seconds since 1970 or a date
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub time: Option<String>,
    /// Column with the language
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub language_column: Option<String>,
    /// Column with the category
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub category_column: Option<String>,
    /// Column with the intent
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub intent_column: Option<String>,
    /// Column with the number of turns
    #[arg(long, value_name = "COLUMN", help_heading = VOTE_FILES_HEADING)]
    pub turn_column: Option<String>,
    /// Skip rows that are not votes and count them by reason, instead of refusing the file
    #[arg(long, help_heading = VOTE_FILES_HEADING)]
    pub skip_bad: bool,
    /// Treat missing fields at the end of a CSV or TSV row as empty, instead of refusing the file
    #[arg(long, help_heading = VOTE_FILES_HEADING)]
    pub pad: bool,
    /// Maximum size in bytes of one line, or of one object of a JSON array
    #[arg(long, value_name = "BYTES", help_heading = VOTE_FILES_HEADING, default_value_t = ReadLimits::default().line_bytes,
        value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub max_line_bytes: u64,
    /// Maximum size in bytes of a compressed file when it is decompressed, and of what comes from a pipe
    #[arg(long, value_name = "BYTES", help_heading = VOTE_FILES_HEADING,
        default_value_t = ReadLimits::default().decompressed_bytes)]
    pub max_decompressed_bytes: u64,
}

impl ReadFlags {
    /// Returns the options for the reader.
    #[must_use]
    pub fn options(&self) -> ReadOptions {
        let columns = ColumnNames {
            model_a: self.model_a.clone(),
            model_b: self.model_b.clone(),
            winner: self.winner.clone(),
            voter: self.voter.clone(),
            time: self.time.clone(),
            language: self.language_column.clone(),
            category: self.category_column.clone(),
            intent: self.intent_column.clone(),
            turn: self.turn_column.clone(),
        };
        let limits = ReadLimits { line_bytes: self.max_line_bytes, decompressed_bytes: self.max_decompressed_bytes };
        ReadOptions { columns, skip_bad: self.skip_bad, pad: self.pad, limits }
    }
}
