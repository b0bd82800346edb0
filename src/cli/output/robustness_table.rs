//! Formats the robustness report as a table below the leaderboard, with a summary in sentences.

use std::fmt::Write as _;

use super::name_table::name_table;
use super::terminal_text::printable;
use crate::domain::language::Language;
use crate::domain::rating::robustness::{NeighbourRobustness, PlaceRange, Robustness};
use crate::render::i18n::pages::{RobustnessAnswer, page_texts};

const HEADINGS: [&str; 6] = ["place", "possible", "without a voter", "votes to flip", "votes to separate", "model"];
/// Columns dropped on a narrow terminal, in this order.
const DROPPABLE_COLUMNS: [usize; 3] = [2, 4, 1];

/// Formats one row per model: place, possible places, places without any one voter, votes whose removal flips its order with the next
/// model, and further votes that would separate the two. No wider than the terminal.
pub(crate) fn robustness_table(robustness: &Robustness, screen: Option<usize>) -> String {
    if robustness.models.is_empty() {
        return String::new();
    }
    let mut text = format!("\nrobustness of the order at {} confidence\n", robustness.confidence);
    text += &name_table(rows(robustness), &DROPPABLE_COLUMNS, screen);
    for note in &robustness.notes {
        writeln!(text, "note: {note}").expect("a String takes what is written");
    }
    text + &overall(robustness)
}

/// Formats the results for the whole leaderboard, one per line.
fn overall(robustness: &Robustness) -> String {
    let answers = page_texts(Language::English).robustness.answers(&robustness.overall, printable);
    let lines: String =
        answers.iter().map(|RobustnessAnswer { question, text }| format!("{question} {text}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn rows(robustness: &Robustness) -> Vec<[String; 6]> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for model in &robustness.models {
        let next = robustness.neighbours.iter().find(|neighbours| neighbours.upper == model.model);
        rows.push([
            model.place.to_string(),
            format_place_range(model.possible),
            model.without_a_voter.map_or_else(dash, format_place_range),
            next.and_then(|next: &NeighbourRobustness| next.votes_to_flip).map_or_else(dash, |votes| votes.to_string()),
            next.and_then(|next| next.votes_to_separate).map_or_else(dash, |votes| votes.to_string()),
            printable(&model.model),
        ]);
    }
    rows
}

fn format_place_range(range: PlaceRange) -> String {
    if range.best == range.worst { range.best.to_string() } else { format!("{}–{}", range.best, range.worst) }
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::terminal_text::width;
    use super::*;
    use crate::domain::rating::robustness::{ModelRobustness, OverallRobustness};

    fn robustness() -> Robustness {
        let range = PlaceRange { best: 1, worst: 12 };
        let model = |place: u64, model: &str| ModelRobustness {
            model: model.into(),
            component: 0,
            place,
            possible: range,
            without_a_voter: Some(range),
        };
        let models = vec![model(1, &"长名字".repeat(30)), model(2, "b\u{7}")];
        Robustness {
            confidence: 0.95,
            models,
            neighbours: Vec::new(),
            voters: Some(9),
            notes: vec!["说明".into()],
            overall: OverallRobustness::default(),
        }
    }

    #[test]
    fn a_narrow_screen_keeps_the_place_and_the_name() {
        for (screen, first) in [
            (20, "place  votes to flip  model"),
            (40, "place  votes to flip  model"),
            (44, "place  possible  votes to flip  model"),
            (63, "place  possible  votes to flip  votes to separate  model"),
            (80, "place  possible  without a voter  votes to flip  votes to separate  model"),
        ] {
            let text = robustness_table(&robustness(), Some(screen));
            let lines: Vec<&str> = text.lines().skip(2).collect();
            assert_eq!(lines.len(), 4, "{text}");
            assert_eq!(lines[0], first, "{text}");
            assert!(screen == 20 || lines.iter().all(|line| width(line) <= screen), "{text}");
            assert!(lines[1].contains("长名") && lines[1].ends_with('…') && lines[2].ends_with("b\u{FFFD}"), "{text}");
        }
        let whole = robustness_table(&robustness(), None);
        assert!(whole.contains(&"长名字".repeat(30)), "{whole}");
    }

    #[test]
    fn without_models_there_is_no_table() {
        assert_eq!(robustness_table(&Robustness { models: Vec::new(), ..robustness() }, None), "");
    }
}
