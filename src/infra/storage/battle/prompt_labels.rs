//! Labels of prompts, with the author of each. The prompt of a label is the first one of a battle, and has the battle's id.
//!
//! Rows are inserted many at a time, as one JSON array per statement, which each database parses differently.

use crate::storage::vote::exclusions::IS_RATED;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection};
use sqlx_macros::FromRow;
use std::sync::LazyLock;

use crate::domain::labeling::LabelOrigin;
use crate::domain::labeling::final_labels::VoteLabel;
use crate::domain::labeling::queue::QueuedQuery;
use crate::domain::labeling::report::PromptLabel;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Database, Store, StoreError, VoteRange, on_reader, on_writer_once};

/// Maximum number of rows in one statement.
const MAX_ROWS_PER_STATEMENT: usize = 1_000;

const UPSERT: &str = "ON CONFLICT (query_id, scheme, source, labeled_by) DO UPDATE SET label = excluded.label, \
     confidence = excluded.confidence, ts = excluded.ts WHERE prompt_labels.label <> excluded.label \
     OR prompt_labels.confidence IS DISTINCT FROM excluded.confidence";
const INSERT: &str = "INSERT INTO prompt_labels (query_id, scheme, source, label, confidence, labeled_by, ts) \
     SELECT query_id, $2, $3, label, confidence, $4, CAST($5 AS BIGINT) FROM";
const ROWS_ON_SQLITE: &str = "(SELECT value->>'query_id' AS query_id, value->>'label' AS label, \
     value->>'confidence' AS confidence FROM json_each($1)) AS given WHERE TRUE";
const ROWS_ON_POSTGRES: &str = "jsonb_to_recordset($1::jsonb) AS given (query_id TEXT, label TEXT, \
     confidence DOUBLE PRECISION)";
/// The classifier and a model each have one proposed label per prompt.
const DELETE_OTHERS: &str = "DELETE FROM prompt_labels WHERE scheme = $2 AND source = 'model' AND labeled_by <> $3 \
     AND query_id IN (SELECT query_id FROM";
const SELECT_QUERIES: &str = "SELECT battle_id, prompt, model_a, model_b FROM turns JOIN battles ON battles.id = battle_id \
     WHERE turns.turn = 1 AND battle_id > $1 ORDER BY battle_id LIMIT $2";
const SELECT_KNOWN: &str = "SELECT battle_id FROM turns WHERE turn = 1 AND battle_id = $1";
const SELECT_QUEUE: &str = "SELECT labels.query_id, turns.prompt, labels.label, labels.confidence \
     FROM prompt_labels AS labels JOIN turns ON turns.battle_id = labels.query_id AND turns.turn = 1 \
     WHERE labels.scheme = $1 AND labels.source = 'model' AND NOT EXISTS (SELECT 1 FROM prompt_labels AS other \
     WHERE other.query_id = labels.query_id AND other.scheme = $1 AND (other.source IN ('seed', 'visitor') \
     OR other.source = 'review' AND other.labeled_by = $2)) ORDER BY labels.confidence, labels.query_id LIMIT $3";
const SELECT_CORRECTED: &str = "SELECT labels.query_id, turns.prompt, labels.label, labels.confidence \
     FROM prompt_labels AS labels JOIN turns ON turns.battle_id = labels.query_id AND turns.turn = 1 \
     WHERE labels.scheme = $1 AND labels.source = 'visitor' AND NOT EXISTS (SELECT 1 FROM prompt_labels AS other \
     WHERE other.query_id = labels.query_id AND other.scheme = $1 AND (other.source = 'seed' \
     OR other.source = 'review' AND other.labeled_by = $2)) ORDER BY labels.ts, labels.query_id LIMIT $3";
const SELECT_OF_PROMPT: &str = "SELECT query_id, source, labeled_by, label FROM prompt_labels \
     WHERE scheme = $1 AND query_id = $2 ORDER BY source, labeled_by";
