//! Models' answers to the items of suites: insert-only, one row for each item, turn, model and sample.

use sqlx_macros::FromRow;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::record::{AnswerRound, BenchAnswerRow};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::judging::budget::Tokens;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, on_writer_once, signed, unsigned};
use sqlx::Connection;

const INSERT: &str = "INSERT INTO bench_answers (id, suite, version, ask_sha256, sample, item, turn, model, source, params, \
     text, attempts, latency_ms, input_tokens, output_tokens, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT id, item, turn, model, ask_sha256, source, params, text, attempts, latency_ms, input_tokens, \
     output_tokens, created_at FROM bench_answers WHERE suite = $1 AND version = $2 AND sample = $3 \
     AND ($4 = '' OR model = $4) AND ($5 = '' OR item = $5) ORDER BY model, item, turn";
const SELECT_OF_ITEM: &str = "SELECT id, item, turn, model, ask_sha256, source, params, text, attempts, latency_ms, input_tokens, \
     output_tokens, created_at FROM bench_answers WHERE suite = $1 AND version = $2 AND sample = $3 \
     AND ($4 = '' OR model = $4) AND item = $5 ORDER BY model, turn";
const SELECT_LENGTHS: &str = "SELECT item, turn, model, CAST(LENGTH(text) AS BIGINT) FROM bench_answers WHERE suite = $1 AND version = $2 \
     AND sample = $3";
const SELECT_MODELS: &str = "SELECT sample, model, COUNT(*), MAX(created_at) FROM bench_answers WHERE suite = $1 \
     AND version = $2 GROUP BY sample, model ORDER BY sample, model";

const SELECT_TOKENS: &str = "SELECT model, CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), \
     CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) FROM bench_answers WHERE suite = $1 AND version = $2 AND sample = $3 \
     GROUP BY model ORDER BY model";

/// Filter of the rows of an [`AnswerRound`]; `None` means all models or all items.
#[derive(Debug, Clone, Copy, Default)]
pub struct BenchFilter<'f> {
    /// Only this model.
    pub model: Option<&'f str>,
    /// Only this item.
    pub item: Option<&'f str>,
}

impl<'f> BenchFilter<'f> {
    /// Selects all rows.
    pub const ALL: Self = Self { model: None, item: None };

    /// Selects the rows of one model.
    #[must_use]
    pub fn of_model(model: &'f ModelId) -> Self {
        Self { model: Some(model.as_str()), item: None }
    }

    /// Selects the rows of one item.
    #[must_use]
    pub fn of_item(item: &'f str) -> Self {
        Self { model: None, item: Some(item) }
    }
}

/// Length of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLength {
    /// Id of the item.
    pub item: String,
    /// Turn, from 1.
    pub turn: u32,
    /// Id of the model.
    pub model: String,
    /// Length in characters.
    pub characters: u64,
}

/// Number of answers of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredModel {
    /// Sample number, from 1.
    pub sample: u32,
    /// Id of the model.
    pub model: String,
    /// Number of answers.
    pub answers: u64,
    /// Time of the latest answer.
    pub latest: Timestamp,
}

/// Builds the insert of one row for either database.
macro_rules! insert_answer {
    ($set:expr, $row:expr) => {
        sqlx::query(INSERT)
            .bind(&$row.id)
            .bind($set.suite.as_str())
            .bind(&$set.version)
            .bind(&$row.ask_sha256)
            .bind(i64::from($set.sample))
            .bind(&$row.item)
            .bind(i64::from($row.turn))
            .bind(&$row.model)
            .bind(&$row.source)
            .bind(&$row.params)
            .bind(&$row.text)
            .bind(i64::from($row.attempts))
            .bind(signed($row.latency_ms))
            .bind($row.input_tokens.map(signed))
            .bind($row.output_tokens.map(signed))
            .bind($row.created_at.0)
    };
}

