//! Requests to delete the texts of battles.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::admin::deletion_request::{DeletionRequestState, DeletionScope};
use crate::domain::battle::{BattleId, VisitorId};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once, signed, unsigned};

const INSERT: &str = "INSERT INTO deletion_requests (id, battle, scope, reason, entered_by, created_at, state, answer, decided_by, \
     battles) VALUES ($1, $2, $3, $4, $5, $6, 'open', '', '', 0) ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT id, battle, scope, reason, entered_by, created_at, state, answer, decided_by, decided_at, battles \
     FROM deletion_requests WHERE ($1 = '' OR id = $1) ORDER BY CASE state WHEN 'open' THEN 0 ELSE 1 END, id DESC LIMIT $2";
const COUNT_OPEN: &str = "SELECT COUNT(*) FROM deletion_requests WHERE state = 'open'";
/// Also clears the reason, which may name the requester: a decided request no longer needs it.
const DECIDE: &str = "UPDATE deletion_requests SET state = $2, answer = $3, decided_by = $4, decided_at = $5, battles = $6, \
     reason = '' WHERE id = $1 AND state = 'open'";
/// An ended battle accepts no more texts, so nothing is written after the deletion.
const ABANDON_OPEN: &str = "UPDATE battles SET stage = 'abandoned', updated_at = $3 WHERE stage IN ('answering', 'ready') \
     AND (id = $1 OR ($2 <> '' AND visitor = $2))";
const COUNT_WITH_TEXTS: &str = "SELECT COUNT(*) FROM battles WHERE (id = $1 OR ($2 <> '' AND visitor = $2)) \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id)";

/// Deletion request to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDeletionRequest {
    /// Id of the request; sorts by time.
    pub id: String,
    /// Named battle.
    pub battle: BattleId,
    /// Scope of the request.
    pub scope: DeletionScope,
    /// Reason in the requester's words; empty once the request is decided.
    pub reason: String,
    /// User who entered it; empty if it was made on the battle's page.
    pub entered_by: String,
    /// Creation time.
    pub created_at: Timestamp,
}

/// A request with its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionRequestRow {
    /// The request.
    pub request: NewDeletionRequest,
    /// State of the request.
    pub state: DeletionRequestState,
    /// Reason of the decision.
    pub answer: String,
    /// User who decided it.
    pub decided_by: String,
    /// Time of the decision.
    pub decided_at: Option<Timestamp>,
    /// Number of battles whose texts were deleted.
    pub battles: u64,
}

/// Decision on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionDecision {
    /// Done or refused.
    pub state: DeletionRequestState,
    /// Reason of the decision.
    pub answer: String,
    /// User who decides.
    pub by: String,
    /// Current time.
    pub at: Timestamp,
    /// Number of battles whose texts were deleted.
    pub battles: u64,
}

/// Battles whose texts are to be deleted: one, or all of its visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionTarget {
    /// The battle.
    pub battle: BattleId,
    /// Its visitor, to select all of their battles.
    pub visitor: Option<VisitorId>,
}

impl DeletionTarget {
    fn visitor(&self) -> &str {
        self.visitor.as_ref().map_or("", VisitorId::as_str)
    }
}

impl Store {
    /// Inserts a request. Returns whether none about the same texts was open.
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

    /// Reads the open requests and then the others, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deletion_requests(&self, limit: u32) -> Result<Vec<DeletionRequestRow>, StoreError> {
        self.select_requests("", limit).await
    }

    /// Reads the request with this id.
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

    /// Counts undecided requests.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_deletion_requests(&self) -> Result<u64, StoreError> {
        let _time = store_time("open_deletion_requests");
        let open: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_OPEN).fetch_one(pool).await)?;
        unsigned(open, "deletion_requests", "state", "open")
    }

    /// Counts the battles of a target that still have texts.
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

    /// Abandons the open battles of a target, and adds the audit entry of the following deletion.
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

    /// Decides an open request and clears its reason. Returns whether it was open; otherwise writes nothing.
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
