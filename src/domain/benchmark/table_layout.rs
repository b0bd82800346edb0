//! The tables of a suite: which of its parts stand side by side, in the papers' order, and what they are called.

use serde::Serialize;

use super::Suite;
use super::score::{Part, PartKind, Scores};

/// What a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// The whole, groups and categories: the papers' main tables.
    Scores,
    /// Dimensions of quality.
    Dimensions,
    /// Languages, of the whole and of categories.
    Languages,
    /// Turns, of the whole and of categories: curves.
    Turns,
    /// Other rules of aggregation.
    Rules,
}

/// The columns of a table; its rows are models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableLayout {
    /// What it is about.
    pub kind: TableKind,
    /// The columns, in order.
    pub parts: Vec<Part>,
}

/// The tables that scores fill, in order; those without a column are left out.
#[must_use]
pub fn layouts<'s>(scores: impl IntoIterator<Item = &'s Scores>) -> Vec<TableLayout> {
    let kinds = [TableKind::Scores, TableKind::Dimensions, TableKind::Languages, TableKind::Turns, TableKind::Rules];
    let mut layouts = kinds.map(|kind| TableLayout { kind, parts: Vec::new() });
    for part in scores.into_iter().flat_map(|scores| &scores.0).map(|score| &score.part) {
        let kind = kind_of(part);
        let layout = layouts.iter_mut().find(|layout| layout.kind == kind);
        if let Some(layout) = layout.filter(|layout| !layout.parts.contains(part)) {
            layout.parts.push(part.clone());
        }
    }
    layouts.into_iter().filter(|layout| !layout.parts.is_empty()).collect()
}

fn kind_of(part: &Part) -> TableKind {
    match part.kind {
        PartKind::Overall | PartKind::Group | PartKind::Category => TableKind::Scores,
        PartKind::Dimension => TableKind::Dimensions,
        PartKind::Language => TableKind::Languages,
        PartKind::Turn => TableKind::Turns,
        PartKind::Rule => TableKind::Rules,
    }
}

/// What a part is called for people.
#[must_use]
pub fn title(suite: &dyn Suite, part: &Part) -> String {
    let own = match part.kind {
        PartKind::Overall => "overall".to_owned(),
        PartKind::Turn => format!("turn {}", part.name),
        PartKind::Language if part.name == "zh" => "Chinese".to_owned(),
        PartKind::Language if part.name == "en" => "English".to_owned(),
        PartKind::Category => suite.category_title(&part.name).to_owned(),
        _ => part.name.clone(),
    };
    match &part.within {
        None => own,
        Some(whole) => format!("{}, {own}", suite.category_title(whole)),
    }
}
