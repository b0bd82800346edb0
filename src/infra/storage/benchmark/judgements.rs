//! Judgements of answers: insert-only, with the judge's reply verbatim. One request may have several failures, but only one readable
//! verdict.

use serde_json::Value;
use sqlx_macros::FromRow;

use crate::domain::benchmark::record::{AnswerRound, JudgedGroup};
use crate::domain::benchmark::scores::judgement::{Game, JudgeTokens, Judgement, Status};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::judging::token_probabilities::NumberToken;
use crate::domain::judging::verdict::{Rating, Verdict};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::benchmark::answers::BenchFilter;
use crate::storage::{Database, Store, StoreError, on_reader, on_writer, on_writer_once, signed, unsigned};
use sqlx::Connection;

const INSERT: &str = "INSERT INTO bench_judgements (id, suite, version, sample, variant, item, turn, model, judge, baseline, \
     game, source, prompt_sha256, params, raw_text, earlier, parsed, status, attempts, latency_ms, input_tokens, \
     output_tokens, created_at, reasoning, number_tokens) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
     $24, $25) \
     ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT id, suite, version, sample, variant, item, turn, model, judge, baseline, game, source, \
     prompt_sha256, params, raw_text, earlier, reasoning, number_tokens, parsed, status, attempts, latency_ms, input_tokens, output_tokens, \
     created_at \
     FROM bench_judgements WHERE suite = $1 AND version = $2 AND sample = $3 \
     AND ($4 = '' OR model = $4) AND ($5 = '' OR item = $5) ORDER BY created_at, id";
const SELECT_OF_ITEM: &str = "SELECT id, suite, version, sample, variant, item, turn, model, judge, baseline, game, source, \
     prompt_sha256, params, raw_text, earlier, reasoning, number_tokens, parsed, status, attempts, latency_ms, input_tokens, output_tokens, \
     created_at \
     FROM bench_judgements WHERE suite = $1 AND version = $2 AND sample = $3 \
     AND ($4 = '' OR model = $4) AND item = $5 ORDER BY created_at, id";
/// Without the judge's reply, the largest part of a row.
const SELECT_VERDICTS: &str = "SELECT id, suite, version, sample, variant, item, turn, model, judge, baseline, game, source, \
     prompt_sha256, params, '' AS raw_text, '[]' AS earlier, '' AS reasoning, '' AS number_tokens, parsed, status, attempts, latency_ms, input_tokens, \
     output_tokens, created_at \
     FROM bench_judgements WHERE suite = $1 AND version = $2 AND sample = $3 \
     AND ($4 = '' OR model = $4) AND ($5 = '' OR item = $5) ORDER BY created_at, id";
/// Rows with 0 attempts are copies themselves.
const SELECT_KNOWN: &str = "SELECT id, suite, version, sample, variant, item, turn, model, judge, baseline, game, source, \
     prompt_sha256, params, raw_text, earlier, reasoning, number_tokens, parsed, status, attempts, latency_ms, input_tokens, output_tokens, \
     created_at \
     FROM bench_judgements WHERE judge = $1 AND prompt_sha256 = $2 AND params = $3 AND source = '' AND attempts > 0 \
     AND status <> 'transport_failed' \
     ORDER BY CASE status WHEN 'ok' THEN 0 ELSE 1 END, created_at DESC, id LIMIT 1";

/// Index-only.
const COUNT: &str = "SELECT COUNT(*) FROM bench_judgements WHERE suite = $1 AND version = $2";
const POSTGRES_COUNT_ALL: &str = "SELECT (SELECT COUNT(*) FROM bench_suites) + (SELECT COUNT(*) FROM bench_answers) + \
     (SELECT COUNT(*) FROM bench_judgements)";
/// SQLite would count hundreds of thousands of rows one by one. Its row ids start at 1, and rows are never deleted.
const SQLITE_COUNT_ALL: &str = "SELECT (SELECT COUNT(*) FROM bench_suites) \
     + (SELECT COALESCE(MAX(rowid), 0) FROM bench_answers) + (SELECT COALESCE(MAX(rowid), 0) FROM bench_judgements)";
/// Judged requests with a verdict, index-only: there is one verdict for each.
const SELECT_JUDGED: &str = "SELECT sample, variant, judge, baseline, model, 'ok', COUNT(*) FROM bench_judgements \
     WHERE suite = $1 AND version = $2 AND status = 'ok' GROUP BY sample, variant, model, judge, baseline";
