//! Leak checks of the battles of rated votes by a language model: texts that reveal a model.

use std::sync::LazyLock;

use sqlx::Connection;

use crate::domain::battle::BattleId;
use crate::domain::benchmark::scores::judgement::JudgeTokens;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::vote::exclusions::IS_RATED;
use crate::storage::{NewExclusions, Store, StoreError, on_reader, on_writer, signed, unsigned};

const TABLE: &str = "leak_checks";

/// Votes whose conversation is stored. A person's decision on a leak is final: such a vote is not checked again.
static UNCHECKED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "FROM votes WHERE votes.seq > $1 AND votes.created_at >= $2 AND {IS_RATED} \
         AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = votes.battle_id) \
         AND NOT EXISTS (SELECT 1 FROM leak_checks WHERE leak_checks.vote_seq = votes.seq) \
         AND NOT EXISTS (SELECT 1 FROM vote_exclusions WHERE vote_exclusions.vote_seq = votes.seq AND rule = 'identity_leak')"
    )
});
static SELECT_UNCHECKED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT votes.seq, votes.battle_id {} ORDER BY votes.seq LIMIT $3", *UNCHECKED));
static COUNT_UNCHECKED: LazyLock<String> = LazyLock::new(|| format!("SELECT CAST(COUNT(*) AS BIGINT) {}", *UNCHECKED));
const INSERT: &str = "INSERT INTO leak_checks (vote_seq, judge, prompt_sha256, status, leaks, attempts, input_tokens, output_tokens, \
     created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
/// A vote that a person reinstated during the check stays included.
const EXCLUDE: &str = "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
     SELECT $1, seq, $3, $4, $5, CAST($6 AS BIGINT) FROM votes WHERE seq = $2 \
     AND NOT EXISTS (SELECT 1 FROM vote_exclusions WHERE vote_seq = $2 AND rule = $3) \
     ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING";
const SUM_CALLS: &str = "SELECT CAST(COALESCE(SUM(attempts), 0) AS BIGINT) FROM leak_checks WHERE created_at >= $1";
const COUNT: &str = "SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM(CASE WHEN leaks <> '' THEN 1 ELSE 0 END), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN status <> 'ok' THEN 1 ELSE 0 END), 0) AS BIGINT) FROM leak_checks";

/// A rated vote whose battle was not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncheckedVote {
    /// Number in the log.
    pub seq: i64,
    /// Battle of the vote.
    pub battle: BattleId,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakCheckStatus {
    /// The reply was parsed.
    Ok,
    /// No reply could be parsed.
    Unreadable,
    /// The provider rejected the texts: too long, or filtered.
    Refused,
    /// The texts exceed the maximum length for a check.
    TooLong,
    /// The texts were deleted.
    WithoutText,
}

impl LeakCheckStatus {
    /// Returns the name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unreadable => "unreadable",
            Self::Refused => "refused",
            Self::TooLong => "too_long",
            Self::WithoutText => "without_text",
        }
    }
}

/// A stored check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeakCheckRow {
    /// Number of the vote in the log.
    pub vote_seq: i64,
    /// Id of the model.
    pub judge: String,
    /// SHA-256 of its prompt template.
    pub prompt_sha256: String,
    /// Result of the check.
    pub status: LeakCheckStatus,
    /// Texts that reveal a model, such as `prompt 1, reply B 2`; may be empty.
    pub leaks: String,
    /// Number of requests.
    pub attempts: u32,
    /// Tokens of all requests, estimated if the provider reports none.
    pub tokens: JudgeTokens,
    /// End of the check.
    pub created_at: Timestamp,
}

/// Counts of all checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeakCheckCounts {
    /// Number of checked votes.
    pub checked: u64,
    /// Number of them with a text that reveals a model.
    pub found: u64,
    /// Number of them without a result: no parseable reply, or no texts.
    pub unread: u64,
}

impl Store {
    /// Reads the unchecked rated votes after a number and since a time, in the order of the log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_without_leak_check(
        &self,
        after: i64,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<UncheckedVote>, StoreError> {
        let _time = store_time("votes_without_leak_check");
        let rows: Vec<(i64, String)> = on_reader!(self, |pool| {
            let query = sqlx::query_as(SELECT_UNCHECKED.as_str()).bind(after).bind(since.0).bind(i64::from(limit));
            query.fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(|(seq, battle)| UncheckedVote { seq, battle: BattleId::new(battle) }).collect())
    }

    /// Counts the unchecked rated votes since a time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn count_without_leak_check(&self, since: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("count_without_leak_check");
        let count: i64 = on_reader!(self, |pool| {
            sqlx::query_scalar(COUNT_UNCHECKED.as_str()).bind(0_i64).bind(since.0).fetch_one(pool).await
        })?;
        unsigned(count, TABLE, "COUNT(*)", "")
    }

    /// Inserts a check together with the exclusion of its vote if it found a leak: both or none. A vote on which a person has decided
    /// meanwhile is left alone. Returns whether the vote was excluded.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_leak_check(
        &self,
        row: &LeakCheckRow,
        exclusion: Option<&NewExclusions>,
    ) -> Result<bool, StoreError> {
        let _time = store_time("insert_leak_check");
        let (prompt, reply) = (signed(row.tokens.prompt), signed(row.tokens.reply));
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(self.exclusions_turn()).execute(&mut *tx).await?;
            let query = sqlx::query(INSERT).bind(row.vote_seq).bind(&row.judge).bind(&row.prompt_sha256);
            let query = query.bind(row.status.as_str()).bind(&row.leaks).bind(i64::from(row.attempts));
            let query = query.bind(prompt).bind(reply).bind(row.created_at.0);
            let mut excluded = 0;
            if query.execute(&mut *tx).await?.rows_affected() == 1
                && let Some(NewExclusions { id, rule, reason, decided_by, decided_at }) = exclusion
            {
                let query = sqlx::query(EXCLUDE).bind(id).bind(row.vote_seq).bind(rule).bind(reason);
                excluded = query.bind(decided_by).bind(decided_at.0).execute(&mut *tx).await?.rows_affected();
            }
            tx.commit().await.map(|()| excluded == 1)
        })
    }

    /// Counts the requests since a time, by any process.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn leak_check_calls(&self, since: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("leak_check_calls");
        let calls: i64 = on_reader!(self, |pool| sqlx::query_scalar(SUM_CALLS).bind(since.0).fetch_one(pool).await)?;
        unsigned(calls, TABLE, "attempts", "")
    }

    /// Counts all checks.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn leak_check_counts(&self) -> Result<LeakCheckCounts, StoreError> {
        let _time = store_time("leak_check_counts");
        let (checked, found, unread): (i64, i64, i64) =
            on_reader!(self, |pool| sqlx::query_as(COUNT).fetch_one(pool).await)?;
        let number = |value| unsigned(value, TABLE, "COUNT(*)", "");
        Ok(LeakCheckCounts { checked: number(checked)?, found: number(found)?, unread: number(unread)? })
    }
}
