//! How firm an order is, as a table under the leaderboard.

use std::fmt::Write as _;

use super::fit::printable;
use crate::rating::insight::{Insight, NeighbourInsight, PlaceRange};

/// One line a model: its place, the places it may truly have, those it takes without any one voter, and what holds it
/// above the next one.
pub(super) fn insight_table(insight: &Insight) -> String {
    let headings =
        ["place", "possible", "without a voter", "votes to swap with next", "to separate from next", "model"];
    let mut rows = vec![headings.map(str::to_owned)];
    for model in &insight.models {
        let next = insight.neighbours.iter().find(|neighbours| neighbours.upper == model.model);
        rows.push([
            model.place.to_string(),
            shown(model.possible),
            model.without_a_voter.map_or_else(none, shown),
            next.and_then(|next: &NeighbourInsight| next.votes_to_swap).map_or_else(none, |votes| votes.to_string()),
            next.and_then(|next| next.votes_to_separate).map_or_else(none, |votes| votes.to_string()),
            printable(&model.model),
        ]);
    }
    let mut text = format!("\nhow firm the order is, at {} confidence\n", insight.confidence);
    let model = headings.len() - 1;
    let widths: Vec<usize> =
        (0..model).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        for (cell, &wide) in row.iter().zip(&widths) {
            write!(text, "{cell:>wide$}  ").expect("a String takes what is written");
        }
        text.push_str(&row[model]);
        text.push('\n');
    }
    for note in &insight.notes {
        writeln!(text, "note: {note}").expect("a String takes what is written");
    }
    text
}

fn shown(range: PlaceRange) -> String {
    if range.best == range.worst { range.best.to_string() } else { format!("{}–{}", range.best, range.worst) }
}

fn none() -> String {
    "–".to_owned()
}
