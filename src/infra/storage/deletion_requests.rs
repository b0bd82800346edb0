//! Requests to delete what was said in battles.

use sqlx::Connection;
use sqlx_macros::FromRow;

use super::admin_audit::insert_audit;
use super::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once, signed, unsigned};
use crate::domain::admin::deletion_request::{DeletionRequestState, DeletionScope};
use crate::domain::battle::{BattleId, VisitorId};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const INSERT: &str = "INSERT INTO deletion_requests (id, battle, scope, reason, entered_by, created_at, state, answer, decided_by, \
     battles) VALUES ($1, $2, $3, $4, $5, $6, 'open', '', '', 0) ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT id, battle, scope, reason, entered_by, created_at, state, answer, decided_by, decided_at, battles \
     FROM deletion_requests WHERE ($1 = '' OR id = $1) ORDER BY CASE state WHEN 'open' THEN 0 ELSE 1 END, id DESC LIMIT $2";
const COUNT_OPEN: &str = "SELECT COUNT(*) FROM deletion_requests WHERE state = 'open'";
/// Also clears the reason, which may name the person who asked: a decided request no longer needs it.
const DECIDE: &str = "UPDATE deletion_requests SET state = $2, answer = $3, decided_by = $4, decided_at = $5, battles = $6, \
     reason = '' WHERE id = $1 AND state = 'open'";
/// A battle that has ended takes no text any more, so nothing is written after the deletion.
const ABANDON_OPEN: &str = "UPDATE battles SET stage = 'abandoned', updated_at = $3 WHERE stage IN ('answering', 'ready') \
     AND (id = $1 OR ($2 <> '' AND visitor = $2))";
const COUNT_WITH_TEXTS: &str = "SELECT COUNT(*) FROM battles WHERE (id = $1 OR ($2 <> '' AND visitor = $2)) \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id)";

/// A request as it comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDeletionRequest {
    /// Its id; sorts by time.
    pub id: String,
    /// The battle that it names.
    pub battle: BattleId,
    /// What it is about.
    pub scope: DeletionScope,
    /// Why, in the words of who asks; empty once it is decided.
    pub reason: String,
    /// Who entered it; empty where it was asked on the battle's page.
    pub entered_by: String,
    /// When.
    pub created_at: Timestamp,
}

/// A request with what was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionRequestRow {
    /// As it came in.
    pub request: NewDeletionRequest,
    /// Where it stands.
    pub state: DeletionRequestState,
    /// Why it was decided so.
    pub answer: String,
    /// Who decided it.
    pub decided_by: String,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Battles whose texts were deleted.
    pub battles: u64,
}

/// How a request is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionDecision {
    /// Done or refused.
    pub state: DeletionRequestState,
    /// Why.
    pub answer: String,
    /// Who decides.
    pub by: String,
    /// Now.
    pub at: Timestamp,
    /// Battles whose texts were deleted.
    pub battles: u64,
}

/// The battles whose texts are to go: one, or with its visitor all of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionTarget {
    /// The battle.
    pub battle: BattleId,
    /// Its visitor, for all of their battles.
    pub visitor: Option<VisitorId>,
}

impl DeletionTarget {
    fn visitor(&self) -> &str {
        self.visitor.as_ref().map_or("", VisitorId::as_str)
    }
}

