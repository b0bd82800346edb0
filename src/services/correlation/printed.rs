//! What others have published: the papers' tables, which the program knows, and scores that were brought in.

use std::collections::BTreeMap;

use super::name::INTENTS;
use super::{SeriesError, Subjects};
use crate::annotation::scheme::Scheme;
use crate::benchmark::published::{self, SubjectKind, Unit};
use crate::storage::{PublishedScoreRow, Store};

/// The part that is meant where none is named.
const WHOLE: &str = "overall";

/// A published series: whose values, and of what.
pub(super) struct Printed {
    pub(super) title: String,
    /// Where it stands.
    pub(super) source: String,
    pub(super) subjects: Subjects,
    pub(super) values: BTreeMap<String, f64>,
}

/// Everything that the papers print, as `published:ID` or `published:ID:part`.
pub fn printed() -> impl Iterator<Item = String> {
    published::series().iter().flat_map(|series| {
        let intents = has_intents(series).then(|| format!("published:{}:{INTENTS}", series.id));
        let parts = series.parts().into_iter().map(|part| match part {
            WHOLE => format!("published:{}", series.id),
            part => format!("published:{}:{part}", series.id),
        });
        parts.chain(intents).collect::<Vec<_>>()
    })
}

/// Whether the papers print it, so that no database is needed.
pub(super) fn is_printed(id: &str) -> bool {
    split(id, |id| published::by_id(id).is_some()).is_some()
}

/// The values of a published series.
///
/// # Errors
/// [`SeriesError::Published`], [`SeriesError::Part`], or the database failed.
pub(super) async fn read(id: &str, store: Option<&Store>) -> Result<Printed, SeriesError> {
    if let Some((id, part)) = split(id, |id| published::by_id(id).is_some()) {
        return of_papers(published::by_id(id).expect("it was just found"), part);
    }
    let rows = match store {
        Some(store) => store.published_scores().await?,
        None => Vec::new(),
    };
    let Some((name, part)) = split(id, |id| rows.iter().any(|row| row.series == id)) else {
        let brought: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.series.as_str()).collect();
        let known: Vec<&str> = published::series().iter().map(|series| series.id.as_str()).chain(brought).collect();
        return Err(SeriesError::Published { id: id.to_owned(), known: known.join(", ") });
    };
    of_rows(rows.into_iter().filter(|row| row.series == name).collect(), name, part)
}

/// The name of a series, which may hold colons itself, and the part behind it.
fn split(id: &str, is_known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let colons = id.match_indices(':').map(|(at, _)| (&id[..at], &id[at + 1..]));
    std::iter::once((id, "")).chain(colons.collect::<Vec<_>>().into_iter().rev()).find(|(name, _)| is_known(name))
}

fn of_papers(series: &published::Published, part: &str) -> Result<Printed, SeriesError> {
    let title = format!("{}{}", series.title, in_words(part));
    let source = match &series.note {
        Some(note) => format!("{}; {note}", series.source),
        None => series.source.clone(),
    };
    if part == INTENTS && has_intents(series) {
        return Ok(Printed { title, source, subjects: Subjects::Intents, values: by_intent(series) });
    }
    let part = default_part(part, &series.parts()).ok_or_else(|| SeriesError::Part {
        series: format!("published:{}", series.id),
        part: part.to_owned(),
        known: series.parts().join(", "),
    })?;
    let subjects = if series.of == SubjectKind::Method { Subjects::Methods } else { Subjects::Models };
    let values = series.part(part).into_iter().map(|(subject, value)| (subject.to_owned(), value)).collect();
    Ok(Printed { title: title + unit(series.unit), source, subjects, values })
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => ", %",
        Unit::OneToTen | Unit::Correlation | Unit::Share => "",
    }
}

fn in_words(part: &str) -> String {
    if part.is_empty() { String::new() } else { format!(": {part}") }
}