const SELECT_LABELS: &str = "SELECT query_id, source, labeled_by, label FROM prompt_labels \
     WHERE scheme = $1 AND query_id > $2 AND query_id <= $3 ORDER BY query_id, source, labeled_by";
/// The join order is explicit: a page of votes looks up its labels, never all labels their votes.
static SELECT_OF_VOTES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT votes.seq, {IS_RATED} AS rated, votes.category, votes.intent, labels.source, labels.label \
         FROM votes CROSS JOIN prompt_labels AS labels WHERE votes.seq > $2 AND votes.seq <= $3 \
         AND labels.query_id = votes.battle_id AND labels.scheme = $1 ORDER BY votes.seq"
    )
});
const SELECT_CHANGED: &str = "SELECT COALESCE(MAX(ts), 0) FROM prompt_labels";

/// A prompt of the arena.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct PromptRow {
    /// Id of the prompt: the battle's.
    #[sqlx(rename = "battle_id")]
    pub id: String,
    /// Text of the prompt.
    pub prompt: String,
    model_a: String,
    model_b: String,
}

impl PromptRow {
    /// Returns the models of its battle.
    #[must_use]
    pub fn models(&self) -> [&str; 2] {
        [&self.model_a, &self.model_b]
    }
}

/// Author of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelSource<'a> {
    /// Label scheme.
    pub scheme: Scheme,
    /// Origin of the labels.
    pub source: LabelOrigin,
    /// Name of a reviewer or language model; empty for seeds, the classifier and the visitor who asked.
    pub name: &'a str,
}

/// Label to store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewLabel<'a> {
    /// Id of the prompt.
    pub query_id: &'a str,
    /// The label.
    pub label: &'a str,
    /// Confidence of a classifier.
    pub confidence: Option<f64>,
}

impl Store {
    /// Stores labels of an author in place of the author's earlier ones: all or none. Returns the number of new or changed labels.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn put_labels(
        &self,
        by: LabelSource<'_>,
        labels: &[NewLabel<'_>],
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let _time = store_time("put_labels");
        let rows = match &self.database {
            Database::Sqlite(_) => ROWS_ON_SQLITE,
            Database::Postgres(_) => ROWS_ON_POSTGRES,
        };
        let upsert = format!("{INSERT} {rows} {UPSERT}");
        let delete = format!("{DELETE_OTHERS} {rows})");
        on_writer_once!(self, |connection| {
            let (mut tx, mut changed) = (connection.begin().await?, 0);
            for page in labels.chunks(MAX_ROWS_PER_STATEMENT) {
                let json = serde_json::to_string(page).expect("a label is plain text and a finite number");
                if by.source == LabelOrigin::Model {
                    let others = sqlx::query(AssertSqlSafe(delete.as_str())).bind(&json);
                    others.bind(by.scheme.as_str()).bind(by.name).execute(&mut *tx).await?;
                }
                let done = sqlx::query(AssertSqlSafe(upsert.as_str()))
                    .bind(&json)
                    .bind(by.scheme.as_str())
                    .bind(by.source.as_str())
                    .bind(by.name)
                    .bind(at.0)
                    .execute(&mut *tx)
                    .await?;
                changed += done.rows_affected();
            }
            tx.commit().await.map(|()| changed)
        })
    }

