//! Prints the result of a fit as JSON or CSV; [`super::table`] prints the table.

use std::io::{self, Write};

use serde::Serialize;

use super::options::FitOptions;
use super::table::table;
use super::value_table::value_table;
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::value::report::ValueReport;
use crate::formats::tables::Format;
use crate::output::output_format::OutputFormat;
use crate::services::import_export::export::ranked_models;

/// Result of `langya fit`.
#[derive(Debug, Clone, Serialize)]
pub struct FitResult {
    /// The leaderboard.
    #[serde(flatten)]
    pub leaderboard: Leaderboard,
    /// Ratings joined with prices, if these are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueReport>,
}

/// Formats the result in the output format of the options.
#[must_use]
pub fn print(result: &FitResult, options: &FitOptions) -> String {
    print_within(result, options, None)
}

/// Writes the result, with tables no wider than the terminal. JSON is streamed: matrices of thousands of models take hundreds of megabytes.
///
/// # Errors
/// A write failure.
pub(super) fn write_within(
    result: &FitResult,
    options: &FitOptions,
    screen: Option<usize>,
    mut out: impl Write,
) -> io::Result<()> {
    match options.format {
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut out, result)?;
            out.write_all(b"\n")
        }
        OutputFormat::Table | OutputFormat::Csv => out.write_all(print_within(result, options, screen).as_bytes()),
    }
}

/// Formats the result as [`fn@print`] does, with tables no wider than the terminal.
pub(super) fn print_within(result: &FitResult, options: &FitOptions, screen: Option<usize>) -> String {
    let FitResult { leaderboard, value } = result;
    match options.format {
        OutputFormat::Table => {
            let text = table(leaderboard, if options.sequential { &leaderboard.neighbours } else { &[] }, screen);
            text + &value.as_ref().map_or_else(String::new, |value| value_table(value, screen))
        }
        OutputFormat::Json => json(result),
        OutputFormat::Csv => lines(leaderboard),
    }
}

fn json(result: &FitResult) -> String {
    let mut text = serde_json::to_string_pretty(result).expect("a result holds text, numbers and lists only");
    text.push('\n');
    text
}

fn lines(leaderboard: &Leaderboard) -> String {
    let mut bytes = Vec::new();
    ranked_models(&leaderboard.models, Format::Csv, &mut bytes).expect("memory takes what is written");
    String::from_utf8(bytes).expect("names and numbers are UTF-8")
}