/// The whole where no part is named, or the only part that there is.
fn default_part<'a>(part: &'a str, parts: &[&'a str]) -> Option<&'a str> {
    match (part, parts) {
        ("", [only]) => Some(only),
        ("", parts) => parts.contains(&WHOLE).then_some(WHOLE),
        (part, parts) => parts.contains(&part).then_some(part),
    }
}

fn of_rows(rows: Vec<PublishedScoreRow>, name: &str, part: &str) -> Result<Printed, SeriesError> {
    let own = |row: &PublishedScoreRow| if row.part.is_empty() { WHOLE.to_owned() } else { row.part.clone() };
    let keys: std::collections::BTreeSet<String> = rows.iter().map(own).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let wanted = default_part(part, &keys).ok_or_else(|| SeriesError::Part {
        series: format!("published:{name}"),
        part: part.to_owned(),
        known: keys.join(", "),
    })?;
    let of_part: Vec<PublishedScoreRow> = rows.into_iter().filter(|row| own(row) == wanted).collect();
    let sources: std::collections::BTreeSet<&str> = of_part.iter().map(|row| row.source.as_str()).collect();
    let source = sources.into_iter().collect::<Vec<_>>().join("; ");
    let values = of_part.into_iter().map(|row| (row.model, row.score)).collect();
    Ok(Printed { title: format!("{name}{}", in_words(part)), source, subjects: Subjects::Models, values })
}

/// Whether it has a part for each of URS's intents.
fn has_intents(series: &published::Published) -> bool {
    series.of == SubjectKind::Model && series.parts().iter().filter(|part| intent(part).is_some()).count() >= 3
}

/// The mean over the models of each intent.
fn by_intent(series: &published::Published) -> BTreeMap<String, f64> {
    let parts = series.parts();
    let of = |part: &&str| Some((intent(part)?.to_owned(), mean(series.part(part).into_values())?));
    parts.iter().filter_map(of).collect()
}

/// The arena's name of an intent. What came through an API is a part of another intent, and no intent of its own.
pub(super) fn intent(part: &str) -> Option<&'static str> {
    if part == "API" { None } else { Scheme::Urs.label(Scheme::Urs.position(part).ok()?) }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    crate::stats::distribution::mean(&values.collect::<Vec<_>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_series_has_values() {
        let names: Vec<String> = printed().collect();
        assert!(names.len() > 40 && names.contains(&"published:urs:intents".to_owned()), "{names:?}");
        for name in names {
            let id = name.strip_prefix("published:").unwrap();
            let found = futures_util::FutureExt::now_or_never(read(id, None)).unwrap().unwrap();
            assert!(found.values.len() > 1 && !found.title.is_empty(), "{name}: {:?}", found.values);
        }
    }

    #[test]
    fn intents_are_means_over_the_models() {
        let series = published::by_id("urs").unwrap();
        let values = by_intent(series);
        assert_eq!(values.len(), 6, "{values:?}");
        let leisure: Vec<f64> = series.part("Leisure").into_values().collect();
        assert!(
            (values["leisure"] - leisure.iter().sum::<f64>() / crate::rating::real_len(leisure.len())).abs() < 1e-12
        );
    }

    #[test]
    fn what_was_not_published_says_what_was() {
        let missing = |id| match futures_util::FutureExt::now_or_never(read(id, None)).unwrap() {
            Err(error) => error.to_string(),
            Ok(found) => panic!("{:?}", found.values),
        };
        assert!(missing("fame").contains("superclue_close"));
        assert!(missing("urs:fame").contains("Leisure"));
    }

    #[test]
    fn brought_scores_are_read_by_name_and_part() {
        let row = |part: &str, model: &str, score| PublishedScoreRow {
            series: "theirs: v2".into(),
            suite: "urs".into(),
            part: part.into(),
            model: model.into(),
            score,
            source: "web".into(),
        };
        let rows = vec![row("", "a", 1.0), row("math", "a", 2.0), row("", "b", 3.0)];
        assert_eq!(split("theirs: v2:math", |id| id == "theirs: v2"), Some(("theirs: v2", "math")));
        let whole = of_rows(rows.clone(), "theirs: v2", "").unwrap();
        assert_eq!(whole.values, BTreeMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 3.0)]));
        assert_eq!(of_rows(rows.clone(), "theirs: v2", "math").unwrap().values.len(), 1);
        assert!(of_rows(rows, "theirs: v2", "fame").err().unwrap().to_string().contains("math, overall"));
    }
}
