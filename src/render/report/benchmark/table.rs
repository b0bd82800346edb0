//! Tables of a report: scores by model, and findings about judges.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::benchmark::scores::score::{Coverage, Score};

/// Table of scores with a row for each model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportTable {
    /// Key of the table within the report.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Source of the numbers; `None` for this arena's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Rows of column-spanning headings, from the top.
    #[serde(skip)]
    pub heads: Vec<Vec<ReportHead>>,
    /// The columns.
    pub columns: Vec<ReportColumn>,
    /// The rows, best first.
    pub rows: Vec<ReportRow>,
}

/// Heading over several columns; empty for columns without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportHead {
    /// Text of the heading.
    pub label: String,
    /// Number of columns it spans.
    pub span: usize,
}

/// A column of scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportColumn {
    /// Key of the part of the suite (`Part::key`).
    pub part: String,
    /// Its short name.
    pub label: String,
    /// Its full name.
    pub name: String,
}

impl ReportColumn {
    /// Whether its short name is an abbreviation.
    #[must_use]
    pub fn is_abbreviated(&self) -> bool {
        self.label != self.name && self.label.chars().all(|c| c.is_ascii_uppercase())
    }
}

/// Row of a model's scores.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportRow {
    /// The model.
    pub model: String,
    /// The baseline; empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub baseline: String,
    /// Whether it has judged itself, alone or in a panel.
    pub judged_itself: bool,
    /// One cell for each column.
    pub cells: Vec<Option<ReportCell>>,
}

/// Cell with a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ReportCell {
    /// The score, unrounded; `None` if nothing could be judged.
    pub score: Option<f64>,
    /// Sample standard deviation of the values behind the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// Share of valid judgements; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Whether the coverage is too low for a reliable score.
    pub flagged: bool,
}

/// Table of a finding about judges or models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// Key of the analysis within the report.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Meaning and method.
    pub lead: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// The rows, one datum a column.
    pub rows: Vec<Vec<Datum>>,
}

/// Cell of an analysis.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Datum {
    /// A name.
    Text(String),
    /// A count.
    Count(u64),
    /// A number; `None` if undefined.
    Number(Option<f64>),
    /// A rank from 1; ties share their mean rank.
    Rank(f64),
}

impl From<&Score> for ReportCell {
    fn from(score: &Score) -> Self {
        let Score { value, std_dev, coverage, .. } = score;
        Self { score: *value, std_dev: *std_dev, coverage: Some(*coverage), flagged: coverage.is_low() }
    }
}

impl ReportCell {
    /// Formats the score.
    #[must_use]
    pub fn text(&self) -> String {
        self.score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"))
    }

    /// Formats the coverage; empty if unknown.
    #[must_use]
    pub fn coverage_text(&self) -> String {
        self.coverage.map_or_else(String::new, |coverage| format!("{}/{}", coverage.ok, coverage.total))
    }
}

impl Datum {
    /// Formats the datum.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Rank(rank) => rank.to_string(),
            Self::Number(number) => number.map_or_else(|| "–".to_owned(), |number| format!("{number:.3}")),
        }
    }

    /// Whether it is right-aligned.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}
