//! The flag `--format` of commands that print results.

use clap::ValueEnum;

/// Output format of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table with aligned columns
    #[default]
    Table,
    /// JSON
    Json,
    /// Comma-separated values with a header line
    Csv,
}