impl Store {
    /// Inserts answers in one commit; existing ones stay.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_answers(&self, set: &AnswerRound, rows: &[BenchAnswerRow]) -> Result<(), StoreError> {
        let _time = store_time("insert_answers");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for row in rows {
                insert_answer!(set, row).execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// Imports answers, all or none; existing ones stay. Returns the number of new ones.
    ///
    /// # Errors
    /// [`StoreError`]; then none was stored.
    pub async fn import_answers(&self, set: &AnswerRound, rows: &[BenchAnswerRow]) -> Result<u64, StoreError> {
        let _time = store_time("import_answers");
        on_writer_once!(self, |connection| {
            let (mut tx, mut new) = (connection.begin().await?, 0);
            for row in rows {
                new += insert_answer!(set, row).execute(&mut *tx).await?.rows_affected();
            }
            tx.commit().await.map(|()| new)
        })
    }

    /// Reads the answers that match the filter.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_answers(
        &self,
        set: &AnswerRound,
        filter: BenchFilter<'_>,
    ) -> Result<Vec<BenchAnswerRow>, StoreError> {
        let _time = store_time("bench_answers");
        let select = if filter.item.is_some() { SELECT_OF_ITEM } else { SELECT };
        let rows: Vec<RawAnswer> = on_reader!(self, |pool| {
            sqlx::query_as(select)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .bind(filter.model.unwrap_or_default())
                .bind(filter.item.unwrap_or_default())
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(BenchAnswerRow::try_from).collect()
    }

    /// Sums the tokens of each model's answers, as far as its provider reported them.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn answer_tokens(&self, set: &AnswerRound) -> Result<Vec<(String, Tokens)>, StoreError> {
        let _time = store_time("answer_tokens");
        let rows: Vec<(String, i64, i64)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_TOKENS)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .fetch_all(pool)
                .await
        })?;
        let row = |(model, input, output): (String, i64, i64)| {
            let count = |value, column| unsigned(value, "bench_answers", column, &model);
            let tokens = Tokens { input: count(input, "input_tokens")?, output: count(output, "output_tokens")? };
            Ok((model, tokens))
        };
        rows.into_iter().map(row).collect()
    }

    /// Reads the length of each answer, in no particular order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn answer_lengths(&self, set: &AnswerRound) -> Result<Vec<AnswerLength>, StoreError> {
        let _time = store_time("answer_lengths");
        let rows: Vec<(String, i64, String, i64)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_LENGTHS)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .fetch_all(pool)
                .await
        })?;
        let row = |(item, turn, model, length): (String, i64, String, i64)| {
            let turn = u32::try_from(unsigned(turn, "bench_answers", "turn", &item)?).unwrap_or(u32::MAX);
            let characters = unsigned(length, "bench_answers", "text", &item)?;
            Ok(AnswerLength { item, turn, model, characters })
        };
        rows.into_iter().map(row).collect()
    }

    /// Counts answers by sample and model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn answered(&self, suite: &SuiteId, version: &str) -> Result<Vec<AnsweredModel>, StoreError> {
        let _time = store_time("answered");
        type Row = (i64, String, i64, i64);
        let rows: Vec<Row> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_MODELS).bind(suite.as_str()).bind(version).fetch_all(pool).await
        })?;
        let row = |(sample, model, answers, latest): Row| {
            let answers = unsigned(answers, "bench_answers", "COUNT(*)", &model)?;
            Ok(AnsweredModel {
                sample: checked_u32(sample, "sample", &model)?,
                model,
                answers,
                latest: Timestamp(latest),
            })
        };
        rows.into_iter().map(row).collect()
    }
}

#[derive(FromRow)]
struct RawAnswer {
    id: String,
    item: String,
    turn: i64,
    model: String,
    ask_sha256: String,
    source: String,
    params: String,
    text: String,
    attempts: i64,
    latency_ms: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    created_at: i64,
}

impl TryFrom<RawAnswer> for BenchAnswerRow {
    type Error = StoreError;

    fn try_from(raw: RawAnswer) -> Result<Self, StoreError> {
        let count = |value: i64, column| unsigned(value, "bench_answers", column, &raw.id);
        Ok(Self {
            turn: checked_u32(raw.turn, "turn", &raw.id)?,
            attempts: checked_u32(raw.attempts, "attempts", &raw.id)?,
            latency_ms: count(raw.latency_ms, "latency_ms")?,
            input_tokens: raw.input_tokens.map(|value| count(value, "input_tokens")).transpose()?,
            output_tokens: raw.output_tokens.map(|value| count(value, "output_tokens")).transpose()?,
            created_at: Timestamp(raw.created_at),
            id: raw.id,
            item: raw.item,
            model: raw.model,
            ask_sha256: raw.ask_sha256,
            source: raw.source,
            params: raw.params,
            text: raw.text,
        })
    }
}

fn checked_u32(value: i64, column: &'static str, row: &str) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::Inconsistent {
        table: "bench_answers",
        column,
        row: row.to_owned(),
        value: value.to_string(),
    })
}