/// Judged requests without a verdict, each counted once, however often it was tried.
const SELECT_FAILED: &str = "SELECT sample, variant, judge, baseline, model, failure, COUNT(*) FROM (\
     SELECT sample, variant, judge, baseline, model, MIN(status) AS failure FROM bench_judgements AS failed \
     WHERE suite = $1 AND version = $2 AND status <> 'ok' AND NOT EXISTS (SELECT 1 FROM bench_judgements AS judged \
     WHERE judged.suite = failed.suite AND judged.version = failed.version AND judged.sample = failed.sample \
     AND judged.variant = failed.variant AND judged.model = failed.model AND judged.judge = failed.judge \
     AND judged.baseline = failed.baseline AND judged.item = failed.item AND judged.turn = failed.turn \
     AND judged.game = failed.game AND judged.prompt_sha256 = failed.prompt_sha256 AND judged.status = 'ok') \
     GROUP BY sample, variant, judge, baseline, model, item, turn, game, prompt_sha256) AS failures \
     GROUP BY sample, variant, judge, baseline, model, failure";
const SELECT_LATEST: &str = "SELECT MAX(created_at) FROM bench_judgements WHERE suite = $1 AND version = $2";

/// A stored judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchJudgementRow {
    /// Id of the judgement.
    pub id: String,
    /// Sample number of the judged answer, from 1.
    pub sample: u32,
    /// Judging variant if it differs from the suite's own; else empty.
    pub variant: String,
    /// Baseline model; empty if there was none.
    pub baseline: String,
    /// Source file of an import; empty if the judge was queried here.
    pub source: String,
    /// Earlier replies, which could not be parsed.
    pub earlier: Vec<String>,
    /// Reasoning of the judge, if the provider sent it separately.
    pub reasoning: String,
    /// Numbers of the reply with their alternatives, if the provider returned them.
    pub number_tokens: Vec<NumberToken>,
    /// Reply and verdict.
    pub judgement: Judgement,
}

/// Whether to read the judge's reply too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeText {
    /// All columns.
    Yes,
    /// Without the reply's text.
    No,
}

macro_rules! insert_judgement {
    ($row:expr, $verdict:expr) => {{
        let said = &$row.judgement;
        sqlx::query(INSERT)
            .bind(&$row.id)
            .bind(&said.suite)
            .bind(&said.suite_version)
            .bind(i64::from($row.sample))
            .bind(&$row.variant)
            .bind(&said.item_id)
            .bind(i64::from(said.turn))
            .bind(&said.model)
            .bind(&said.judge_model)
            .bind(&$row.baseline)
            .bind(i64::from(u8::from(said.game)))
            .bind(&$row.source)
            .bind(&said.judge_prompt_sha256)
            .bind(json(&said.params))
            .bind(&said.raw_text)
            .bind(json(&$row.earlier))
            .bind($verdict)
            .bind(said.status.as_str())
            .bind(i64::from(said.attempts))
            .bind(signed(said.latency_ms.unwrap_or_default()))
            .bind(said.tokens.map(|tokens| signed(tokens.prompt)))
            .bind(said.tokens.map(|tokens| signed(tokens.reply)))
            .bind(said.ts)
            .bind(&$row.reasoning)
            .bind(number_tokens(&$row.number_tokens))
    }};
}

/// Serialises sampling parameters as they are stored and compared.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain numbers and texts")
}

/// Serialises number tokens; most replies have none.
fn number_tokens(tokens: &[NumberToken]) -> String {
    if tokens.is_empty() { String::new() } else { json(&tokens) }
}

fn verdict_texts(rows: &[BenchJudgementRow]) -> Result<Vec<String>, StoreError> {
    rows.iter().map(verdict_text).collect()
}

/// Serialises a verdict. JSON has no infinite number, and its replacement could not be read back.
fn verdict_text(row: &BenchJudgementRow) -> Result<String, StoreError> {
    let parsed = &row.judgement.parsed;
    let lost = match parsed {
        Some(Verdict::Rating(Rating { score, written, dimensions })) => {
            std::iter::once(score).chain(written).chain(dimensions.values()).find(|score| !score.is_finite())
        }
        _ => None,
    };
    match lost {
        None => Ok(json(parsed)),
        Some(score) => Err(StoreError::Inconsistent {
            table: "bench_judgements",
            column: "parsed",
            row: row.id.clone(),
            value: score.to_string(),
        }),
    }
}

