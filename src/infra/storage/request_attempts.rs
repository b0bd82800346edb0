//! Billed attempts without a result, and requests that a provider rejected for good: insert-only.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use sqlx::Connection;
use sqlx_macros::FromRow;

use super::{Store, StoreError, on_reader, on_writer, signed, unsigned};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::run_report::PastRequests;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::judging::budget::Tokens;
use crate::domain::time::Timestamp;
use crate::llm::Usage;
use crate::llm::model_client::WholeReply;
use crate::metrics::store_time;

const TABLE: &str = "request_attempts";
const INSERT: &str = "INSERT INTO request_attempts (id, result, model, request_sha256, status, text, requests, latency_ms, \
     input_tokens, output_tokens, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
/// Attempts whose result is still missing.
const SELECT_OPEN: &str = "SELECT id, result, text, requests, latency_ms, input_tokens, output_tokens \
     FROM request_attempts AS attempt WHERE model = $1 AND request_sha256 = $2 AND status = 'unsettled' \
     AND NOT EXISTS (SELECT 1 FROM bench_answers WHERE bench_answers.id = attempt.result) \
     AND NOT EXISTS (SELECT 1 FROM bench_judgements WHERE bench_judgements.id = attempt.result) \
     AND NOT EXISTS (SELECT 1 FROM battle_verdicts WHERE battle_verdicts.id = attempt.result) \
     AND NOT EXISTS (SELECT 1 FROM campaign_verdicts WHERE campaign_verdicts.id = attempt.result) ORDER BY created_at, id";
const SELECT_REFUSED: &str =
    "SELECT DISTINCT request_sha256 FROM request_attempts WHERE model = $1 AND status = 'refused'";

/// Number of results, of their requests, of those with token counts, the sum of these tokens, and the maximum of a reply.
const PAST_USAGE_COLUMNS: &str = "COUNT(*), CAST(COALESCE(SUM(attempts), 0) AS BIGINT), COUNT(input_tokens + output_tokens), \
     CAST(COALESCE(SUM(CASE WHEN output_tokens IS NULL THEN 0 ELSE input_tokens END), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN input_tokens IS NULL THEN 0 ELSE output_tokens END), 0) AS BIGINT), \
     COALESCE(MAX(output_tokens), 0)";
/// Imported, reused and failed results say nothing about requests.
static SELECT_PAST_JUDGEMENTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {PAST_USAGE_COLUMNS} FROM bench_judgements WHERE judge = $1 AND suite = $2 AND source = '' AND attempts > 0 \
         AND status <> 'transport_failed'"
    )
});
static SELECT_PAST_ANSWERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {PAST_USAGE_COLUMNS} FROM bench_answers WHERE model = $1 AND suite = $2 AND source = '' AND attempts > 0"
    )
});

static SELECT_PAST_VERDICTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {PAST_USAGE_COLUMNS} FROM (SELECT judge, prompt_sha256, attempts, status, input_tokens, output_tokens FROM battle_verdicts \
         UNION ALL SELECT judge, prompt_sha256, attempts, status, input_tokens, output_tokens FROM campaign_verdicts) AS said \
         WHERE judge = $1 AND prompt_sha256 = $2 AND attempts > 0 AND status <> 'transport_failed'"
    )
});

/// Result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptStatus {
    /// A reply without a usable result.
    Unsettled,
    /// The provider rejects the request for good.
    Refused,
}

impl AttemptStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Unsettled => "unsettled",
            Self::Refused => "refused",
        }
    }
}

/// A stored attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// Id of the attempt.
    pub id: String,
    /// Id reserved for the answer, judgement or verdict.
    pub result: String,
    /// Id of the model or judge.
    pub model: ModelId,
    /// SHA-256 of the request.
    pub request_sha256: String,
    /// Result of the attempt.
    pub status: AttemptStatus,
    /// The reply, or the reason of the rejection.
    pub reply: WholeReply,
    /// End of the attempt.
    pub created_at: Timestamp,
}

/// Attempts whose result is still missing.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAttempts {
    /// Id reserved for the result.
    pub result: String,
    /// Replies in order of arrival.
    pub replies: Vec<WholeReply>,
}

#[derive(FromRow)]
struct RawAttempt {
    id: String,
    result: String,
    text: String,
    requests: i64,
    latency_ms: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
}

