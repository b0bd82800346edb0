//! Reads published series: the tables of the papers, and imported scores.

use super::ReadSeriesError;
use crate::domain::benchmark::published;
use crate::domain::correlation::published_series::{ImportedScore, PublishedValues, of_imported, of_papers, split};
use crate::infra::storage::{PublishedScoreRow, Store};

/// Reads the values of a published series.
///
/// # Errors
/// [`ReadSeriesError::Published`], [`ReadSeriesError::Series`], or the database failed.
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
    let of_series = rows.iter().filter(|row| row.series == name);
    Ok(of_imported(of_series.map(imported).collect(), name, part)?)
}

fn imported(row: &PublishedScoreRow) -> ImportedScore<'_> {
    ImportedScore { part: &row.part, model: &row.model, score: row.score, source: &row.source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_series_has_values() {
        let names: Vec<String> = crate::domain::correlation::published_series::published_names().collect();
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
}