impl Store {
    /// Inserts judgements, except for duplicate verdicts; all of them in one commit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_judgements(&self, rows: &[BenchJudgementRow]) -> Result<(), StoreError> {
        let _time = store_time("insert_judgements");
        let verdicts = verdict_texts(rows)?;
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for (row, verdict) in rows.iter().zip(&verdicts) {
                insert_judgement!(row, verdict).execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// Imports verdicts, all or none. Returns the number of new ones.
    ///
    /// # Errors
    /// [`StoreError`]; then none was stored.
    pub async fn import_judgements(&self, rows: &[BenchJudgementRow]) -> Result<u64, StoreError> {
        let _time = store_time("import_judgements");
        let verdicts = verdict_texts(rows)?;
        on_writer_once!(self, |connection| {
            let (mut tx, mut new) = (connection.begin().await?, 0);
            for (row, verdict) in rows.iter().zip(&verdicts) {
                new += insert_judgement!(row, verdict).execute(&mut *tx).await?.rows_affected();
            }
            tx.commit().await.map(|()| new)
        })
    }

    /// Reads the judgements that match the filter, in insertion order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_judgements(
        &self,
        set: &AnswerRound,
        filter: BenchFilter<'_>,
        words: IncludeText,
    ) -> Result<Vec<BenchJudgementRow>, StoreError> {
        let _time = store_time("bench_judgements");
        let select = match (words, filter.item) {
            (IncludeText::Yes, Some(_)) => SELECT_OF_ITEM,
            (IncludeText::Yes, None) => SELECT,
            (IncludeText::No, _) => SELECT_VERDICTS,
        };
        let rows: Vec<RawJudgement> = on_reader!(self, |pool| {
            sqlx::query_as(select)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .bind(filter.model.unwrap_or_default())
                .bind(filter.item.unwrap_or_default())
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(BenchJudgementRow::try_from).collect()
    }

    /// Counts the judgements over a data file. They are never removed, so the count detects new ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judgement_count(&self, suite: &SuiteId, version: &str) -> Result<u64, StoreError> {
        let _time = store_time("judgement_count");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT)
            .bind(suite.as_str())
            .bind(version)
            .fetch_one(pool)
            .await)?;
        unsigned(count, "bench_judgements", "COUNT(*)", "")
    }

    /// Counts all data files, answers and judgements.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_row_count(&self) -> Result<u64, StoreError> {
        let _time = store_time("bench_row_count");
        let select = match self.database {
            Database::Sqlite(_) => SQLITE_COUNT_ALL,
            Database::Postgres(_) => POSTGRES_COUNT_ALL,
        };
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(select).fetch_one(pool).await)?;
        unsigned(count, "bench_judgements", "COUNT(*)", "")
    }

    /// Counts the judgements over a data file by result.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judged(&self, suite: &SuiteId, version: &str) -> Result<Vec<JudgedGroup>, StoreError> {
        let _time = store_time("judged");
        type Row = (i64, String, String, String, String, String, i64);
        let mut rows: Vec<Row> = Vec::new();
        for select in [SELECT_JUDGED, SELECT_FAILED] {
            let found: Vec<Row> = on_reader!(self, |pool| {
                sqlx::query_as(select).bind(suite.as_str()).bind(version).fetch_all(pool).await
            })?;
            rows.extend(found);
        }
        rows.sort();
        let row = |(sample, variant, judge, baseline, model, status, count): Row| {
            let number = |value, column| unsigned(value, "bench_judgements", column, &model);
            Ok(JudgedGroup {
                sample: u32::try_from(number(sample, "sample")?).unwrap_or(u32::MAX),
                count: number(count, "COUNT(*)")?,
                variant,
                judge,
                baseline,
                model,
                status: status.parse().map_err(|_| StoreError::Inconsistent {
                    table: "bench_judgements",
                    column: "status",
                    row: suite.to_string(),
                    value: status,
                })?,
            })
        };
        rows.into_iter().map(row).collect()
    }

    /// Reads the time of the latest judgement over a data file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judged_at(&self, suite: &SuiteId, version: &str) -> Result<Option<Timestamp>, StoreError> {
        let _time = store_time("judged_at");
        let latest: Option<i64> = on_reader!(self, |pool| sqlx::query_scalar(SELECT_LATEST)
            .bind(suite.as_str())
            .bind(version)
            .fetch_one(pool)
            .await)?;
        Ok(latest.map(Timestamp))
    }

    /// Finds a judge's earlier reply to exactly this prompt, if it was queried here: a readable verdict before any other.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn known_judgement(
        &self,
        judge: &str,
        prompt_sha256: &str,
        params: &crate::domain::benchmark::item::ItemSampling,
    ) -> Result<Option<BenchJudgementRow>, StoreError> {
        let _time = store_time("known_judgement");
        let params = json(params);
        let row: Option<RawJudgement> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_KNOWN).bind(judge).bind(prompt_sha256).bind(&params).fetch_optional(pool).await
        })?;
        row.map(BenchJudgementRow::try_from).transpose()
    }
}

