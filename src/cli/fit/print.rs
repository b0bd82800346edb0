//! Prints a leaderboard as JSON or CSV; [`super::table`] prints the table.

use super::options::{FitOptions, OutputFormat};
use super::table::table;
use crate::domain::rating::leaderboard::Leaderboard;
use crate::formats::tables::Format;
use crate::services::transfer::export::ranked_models;

/// The leaderboard in the output format of the options.
#[must_use]
pub fn print(board: &Leaderboard, options: &FitOptions) -> String {
    print_within(board, options, None)
}

/// As [`fn@print`], with a table no wider than the terminal.
pub(super) fn print_within(board: &Leaderboard, options: &FitOptions, screen: Option<usize>) -> String {
    match options.format {
        OutputFormat::Table => table(board, if options.sequential { &board.neighbours } else { &[] }, screen),
        OutputFormat::Json => json(board),
        OutputFormat::Csv => lines(board),
    }
}

fn json(board: &Leaderboard) -> String {
    let mut text = serde_json::to_string_pretty(board).expect("a leaderboard holds text, numbers and lists only");
    text.push('\n');
    text
}

fn lines(board: &Leaderboard) -> String {
    let mut bytes = Vec::new();
    ranked_models(&board.models, Format::Csv, &mut bytes).expect("memory takes what is written");
    String::from_utf8(bytes).expect("names and numbers are UTF-8")
}