    /// Reads the prompts after this one, ordered by id, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn queries_after(&self, last: &str, limit: u32) -> Result<Vec<PromptRow>, StoreError> {
        let _time = store_time("queries_after");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_QUERIES).bind(last).bind(i64::from(limit)).fetch_all(pool).await
        })
    }

    /// Whether there is a prompt with this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_query(&self, id: &str) -> Result<bool, StoreError> {
        let _time = store_time("has_query");
        let found: Option<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_KNOWN).bind(id).fetch_optional(pool).await)?;
        Ok(found.is_some())
    }

    /// Reads the prompts to review: neither seeds nor reviewed by this reviewer. Those labelled by visitors come first, then those with the
    /// lowest confidence of the model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn review_queue(
        &self,
        scheme: Scheme,
        reviewer: &str,
        limit: u32,
    ) -> Result<Vec<QueuedQuery>, StoreError> {
        let _time = store_time("review_queue");
        let mut queue: Vec<QueuedQuery> = Vec::new();
        for select in [SELECT_CORRECTED, SELECT_QUEUE] {
            let left = i64::from(limit).saturating_sub_unsigned(queue.len() as u64);
            let rows: Vec<(String, String, String, Option<f64>)> = on_reader!(self, |pool| {
                sqlx::query_as(select).bind(scheme.as_str()).bind(reviewer).bind(left).fetch_all(pool).await
            })?;
            queue.extend(rows.into_iter().map(|(query_id, text, suggested, confidence)| QueuedQuery {
                query_id,
                text,
                suggested,
                confidence: confidence.unwrap_or_default(),
            }));
        }
        Ok(queue)
    }

    /// Reads all labels of one prompt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn labels_of_prompt(&self, scheme: Scheme, id: &str) -> Result<Vec<PromptLabel>, StoreError> {
        let _time = store_time("labels_of_prompt");
        let rows: Vec<RawPromptLabel> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OF_PROMPT).bind(scheme.as_str()).bind(id).fetch_all(pool).await
        })?;
        rows.into_iter().map(prompt_label).collect()
    }

    /// Reads all labels of the prompts after the first id, up to the second, prompt by prompt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn labels_between(
        &self,
        scheme: Scheme,
        after: &str,
        upto: &str,
    ) -> Result<Vec<PromptLabel>, StoreError> {
        let _time = store_time("labels_between");
        let rows: Vec<RawPromptLabel> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_LABELS).bind(scheme.as_str()).bind(after).bind(upto).fetch_all(pool).await
        })?;
        rows.into_iter().map(prompt_label).collect()
    }

    /// Reads all labels of the prompts of votes in a range of numbers, vote by vote. Ignores the times of the range.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn labels_of_votes(&self, scheme: Scheme, range: VoteRange) -> Result<Vec<VoteLabel>, StoreError> {
        let _time = store_time("labels_of_votes");
        let rows: Vec<RawVoteLabel> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OF_VOTES.as_str())
                .bind(scheme.as_str())
                .bind(range.after)
                .bind(range.upto)
                .fetch_all(pool)
                .await
        })?;
        let label = |row: RawVoteLabel| {
            let given = match scheme {
                Scheme::Superclue => row.category,
                Scheme::Urs => row.intent,
            };
            let source = parse_source(&row.source, &row.seq.to_string())?;
            Ok(VoteLabel { seq: row.seq, rated: row.rated, given, source, label: row.label })
        };
        rows.into_iter().map(label).collect()
    }

    /// Reads the time of the latest label change; the epoch if there are no labels.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn labels_changed_at(&self) -> Result<Timestamp, StoreError> {
        let _time = store_time("labels_changed_at");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_CHANGED).fetch_one(pool).await).map(Timestamp)
    }
}

/// Prompt id, source, author, and label.
type RawPromptLabel = (String, String, String, String);

fn prompt_label((query_id, source, labeled_by, label): RawPromptLabel) -> Result<PromptLabel, StoreError> {
    Ok(PromptLabel { source: parse_source(&source, &query_id)?, query_id, labeled_by, label })
}

#[derive(FromRow)]
struct RawVoteLabel {
    seq: i64,
    rated: bool,
    category: Option<String>,
    intent: Option<String>,
    source: String,
    label: String,
}

fn parse_source(text: &str, row: &str) -> Result<LabelOrigin, StoreError> {
    LabelOrigin::parse(text).ok_or_else(|| StoreError::Inconsistent {
        table: "prompt_labels",
        column: "source",
        row: row.to_owned(),
        value: text.to_owned(),
    })
}