#[derive(FromRow)]
struct RawJudgement {
    id: String,
    suite: String,
    version: String,
    sample: i64,
    variant: String,
    item: String,
    turn: i64,
    model: String,
    judge: String,
    baseline: String,
    game: i64,
    source: String,
    prompt_sha256: String,
    params: String,
    raw_text: String,
    earlier: String,
    reasoning: String,
    number_tokens: String,
    parsed: String,
    status: String,
    attempts: i64,
    latency_ms: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    created_at: i64,
}

impl RawJudgement {
    fn broken(&self, column: &'static str, value: impl ToString) -> StoreError {
        StoreError::Inconsistent { table: "bench_judgements", column, row: self.id.clone(), value: value.to_string() }
    }

    fn small(&self, value: i64, column: &'static str) -> Result<u32, StoreError> {
        u32::try_from(value).map_err(|_| self.broken(column, value))
    }

    fn read<T: serde::de::DeserializeOwned>(&self, text: &str, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|_| self.broken(column, text))
    }

    fn tokens(&self) -> Result<Option<JudgeTokens>, StoreError> {
        let count = |value, column| unsigned(value, "bench_judgements", column, &self.id);
        let (Some(prompt), Some(reply)) = (self.input_tokens, self.output_tokens) else { return Ok(None) };
        Ok(Some(JudgeTokens { prompt: count(prompt, "input_tokens")?, reply: count(reply, "output_tokens")? }))
    }
}

/// Whether a stored verdict has a null in place of an infinite score: it has no score, and the rest of its suite counts without it.
pub(in crate::storage) fn has_null_score(verdict: &str) -> bool {
    let null = |value: &Value| value.is_null();
    serde_json::from_str::<Value>(verdict).is_ok_and(|verdict| {
        let dimensions = verdict.get("rating").and_then(Value::as_object);
        verdict.get("score").is_some_and(null) || dimensions.is_some_and(|scores| scores.values().any(null))
    })
}

impl TryFrom<RawJudgement> for BenchJudgementRow {
    type Error = StoreError;

    fn try_from(raw: RawJudgement) -> Result<Self, StoreError> {
        let game = u8::try_from(raw.game).ok().and_then(|game| Game::try_from(game).ok());
        let parsed = match raw.read(&raw.parsed, "parsed") {
            Err(_) if has_null_score(&raw.parsed) => None,
            read => Some(read?),
        };
        let status = raw.status.parse().map_err(|_| raw.broken("status", &raw.status));
        let judgement = Judgement {
            turn: raw.small(raw.turn, "turn")?,
            params: raw.read(&raw.params, "params")?,
            game: game.ok_or_else(|| raw.broken("game", raw.game))?,
            status: parsed.as_ref().map_or(Ok(Status::OutOfRange), |_| status)?,
            parsed: parsed.flatten(),
            attempts: raw.small(raw.attempts, "attempts")?,
            latency_ms: Some(unsigned(raw.latency_ms, "bench_judgements", "latency_ms", &raw.id)?),
            tokens: raw.tokens()?,
            ts: raw.created_at,
            suite: raw.suite.clone(),
            suite_version: raw.version.clone(),
            item_id: raw.item.clone(),
            model: raw.model.clone(),
            judge_model: raw.judge.clone(),
            judge_prompt_sha256: raw.prompt_sha256.clone(),
            raw_text: raw.raw_text.clone(),
        };
        Ok(Self {
            sample: raw.small(raw.sample, "sample")?,
            earlier: raw.read(&raw.earlier, "earlier")?,
            number_tokens: match raw.number_tokens.as_str() {
                "" => Vec::new(),
                tokens => raw.read(tokens, "number_tokens")?,
            },
            reasoning: raw.reasoning,
            id: raw.id,
            variant: raw.variant,
            baseline: raw.baseline,
            source: raw.source,
            judgement,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_whose_number_is_lost_is_distinguished_from_the_others() {
        assert!(has_null_score(r#"{"score":null,"rating":{}}"#));
        assert!(has_null_score(r#"{"score":7.0,"rating":{"清晰度":null}}"#));
        for other in ["null", "{", r#"{"choice":null,"correct":false}"#, r#"{"score":7.0,"rating":{"score":1.0}}"#] {
            assert!(!has_null_score(other), "{other}");
        }
    }
}
