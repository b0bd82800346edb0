//! A leaderboard as text: JSON and CSV here, the table in [`super::table`].

use super::options::{FitOptions, OutputFormat};
use super::table::table;
use crate::domain::rating::leaderboard::Leaderboard;
use crate::formats::tables::Format;
use crate::services::transfer::export::ranked_models;

/// The leaderboard as text in the format that the options name.
#[must_use]
pub fn print(board: &Leaderboard, options: &FitOptions) -> String {
    print_within(board, options, None)
}

/// The same; a table is no wider than the screen, where there is one.
pub(super) fn print_within(board: &Leaderboard, options: &FitOptions, screen: Option<usize>) -> String {
    match options.format {
        OutputFormat::Table => table(board, screen),
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