impl Store {
    /// Stores a request. Returns whether none about the same texts was open.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_deletion_request(
        &self,
        new: &NewDeletionRequest,
        audit: Option<&NewAuditEntry>,
    ) -> Result<bool, StoreError> {
        let _time = store_time("insert_deletion_request");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT).bind(&new.id).bind(new.battle.as_str()).bind(new.scope.as_str());
            let query = query.bind(&new.reason).bind(&new.entered_by).bind(new.created_at.0);
            let is_new = query.execute(&mut *tx).await?.rows_affected() > 0;
            if let Some(entry) = audit.filter(|_| is_new) {
                insert_audit!(&mut *tx, entry)?;
            }
            tx.commit().await.map(|()| is_new)
        })
    }

    /// The open requests and then the others, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deletion_requests(&self, limit: u32) -> Result<Vec<DeletionRequestRow>, StoreError> {
        self.select_requests("", limit).await
    }

    /// The request of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deletion_request(&self, id: &str) -> Result<Option<DeletionRequestRow>, StoreError> {
        if id.is_empty() { Ok(None) } else { Ok(self.select_requests(id, 1).await?.pop()) }
    }

    async fn select_requests(&self, id: &str, limit: u32) -> Result<Vec<DeletionRequestRow>, StoreError> {
        let _time = store_time("deletion_requests");
        let rows: Vec<RawRequest> =
            on_reader!(self, |pool| sqlx::query_as(SELECT).bind(id).bind(i64::from(limit)).fetch_all(pool).await)?;
        rows.into_iter().map(RawRequest::row).collect()
    }

    /// Requests that nobody has decided.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_deletion_requests(&self) -> Result<u64, StoreError> {
        let _time = store_time("open_deletion_requests");
        let open: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_OPEN).fetch_one(pool).await)?;
        unsigned(open, "deletion_requests", "state", "open")
    }

    /// Battles of a target whose texts are there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_with_texts(&self, target: &DeletionTarget) -> Result<u64, StoreError> {
        let _time = store_time("battles_with_texts");
        let count: i64 = on_reader!(self, |pool| {
            sqlx::query_scalar(COUNT_WITH_TEXTS)
                .bind(target.battle.as_str())
                .bind(target.visitor())
                .fetch_one(pool)
                .await
        })?;
        unsigned(count, "battles", "count", target.battle.as_str())
    }

    /// Ends the open battles of a target, and adds the entry of the deletion that follows.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin_deletion(
        &self,
        target: &DeletionTarget,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<(), StoreError> {
        let _time = store_time("begin_deletion");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(ABANDON_OPEN).bind(target.battle.as_str()).bind(target.visitor()).bind(now.0);
            query.execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }

    /// Decides an open request, and forgets its reason. Returns whether it was open; otherwise nothing is written.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decide_deletion_request(
        &self,
        id: &str,
        decision: &DeletionDecision,
        audit: Option<&NewAuditEntry>,
    ) -> Result<bool, StoreError> {
        let _time = store_time("decide_deletion_request");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(DECIDE).bind(id).bind(decision.state.as_str()).bind(&decision.answer);
            let query = query.bind(&decision.by).bind(decision.at.0).bind(signed(decision.battles));
            let was_open = query.execute(&mut *tx).await?.rows_affected() > 0;
            if let Some(entry) = audit.filter(|_| was_open) {
                insert_audit!(&mut *tx, entry)?;
            }
            tx.commit().await.map(|()| was_open)
        })
    }
}

#[derive(FromRow)]
struct RawRequest {
    id: String,
    battle: String,
    scope: String,
    reason: String,
    entered_by: String,
    created_at: i64,
    state: String,
    answer: String,
    decided_by: String,
    decided_at: Option<i64>,
    battles: i64,
}

impl RawRequest {
    fn row(self) -> Result<DeletionRequestRow, StoreError> {
        let bad = |column, value: &str| StoreError::Inconsistent {
            table: "deletion_requests",
            column,
            row: self.id.clone(),
            value: value.to_owned(),
        };
        let scope = self.scope.parse().map_err(|_| bad("scope", &self.scope))?;
        let state = self.state.parse().map_err(|_| bad("state", &self.state))?;
        Ok(DeletionRequestRow {
            battles: unsigned(self.battles, "deletion_requests", "battles", &self.id)?,
            request: NewDeletionRequest {
                id: self.id,
                battle: BattleId::new(self.battle),
                scope,
                reason: self.reason,
                entered_by: self.entered_by,
                created_at: Timestamp(self.created_at),
            },
            state,
            answer: self.answer,
            decided_by: self.decided_by,
            decided_at: self.decided_at.map(Timestamp),
        })
    }
}
