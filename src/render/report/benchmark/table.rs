//! The tables of a report: scores by model, and findings about judges.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::benchmark::score::{Coverage, Score};

/// A table of scores: a row a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportTable {
    /// Distinguishes the tables of a report: a plain word.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Where the numbers are from, where they are not this arena's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Rows of heads that span columns, from the top.
    #[serde(skip)]
    pub heads: Vec<Vec<ReportHead>>,
    /// The columns.
    pub columns: Vec<ReportColumn>,
    /// The rows, best first.
    pub rows: Vec<ReportRow>,
}

/// A head over several columns; without a text, nothing stands over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportHead {
    /// What it says.
    pub label: String,
    /// How many columns it spans.
    pub span: usize,
}

/// A column of scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportColumn {
    /// The part of the suite, as `Part::key` writes it.
    pub part: String,
    /// Its short name.
    pub label: String,
    /// Its whole name.
    pub name: String,
}

impl ReportColumn {
    /// Whether its short name is an abbreviation.
    #[must_use]
    pub fn is_abbreviated(&self) -> bool {
        self.label != self.name && self.label.chars().all(|c| c.is_ascii_uppercase())
    }
}

/// A model's scores.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportRow {
    /// The model.
    pub model: String,
    /// The baseline; empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub baseline: String,
    /// Whether it has judged itself, alone or in a panel.
    pub judged_itself: bool,
    /// A cell a column.
    pub cells: Vec<Option<ReportCell>>,
}

/// A score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ReportCell {
    /// With all of its digits; none where nothing could be judged.
    pub score: Option<f64>,
    /// Sample standard deviation of what it is the mean of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// What could be judged of it; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Whether so much is missing that the score is to be read with care.
    pub flagged: bool,
}

/// A finding about judges or models, as a table of its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// Distinguishes the analyses of a report: a plain word.
    pub key: String,
    /// Its title.
    pub title: String,
    /// What it means, and how it is computed.
    pub lead: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows, one datum a column.
    pub rows: Vec<Vec<Datum>>,
}

/// One datum of an analysis.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Datum {
    /// A name.
    Text(String),
    /// How many.
    Count(u64),
    /// A number; none where it is not defined.
    Number(Option<f64>),
    /// A rank from 1; equals share the mean of theirs.
    Rank(f64),
}

impl From<&Score> for ReportCell {
    fn from(score: &Score) -> Self {
        let Score { value, std_dev, coverage, .. } = score;
        Self { score: *value, std_dev: *std_dev, coverage: Some(*coverage), flagged: coverage.is_low() }
    }
}

impl ReportCell {
    /// The score as it is shown.
    #[must_use]
    pub fn text(&self) -> String {
        self.score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"))
    }

    /// What could be judged of it, as it is shown; empty where that is not known.
    #[must_use]
    pub fn coverage_text(&self) -> String {
        self.coverage.map_or_else(String::new, |coverage| format!("{}/{}", coverage.ok, coverage.total))
    }
}

impl Datum {
    /// The datum as it is shown.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Rank(rank) => rank.to_string(),
            Self::Number(number) => number.map_or_else(|| "–".to_owned(), |number| format!("{number:.3}")),
        }
    }

    /// Whether it stands to the right of its column.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}
