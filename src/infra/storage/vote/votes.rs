//! Votes: insert-only, one per battle, in log order by `seq`.

use std::collections::HashMap;
use std::sync::LazyLock;

use sqlx::AssertSqlSafe;

use crate::domain::battle::BattleId;
use crate::domain::battle::record::VoteRow;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::rows::vote_rows::{NewVoteRow, RawVote, SatisfiedVote};
use crate::storage::vote::exclusions::{EXCLUSION, IS_RATED, numbers_json};
use crate::storage::write_queue::InsertResult;
use crate::storage::{Store, StoreError, on_reader};

const COLUMNS: &str = "seq, id, battle_id, visitor, model_a, model_b, outcome, anonymous, turn, language, category, intent, \
     satisfaction, reasons_a, reasons_b, pairing_policy, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, \
     text_counts, receipt, created_at";

static SELECT_BY_BATTLE: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS}, {EXCLUSION} AS exclusion FROM votes WHERE battle_id = $1"));
static SELECT_SATISFIED: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT seq, intent, satisfaction FROM votes WHERE satisfaction IS NOT NULL AND {IS_RATED} ORDER BY seq")
});
static SELECT_PAGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS}, {EXCLUSION} AS exclusion FROM votes \
         WHERE seq > $1 AND created_at >= $2 AND created_at < $3 ORDER BY seq LIMIT $4"
    )
});

static SELECT_WAITING: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT (SELECT created_at FROM votes WHERE seq > $1 ORDER BY seq LIMIT 1), \
         (SELECT COUNT(*) FROM (SELECT 1 FROM votes WHERE seq > $1 AND {IS_RATED} LIMIT $2) AS rated)"
    )
});

/// Result of inserting a vote.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertedVote {
    /// The vote was stored by this call.
    Stored,
    /// The battle already has this vote.
    Existing(Box<VoteRow>),
    /// The battle has no vote and is no longer ready.
    BattleMoved,
}

impl Store {
    /// Inserts a vote, which ends its battle by a trigger, in one commit with other concurrent ones. A battle with a vote keeps the first.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if too many are waiting; otherwise [`StoreError`]. After a lost connection the vote may or may not be stored:
    /// casting it again tells.
    pub async fn insert_vote(&self, vote: &NewVoteRow) -> Result<InsertedVote, StoreError> {
        let _time = store_time("insert_vote");
        self.database.refuse_if_not_durable()?;
        if self.writes.vote(vote.clone().into()).await? == InsertResult::All {
            return Ok(InsertedVote::Stored);
        }
        Ok(match self.vote_on(&vote.battle).await? {
            Some(row) if row.id == vote.id => InsertedVote::Stored,
            Some(row) => InsertedVote::Existing(Box::new(row)),
            None => InsertedVote::BattleMoved,
        })
    }

    /// Reads the vote on a battle.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_on(&self, battle: &BattleId) -> Result<Option<VoteRow>, StoreError> {
        let _time = store_time("vote_on");
        let row: Option<RawVote> = on_reader!(self, |pool| sqlx::query_as(SELECT_BY_BATTLE.as_str())
            .bind(battle.as_str())
            .fetch_optional(pool)
            .await)?;
        row.map(VoteRow::try_from).transpose()
    }

    /// Reads the battles of votes, by the numbers of the votes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_of_votes(&self, votes: &[i64]) -> Result<HashMap<i64, BattleId>, StoreError> {
        let _time = store_time("battles_of_votes");
        let select = format!("SELECT seq, battle_id FROM votes WHERE seq IN ({})", self.numbers());
        let votes = numbers_json(votes);
        let rows: Vec<(i64, String)> = on_reader!(self, |pool| {
            sqlx::query_as(AssertSqlSafe(select.clone())).bind(&votes).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(|(vote, battle)| (vote, BattleId::new(battle))).collect())
    }

    /// Reads at most `limit` votes after `seq`, cast in `[since, until)`, in log order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_after(
        &self,
        seq: i64,
        since: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<VoteRow>, StoreError> {
        let _time = store_time("votes_after");
        let rows: Vec<RawVote> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_PAGE.as_str())
                .bind(seq)
                .bind(since.0)
                .bind(until.0)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(VoteRow::try_from).collect()
    }

    /// Reads the time of the first vote after `seq`, and the number of rated votes after `seq`, counted up to `limit`; `None` if there is
    /// no such vote.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn waiting_votes(&self, seq: i64, limit: u32) -> Result<Option<(Timestamp, u32)>, StoreError> {
        let _time = store_time("waiting_votes");
        let (oldest, rated): (Option<i64>, i64) = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_WAITING.as_str()).bind(seq).bind(i64::from(limit)).fetch_one(pool).await
        })?;
        Ok(oldest.map(|oldest| (Timestamp(oldest), u32::try_from(rated).unwrap_or(limit))))
    }

    /// Reads the rated votes with a satisfaction, in log order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn satisfied_votes(&self) -> Result<Vec<SatisfiedVote>, StoreError> {
        let _time = store_time("satisfied_votes");
        let rows: Vec<(i64, Option<String>, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_SATISFIED.as_str()).fetch_all(pool).await)?;
        let vote = |(seq, intent, satisfaction): (i64, Option<String>, i64)| {
            let satisfaction = u8::try_from(satisfaction).map_err(|_| StoreError::Inconsistent {
                table: "votes",
                column: "satisfaction",
                row: seq.to_string(),
                value: satisfaction.to_string(),
            })?;
            Ok(SatisfiedVote { seq, intent, satisfaction })
        };
        rows.into_iter().map(vote).collect()
    }
}
