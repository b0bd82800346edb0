//! Reads all judgements of an annotator as one row with one text per column, as [`vote_pages`](crate::storage::vote::pages) reads votes:
//! a separate row for each of many thousands of judgements takes several times longer in a driver.

use sqlx::{AssertSqlSafe, Row};
use sqlx_macros::FromRow;

use crate::domain::campaign::judged_rows::JudgedRow;
use crate::metrics::store_time;
use crate::storage::vote::pages::{RECORD_SEPARATOR, packed_values};
use crate::storage::{Database, Store, StoreError, on_reader};

/// Columns of a judgement. JSON escapes the [`RECORD_SEPARATOR`] between judgements, and no other column contains it.
const COLUMNS: [&str; 8] =
    ["a.unit", "a.item", "a.kind", "a.shown", "j.judgement", "j.answers", "a.given_at", "j.judged_at"];
const SELECT_IDS: &str =
    "SELECT id FROM campaign_annotators WHERE campaign = $1 AND judged > 0 ORDER BY LENGTH(id), id";

const SELECT_VERSION: &str = "SELECT (SELECT CAST(COALESCE(SUM(judged), 0) AS BIGINT) FROM campaign_annotators \
     WHERE campaign = $1) AS judgements, \
     (SELECT COALESCE(MAX(seen_at), 0) FROM campaign_annotators WHERE campaign = $1) AS seen_at, \
     (SELECT COUNT(*) FROM campaign_exclusions WHERE campaign = $1) AS left_out, \
     (SELECT COUNT(withdrawn_at) FROM campaign_exclusions WHERE campaign = $1) AS readmitted, \
     (SELECT COUNT(*) FROM campaign_verdicts WHERE campaign = $1) AS verdicts";

/// Version of a campaign's data; changes with every judgement, withdrawal, verdict or exclusion, as annotators update their last activity
/// with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct CampaignVersion {
    judgements: i64,
    seen_at: i64,
    left_out: i64,
    readmitted: i64,
    verdicts: i64,
}

/// Valid judgements of an annotator, in the order of their assignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotatorJudgements {
    /// Pseudonym of the annotator.
    pub annotator: String,
    columns: [String; COLUMNS.len()],
    count: usize,
}

impl AnnotatorJudgements {
    /// Creates the judgements from [`COLUMNS`], each `None` if the annotator has no judgement.
    fn new(annotator: &str, columns: [Option<String>; COLUMNS.len()]) -> Result<Self, StoreError> {
        let held = columns.each_ref().map(|column| column.as_deref().map_or(0, packed_values));
        // A missing or additional value would shift all that follow to another judgement.
        if let Some(at) = held.iter().position(|&values| values != held[0]) {
            return Err(StoreError::Inconsistent {
                table: "campaign_judgements",
                column: COLUMNS[at],
                row: format!("one of annotator {annotator}"),
                value: format!("{} values of {} judgements", held[at], held[0]),
            });
        }
        let columns = columns.map(Option::unwrap_or_default);
        Ok(Self { annotator: annotator.to_owned(), columns, count: held[0] })
    }

    /// Returns an iterator over the judgements.
    pub fn rows(&self) -> impl Iterator<Item = Result<JudgedRow<'_>, StoreError>> {
        let mut columns = self.columns.each_ref().map(|column| column.split(RECORD_SEPARATOR));
        (0..self.count).map(move |_| {
            let values = columns.each_mut().map(|column| column.next().unwrap_or_default());
            let [unit, item, kind, shown, judgement, answers, given_at, judged_at] = values;
            let number = |text: &str| text.parse::<i64>().map_err(|error| sqlx::Error::Decode(error.into()));
            let row = || {
                let (given_at, judged_at) = (number(given_at)?, number(judged_at)?);
                Ok(JudgedRow {
                    unit: number(unit)?,
                    item: number(item)?,
                    kind,
                    shown,
                    judgement,
                    answers,
                    given_at,
                    judged_at,
                })
            };
            row()
        })
    }
}

impl Store {
    /// Reads the version of a campaign's judgements.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_version(&self, campaign: &str) -> Result<CampaignVersion, StoreError> {
        let _time = store_time("campaign_version");
        on_reader!(self, |pool| sqlx::query_as(SELECT_VERSION).bind(campaign).fetch_one(pool).await)
    }

    /// Reads every annotator with a valid judgement in a campaign, in the order of their invitations.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn annotators_with_judgements(&self, campaign: &str) -> Result<Vec<String>, StoreError> {
        let _time = store_time("annotators_with_judgements");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_IDS).bind(campaign).fetch_all(pool).await)
    }

    /// Reads the valid judgements of an annotator.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judgements_of(&self, annotator: &str) -> Result<AnnotatorJudgements, StoreError> {
        let _time = store_time("judgements_of");
        // PostgreSQL needs the order in each aggregate; SQLite takes the values in the order of the inner query.
        let order = if matches!(self.database, Database::Sqlite(_)) { "" } else { " ORDER BY number" };
        let joined: Vec<String> =
            (0..COLUMNS.len()).map(|at| format!("string_agg(c{at}, '{RECORD_SEPARATOR}'{order})")).collect();
        let named: Vec<String> =
            COLUMNS.iter().enumerate().map(|(at, column)| format!("CAST({column} AS TEXT) AS c{at}")).collect();
        let query = format!(
            "SELECT {} FROM (SELECT a.number, {} FROM campaign_assignments a \
             JOIN campaign_judgements j ON j.assignment = a.id WHERE a.annotator = $1 AND j.withdrawn_at IS NULL \
             ORDER BY a.number) AS judged",
            joined.join(", "),
            named.join(", ")
        );
        let columns = on_reader!(self, |pool| {
            let row = sqlx::query(AssertSqlSafe(query.clone())).bind(annotator).fetch_one(pool).await?;
            let mut columns = [const { None::<String> }; COLUMNS.len()];
            for (at, column) in columns.iter_mut().enumerate() {
                *column = row.try_get(at)?;
            }
            Ok::<_, sqlx::Error>(columns)
        })?;
        AnnotatorJudgements::new(annotator, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(answers: Option<&str>) -> [Option<String>; 8] {
        let columns =
            ["0\u{1e}1", "7\u{1e}8", "fresh\u{1e}fresh", "[]\u{1e}[]", "{}\u{1e}{}", "", "1\u{1e}2", "3\u{1e}4"];
        let mut columns = columns.map(|column| Some(column.to_owned()));
        columns[5] = answers.map(str::to_owned);
        columns
    }

    #[test]
    fn a_value_too_many_or_too_few_is_an_error_and_moves_no_judgement() {
        let judged = AnnotatorJudgements::new("c-1", columns(Some("\u{1e}"))).unwrap();
        let rows: Vec<JudgedRow<'_>> = judged.rows().map(Result::unwrap).collect();
        assert_eq!((rows.len(), rows[1].unit, rows[1].answers, rows[1].judged_at), (2, 1, "", 4));
        for answers in [Some("a"), Some("a\u{1e}b\u{1e}c"), None] {
            let error = AnnotatorJudgements::new("c-1", columns(answers)).unwrap_err().to_string();
            assert!(error.contains("j.answers") && error.contains("of 2 judgements"), "{error}");
        }
        assert_eq!(AnnotatorJudgements::new("c-9", [const { None }; 8]).unwrap().rows().count(), 0);
    }
}
