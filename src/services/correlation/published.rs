//! Reads published series: the tables of the papers, and imported scores.

use super::ReadSeriesError;
use crate::domain::benchmark::published;
use crate::domain::correlation::papers::{PublishedValues, WHOLE, default_part, in_words, of_papers, split};
use crate::domain::correlation::{SeriesError, Subjects};
use crate::infra::storage::{PublishedScoreRow, Store};

/// The values of a published series.
///
/// # Errors
/// [`ReadSeriesError::Published`], [`SeriesError::Part`], or the database failed.
pub(super) async fn read(id: &str, store: Option<&Store>) -> Result<PublishedValues, ReadSeriesError> {
    if let Some((id, part)) = split(id, |id| published::by_id(id).is_some()) {
        return Ok(of_papers(published::by_id(id).expect("it was just found"), part)?);
    }
    let rows = match store {
        Some(store) => store.published_scores().await?,
        None => Vec::new(),
    };
    let Some((name, part)) = split(id, |id| rows.iter().any(|row| row.series == id)) else {
        let imported: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.series.as_str()).collect();
        let known: Vec<&str> = published::series().iter().map(|series| series.id.as_str()).chain(imported).collect();
        return Err(ReadSeriesError::Published { id: id.to_owned(), known: known.join(", ") });
    };
    of_rows(rows.into_iter().filter(|row| row.series == name).collect(), name, part)
}

fn of_rows(rows: Vec<PublishedScoreRow>, name: &str, part: &str) -> Result<PublishedValues, ReadSeriesError> {
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
    Ok(PublishedValues { title: format!("{name}{}", in_words(part)), source, subjects: Subjects::Models, values })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_printed_series_has_values() {
        let names: Vec<String> = crate::domain::correlation::papers::published_names().collect();
        assert!(names.len() > 40 && names.contains(&"published:urs:intents".to_owned()), "{names:?}");
        for name in names {
            let id = name.strip_prefix("published:").unwrap();
            let found = futures_util::FutureExt::now_or_never(read(id, None)).unwrap().unwrap();
            assert!(found.values.len() > 1 && !found.title.is_empty(), "{name}: {:?}", found.values);
        }
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
