//! Queries and decisions of the admin's overview and review queues: the next leak to review, recent failures, votes of a period.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::battle::BattleId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once, unsigned};

/// Confirmed leaks have an audit entry with the vote's number.
const SELECT_LEAK: &str = "SELECT e.vote_seq, e.reason, v.battle_id FROM vote_exclusions e JOIN votes v ON v.seq = e.vote_seq \
     WHERE e.rule = 'identity_leak' AND e.withdrawn_at IS NULL AND e.vote_seq > $1 AND NOT EXISTS \
     (SELECT 1 FROM admin_audit a WHERE a.action = 'confirm_leak' AND a.subject = 'vote ' || e.vote_seq) \
     ORDER BY e.vote_seq LIMIT 1";
const COUNT_LEAKS: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM vote_exclusions e \
     WHERE e.rule = 'identity_leak' AND e.withdrawn_at IS NULL AND NOT EXISTS \
     (SELECT 1 FROM admin_audit a WHERE a.action = 'confirm_leak' AND a.subject = 'vote ' || e.vote_seq)";
const WITHDRAW_LEAK: &str = "UPDATE vote_exclusions SET withdrawn_by = $2, withdrawn_at = $3 \
     WHERE vote_seq = $1 AND rule = 'identity_leak' AND withdrawn_at IS NULL";
/// An active exclusion takes precedence over withdrawn ones.
const SELECT_DECIDED_LEAK: &str = "SELECT CASE WHEN e.withdrawn_at IS NOT NULL THEN 'withdraw' WHEN EXISTS \
     (SELECT 1 FROM admin_audit a WHERE a.action = 'confirm_leak' AND a.subject = 'vote ' || e.vote_seq) THEN 'confirm' \
     ELSE 'open' END FROM vote_exclusions e WHERE e.vote_seq = $1 AND e.rule = 'identity_leak' \
     ORDER BY CASE WHEN e.withdrawn_at IS NULL THEN 0 ELSE 1 END LIMIT 1";
const SELECT_FAILURES: &str = "SELECT model, reason, CAST(COUNT(*) AS BIGINT) AS times, MAX(failed_at) AS last_at \
     FROM side_failures WHERE failed_at >= $1 GROUP BY model, reason ORDER BY MAX(failed_at) DESC LIMIT $2";
const COUNT_VOTES: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM votes WHERE created_at >= $1";

/// A vote excluded because a reply may reveal its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeakedVote {
    /// Number of the vote in the log.
    pub seq: i64,
    /// Description of the leak.
    pub reason: String,
    /// Battle of the vote.
    pub battle: BattleId,
}

/// A reviewer's decision on a leak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakDecision {
    /// The vote stays excluded.
    Confirm,
    /// The vote is rated again.
    Withdraw,
}

/// Failures of a model by reason.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct FailureCount {
    /// Id of the model.
    pub model: String,
    /// Reason in the arena's wording, without text of the provider.
    pub reason: String,
    /// Number of failures.
    pub times: i64,
    /// Time of the latest one in milliseconds since 1970.
    pub last_at: i64,
}

impl Store {
    /// Reads the first unreviewed leak after a vote.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn next_leak(&self, after: i64) -> Result<Option<LeakedVote>, StoreError> {
        let _time = store_time("next_leak");
        let row: Option<(i64, String, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_LEAK).bind(after).fetch_optional(pool).await)?;
        Ok(row.map(|(seq, reason, battle)| LeakedVote { seq, reason, battle: BattleId::new(battle) }))
    }

    /// Counts unreviewed leaks.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_leaks(&self) -> Result<u64, StoreError> {
        let _time = store_time("open_leaks");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_LEAKS).fetch_one(pool).await)?;
        unsigned(count, "vote_exclusions", "count", "identity_leak")
    }

    /// Stores a decision on a leak with its audit entry, in one transaction. Returns whether the leak was undecided; otherwise writes
    /// nothing. Decisions are serialised, so of two on one leak the first is stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decide_leak(
        &self,
        vote: i64,
        decision: LeakDecision,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("decide_leak");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(self.exclusions_turn()).execute(&mut *tx).await?;
            let next = sqlx::query_as(SELECT_LEAK).bind(vote.saturating_sub(1));
            let next: Option<(i64, String, String)> = next.fetch_optional(&mut *tx).await?;
            let is_open = next.is_some_and(|(seq, _, _)| seq == vote);
            if is_open && decision == LeakDecision::Withdraw {
                let query = sqlx::query(WITHDRAW_LEAK).bind(vote).bind(&audit.actor).bind(audit.acted_at.0);
                query.execute(&mut *tx).await?;
            }
            if is_open {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| is_open)
        })
    }

    /// Reads the decision on the leak of a vote; `None` if there is no leak, or it is undecided.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decided_leak(&self, vote: i64) -> Result<Option<LeakDecision>, StoreError> {
        let _time = store_time("decided_leak");
        let decided: Option<String> =
            on_reader!(self, |pool| { sqlx::query_scalar(SELECT_DECIDED_LEAK).bind(vote).fetch_optional(pool).await })?;
        Ok(match decided.as_deref() {
            Some("confirm") => Some(LeakDecision::Confirm),
            Some("withdraw") => Some(LeakDecision::Withdraw),
            _ => None,
        })
    }

    /// Counts failures of models since a time, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn failures_since(&self, since: Timestamp, limit: u32) -> Result<Vec<FailureCount>, StoreError> {
        let _time = store_time("failures_since");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_FAILURES).bind(since.0).bind(i64::from(limit)).fetch_all(pool).await
        })
    }

    /// Counts votes cast at or after a time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_since(&self, since: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("votes_since");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_VOTES).bind(since.0).fetch_one(pool).await)?;
        unsigned(count, "votes", "count", "votes")
    }
}
