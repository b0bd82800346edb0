//! Table layouts of a suite: columns in the papers' order, and their titles.

use serde::Serialize;

use super::Suite;
use super::scores::score::{Part, PartKind, Scores};

/// Subject of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Overall, groups and categories: the papers' main tables.
    Scores,
    /// Dimensions of quality.
    Dimensions,
    /// Languages, overall and by category.
    Languages,
    /// Turns, overall and by category: curves.
    Turns,
    /// Alternative rules of aggregation.
    Rules,
}

/// Columns of a table; its rows are models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableLayout {
    /// Subject of the table.
    pub kind: TableKind,
    /// Parts in the columns, in order.
    pub parts: Vec<Part>,
}

/// Returns the layouts of the tables for these scores, in order; tables without columns are left out.
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

/// Returns the display name of a part.
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
