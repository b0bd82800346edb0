//! Value of a cell, independent of the file's format.

use std::borrow::Cow;

use serde_json::Value;

use super::error::{RowError, shortened};
use crate::domain::rating::votes::prompt_label_names::join_names;
use crate::domain::time::parse_moment;

/// Maximum of a number of seconds; larger numbers are milliseconds, since as seconds they would be past the year 5000.
const LARGEST_SECONDS: f64 = 1e11;

/// A row of a file, by positions of columns.
pub(super) trait FileRow {
    /// The value in a column.
    fn cell(&self, at: usize) -> Cell<'_>;
}

/// Value of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'r> {
    /// No value, or an empty text.
    Empty,
    Text(&'r str),
    Json(&'r Value),
}

impl<'r> Cell<'r> {
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Empty | Self::Json(Value::Null) => true,
            Self::Text(text) => text.is_empty(),
            Self::Json(_) => false,
        }
    }

    /// Converts to a text; a list of texts is joined by commas.
    pub(super) fn text(self) -> Option<Cow<'r, str>> {
        let text: Cow<'r, str> = match self {
            Self::Empty => return None,
            Self::Text(text) => text.into(),
            Self::Json(value) => json_text(value)?,
        };
        (!text.is_empty()).then_some(text)
    }

    /// Converts to a label; the trimmed names of a list are joined so that
    /// [`split_names`](crate::domain::rating::votes::prompt_label_names::split_names) restores them.
    pub(super) fn label(self) -> Option<Cow<'r, str>> {
        let Self::Json(Value::Array(items)) = self else { return self.text() };
        let names: Vec<Cow<'_, str>> = items.iter().filter_map(json_text).collect();
        let joined = join_names(names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()));
        (!joined.is_empty()).then_some(joined.into())
    }

    /// Converts to a flag; `None` for other values.
    pub(super) fn flag(self) -> Option<bool> {
        match self {
            Self::Json(Value::Bool(flag)) => Some(*flag),
            _ => parse_flag(&self.text()?),
        }
    }

    /// Converts to a flag; `None` if empty, an error for other values.
    pub(super) fn known_flag(self, column: &str) -> Result<Option<bool>, RowError> {
        let Some(text) = self.text() else { return Ok(None) };
        let refused = || RowError::Flag { column: column.to_owned(), text: shortened(&text) };
        parse_flag(&text).map(Some).ok_or_else(refused)
    }

    /// Converts to a finite number.
    pub(super) fn number(self, column: &str) -> Result<Option<f64>, RowError> {
        let Some(text) = self.text() else { return Ok(None) };
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let refused = || RowError::Number { column: column.to_owned(), text: shortened(&text) };
        number.map(Some).ok_or_else(refused)
    }

    /// Converts to seconds since 1970.
    pub(super) fn seconds(self, column: &str) -> Result<f64, RowError> {
        parse_seconds(&self.text().unwrap_or_default()).ok_or_else(|| self.no_time(column))
    }

    /// The error of a value that is no time.
    pub(super) fn no_time(self, column: &str) -> RowError {
        RowError::Time { column: column.to_owned(), text: shortened(&self.text().unwrap_or_default()) }
    }

    /// Converts to nested JSON, which a delimited file holds as text.
    pub(super) fn nested(self) -> Option<Cow<'r, Value>> {
        match self {
            Self::Empty => None,
            Self::Json(value @ Value::Object(_)) => Some(Cow::Borrowed(value)),
            Self::Json(_) => None,
            Self::Text(text) => serde_json::from_str(text).ok().map(Cow::Owned),
        }
    }
}

fn json_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(flag) => Some(if *flag { "true" } else { "false" }.into()),
        Value::Array(items) => Some(items.iter().filter_map(json_text).collect::<Vec<_>>().join(",").into()),
        Value::Null | Value::Object(_) => None,
    }
}

/// Parses a word for yes or no.
pub(super) fn parse_flag(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "1", "1.0", "yes", "y", "t"]) {
        Some(true)
    } else if is_one_of(["false", "0", "0.0", "no", "n", "f"]) {
        Some(false)
    } else {
        None
    }
}

/// Parses a number of seconds or milliseconds, or a date and time; without a zone it is UTC.
pub(super) fn parse_seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return as_seconds(number);
    }
    in_calendar(parse_moment(text)?.as_duration().as_secs_f64())
}

/// Interprets a number as seconds, or as milliseconds if too large for seconds. A date without separators is neither: read as seconds,
/// 20251121 would be in August 1970.
pub(super) fn as_seconds(number: f64) -> Option<f64> {
    let seconds = in_calendar(if number.abs() > LARGEST_SECONDS { number / 1000.0 } else { number });
    seconds.filter(|_| !is_written_date(number))
}

/// Whether a number reads as a date from 1900 to 2199, alone or with hours and minutes, or with seconds too: 20251121, 202511210830,
/// 20251121083000. As seconds or milliseconds these are in 1970, in 1976, or hundreds of years ahead.
fn is_written_date(number: f64) -> bool {
    [1.0, 1e4, 1e6].into_iter().any(|clock| {
        let date = (number / clock).floor();
        let (month, day) = ((date % 10_000.0 / 100.0).floor(), date % 100.0);
        (19_000_101.0..=21_991_231.0).contains(&date) && (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day)
    })
}

/// Refuses times thousands of years away, which are in another unit or not times.
pub(super) fn in_calendar(seconds: f64) -> Option<f64> {
    Some(seconds).filter(|seconds| seconds.abs() <= LARGEST_SECONDS)
}
