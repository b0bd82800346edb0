//! Series published in papers, which are built into the program, and imported published scores.

use std::collections::{BTreeMap, BTreeSet};

use super::{SeriesError, Subjects};
use crate::benchmark::published::{self, SubjectKind, ValueUnit};
use crate::labeling::scheme::Scheme;

/// Default part of a series.
pub const OVERALL_PART: &str = "overall";

/// Values of a published series.
pub struct PublishedValues {
    /// Title for readers.
    pub title: String,
    /// Citation of the source.
    pub source: String,
    /// Subjects of the values.
    pub subjects: Subjects,
    /// Values by subject.
    pub values: BTreeMap<String, f64>,
}

/// Lists the names of all published series as `published:ID` or `published:ID:part`.
pub fn published_names() -> impl Iterator<Item = String> {
    published::series().iter().flat_map(|series| {
        let intents = has_intents(series).then(|| format!("published:{}:{INTENTS_PART}", series.id));
        let parts = series.parts().into_iter().map(|part| match part {
            OVERALL_PART => format!("published:{}", series.id),
            part => format!("published:{}:{part}", series.id),
        });
        parts.chain(intents).collect::<Vec<_>>()
    })
}

/// Returns whether a series is built in, so that no database is needed.
pub fn is_printed(id: &str) -> bool {
    split(id, |id| published::by_id(id).is_some()).is_some()
}

/// Splits an id into the name of a known series, which may contain colons, and the part after it.
pub fn split(id: &str, is_known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let colons = id.match_indices(':').map(|(at, _)| (&id[..at], &id[at + 1..]));
    std::iter::once((id, "")).chain(colons.collect::<Vec<_>>().into_iter().rev()).find(|(name, _)| is_known(name))
}

/// Returns the values of a published series, or of a part of it.
///
/// # Errors
/// [`SeriesError::Part`] for an unknown part.
pub fn of_papers(series: &published::Published, part: &str) -> Result<PublishedValues, SeriesError> {
    let title = format!("{}{}", series.title, in_words(part));
    let source = match &series.note {
        Some(note) => format!("{}; {note}", series.source),
        None => series.source.clone(),
    };
    if part == INTENTS_PART && has_intents(series) {
        return Ok(PublishedValues { title, source, subjects: Subjects::Intents, values: by_intent(series) });
    }
    let part = default_part(part, &series.parts()).ok_or_else(|| SeriesError::Part {
        series: format!("published:{}", series.id),
        part: part.to_owned(),
        known: series.parts().join(", "),
    })?;
    let subjects = if series.of == SubjectKind::Method { Subjects::Methods } else { Subjects::Models };
    let values = series.part(part).into_iter().map(|(subject, value)| (subject.to_owned(), value)).collect();
    Ok(PublishedValues { title: title + unit(series.unit), source, subjects, values })
}

/// Imported published score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportedScore<'s> {
    /// Part of the suite; empty for the whole.
    pub part: &'s str,
    /// Model name as published.
    pub model: &'s str,
    /// Value of the score.
    pub score: f64,
    /// Citation or address of the source.
    pub source: &'s str,
}

/// Returns the values of an imported series, or of a part of it.
///
/// # Errors
/// [`SeriesError::Part`] for an unknown part.
pub fn of_imported(rows: Vec<ImportedScore<'_>>, name: &str, part: &str) -> Result<PublishedValues, SeriesError> {
    let own = |row: &ImportedScore<'_>| if row.part.is_empty() { OVERALL_PART.to_owned() } else { row.part.to_owned() };
    let keys: BTreeSet<String> = rows.iter().map(own).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let wanted = default_part(part, &keys).ok_or_else(|| SeriesError::Part {
        series: format!("published:{name}"),
        part: part.to_owned(),
        known: keys.join(", "),
    })?;
    let of_part: Vec<ImportedScore<'_>> = rows.into_iter().filter(|row| own(row) == wanted).collect();
    let sources: BTreeSet<&str> = of_part.iter().map(|row| row.source).collect();
    let source = sources.into_iter().collect::<Vec<_>>().join("; ");
    let values = of_part.into_iter().map(|row| (row.model.to_owned(), row.score)).collect();
    Ok(PublishedValues { title: format!("{name}{}", in_words(part)), source, subjects: Subjects::Models, values })
}

fn unit(unit: ValueUnit) -> &'static str {
    match unit {
        ValueUnit::Percent => ", %",
        ValueUnit::OneToTen | ValueUnit::Correlation | ValueUnit::Share => "",
    }
}

/// Formats the part as a suffix of a title.
#[must_use]
pub fn in_words(part: &str) -> String {
    if part.is_empty() { String::new() } else { format!(": {part}") }
}

/// Resolves an empty part to the whole, or to the only part; `None` for an unknown part.
pub fn default_part<'a>(part: &'a str, parts: &[&'a str]) -> Option<&'a str> {
    match (part, parts) {
        ("", [only]) => Some(only),
        ("", parts) => parts.contains(&OVERALL_PART).then_some(OVERALL_PART),
        (part, parts) => parts.contains(&part).then_some(part),
    }
}

/// Returns whether a series has parts for at least three of URS's intents.
fn has_intents(series: &published::Published) -> bool {
    series.of == SubjectKind::Model && series.parts().iter().filter(|part| intent(part).is_some()).count() >= 3
}

/// Computes the mean over the models for each intent.
fn by_intent(series: &published::Published) -> BTreeMap<String, f64> {
    let parts = series.parts();
    let of = |part: &&str| Some((intent(part)?.to_owned(), mean(series.part(part).into_values())?));
    parts.iter().filter_map(of).collect()
}

/// Returns the arena's label of a URS intent. `API` marks the channel of prompts of other intents and is not an intent.
pub fn intent(part: &str) -> Option<&'static str> {
    if part == "API" { None } else { Scheme::Urs.label(Scheme::Urs.position(part).ok()?) }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    crate::stats::distribution::mean(&values.collect::<Vec<_>>()).ok()
}

/// Part of a suite or published series with one number per intent instead of per model.
pub const INTENTS_PART: &str = "intents";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_are_means_over_the_models() {
        let series = published::by_id("urs").unwrap();
        let values = by_intent(series);
        assert_eq!(values.len(), 6, "{values:?}");
        let leisure: Vec<f64> = series.part("Leisure").into_values().collect();
        assert!(
            (values["leisure"] - leisure.iter().sum::<f64>() / crate::stats::real_len(leisure.len())).abs() < 1e-12
        );
    }

    #[test]
    fn imported_scores_are_read_by_name_and_part() {
        let row = |part, model, score| ImportedScore { part, model, score, source: "web" };
        let rows = vec![row("", "a", 1.0), row("math", "a", 2.0), row("", "b", 3.0)];
        assert_eq!(split("theirs: v2:math", |id| id == "theirs: v2"), Some(("theirs: v2", "math")));
        let whole = of_imported(rows.clone(), "theirs: v2", "").unwrap();
        assert_eq!(whole.values, BTreeMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 3.0)]));
        assert_eq!(of_imported(rows.clone(), "theirs: v2", "math").unwrap().values.len(), 1);
        assert!(of_imported(rows, "theirs: v2", "fame").err().unwrap().to_string().contains("math, overall"));
    }
}