impl RawAttempt {
    fn reply(self) -> Result<WholeReply, StoreError> {
        let count = |value: i64, column| unsigned(value, TABLE, column, &self.id);
        Ok(WholeReply {
            attempts: u32::try_from(count(self.requests, "requests")?).unwrap_or(u32::MAX),
            latency: Duration::from_millis(count(self.latency_ms, "latency_ms")?),
            usage: Usage {
                input: self.input_tokens.map(|tokens| count(tokens, "input_tokens")).transpose()?,
                output: self.output_tokens.map(|tokens| count(tokens, "output_tokens")).transpose()?,
            },
            text: self.text,
            // Of unusable replies only the text is stored.
            reasoning: String::new(),
            numbers: Vec::new(),
            lost: Default::default(),
        })
    }
}

impl Store {
    /// Inserts attempts in one commit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_attempts(&self, rows: &[AttemptRow]) -> Result<(), StoreError> {
        let _time = store_time("insert_attempts");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for row in rows {
                sqlx::query(INSERT)
                    .bind(&row.id)
                    .bind(&row.result)
                    .bind(row.model.as_str())
                    .bind(&row.request_sha256)
                    .bind(row.status.as_str())
                    .bind(&row.reply.text)
                    .bind(i64::from(row.reply.attempts))
                    .bind(signed(u64::try_from(row.reply.latency.as_millis()).unwrap_or(u64::MAX)))
                    .bind(row.reply.usage.input.map(signed))
                    .bind(row.reply.usage.output.map(signed))
                    .bind(row.created_at.0)
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await
        })
    }

    /// Reads the attempts at a request without a result; the earliest ones, if two runs made some.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_attempts(
        &self,
        model: &ModelId,
        request_sha256: &str,
    ) -> Result<Option<OpenAttempts>, StoreError> {
        let _time = store_time("open_attempts");
        let rows: Vec<RawAttempt> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OPEN).bind(model.as_str()).bind(request_sha256).fetch_all(pool).await
        })?;
        let Some(result) = rows.first().map(|row| row.result.clone()) else { return Ok(None) };
        let of_one = rows.into_iter().filter(|row| row.result == result);
        let replies = of_one.map(RawAttempt::reply).collect::<Result<_, _>>()?;
        Ok(Some(OpenAttempts { result, replies }))
    }

    /// Sums the requests of a judge's judgements of a suite.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn past_judgements(&self, judge: &ModelId, suite: &SuiteId) -> Result<PastRequests, StoreError> {
        self.past(SELECT_PAST_JUDGEMENTS.as_str(), judge, suite.as_str()).await
    }

    /// Sums the requests of a model's answers to a suite.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn past_answers(&self, model: &ModelId, suite: &SuiteId) -> Result<PastRequests, StoreError> {
        self.past(SELECT_PAST_ANSWERS.as_str(), model, suite.as_str()).await
    }

    /// Sums the requests of a judge's verdicts on battles and campaigns with this prompt template.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn past_verdicts(&self, judge: &ModelId, prompt_sha256: &str) -> Result<PastRequests, StoreError> {
        self.past(SELECT_PAST_VERDICTS.as_str(), judge, prompt_sha256).await
    }

    /// Sums past requests; `about` is the suite or the digest of the prompt template.
    async fn past(&self, select: &'static str, model: &ModelId, about: &str) -> Result<PastRequests, StoreError> {
        let _time = store_time("past_requests");
        type Row = (i64, i64, i64, i64, i64, i64);
        let (results, requests, counted, input, output, longest): Row =
            on_reader!(self, |pool| { sqlx::query_as(select).bind(model.as_str()).bind(about).fetch_one(pool).await })?;
        let number = |value| unsigned(value, "bench_judgements", "SUM", model.as_str());
        Ok(PastRequests {
            results: number(results)?,
            requests: number(requests)?,
            counted: number(counted)?,
            tokens: Tokens { input: number(input)?, output: number(output)? },
            longest: number(longest)?,
        })
    }

    /// Reads the SHA-256 of the requests that a model's provider rejected for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn refused_requests(&self, model: &ModelId) -> Result<HashSet<String>, StoreError> {
        let _time = store_time("refused_requests");
        let refused: Vec<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_REFUSED).bind(model.as_str()).fetch_all(pool).await)?;
        Ok(refused.into_iter().collect())
    }
}
