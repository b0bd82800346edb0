//! Texts flagged by the moderation service, for review. The texts themselves stay in the turns and replies of their battles.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::battle::BattleId;
use crate::domain::moderation::{ModeratedPart, ModerationFlagState};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once, unsigned};

const INSERT: &str = "INSERT INTO moderation_flags (id, battle, turn, part, categories, flagged_at, state, decided_by) \
     VALUES ($1, $2, $3, $4, $5, $6, 'open', '') ON CONFLICT DO NOTHING";
/// A flag is done if its text was deleted otherwise, or its battle was removed.
const SELECT: &str = "SELECT id, battle, turn, part, categories, flagged_at, shown AS state, decided_by, decided_at FROM ( \
     SELECT f.*, CASE WHEN f.state = 'open' AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.battle_id = f.battle) THEN 'removed' \
     ELSE f.state END AS shown FROM moderation_flags f WHERE ($1 = '' OR f.id = $1)) AS flags \
     WHERE ($2 = '' OR shown = $2) ORDER BY CASE shown WHEN 'open' THEN 0 ELSE 1 END, id DESC LIMIT $3";
const COUNT_OPEN: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM moderation_flags f WHERE f.state = 'open' \
     AND EXISTS (SELECT 1 FROM turns t WHERE t.battle_id = f.battle)";
const DECIDE: &str =
    "UPDATE moderation_flags SET state = $2, decided_by = $3, decided_at = $4 WHERE id = $1 AND state = 'open'";

/// Flag to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModerationFlag {
    /// Id of the flag; sorts by time.
    pub id: String,
    /// The battle.
    pub battle: BattleId,
    /// The turn, from 1.
    pub turn: u32,
    /// Flagged text of the turn.
    pub part: ModeratedPart,
    /// Categories found by the service.
    pub categories: Vec<String>,
    /// Time of the flag.
    pub flagged_at: Timestamp,
}

/// A flag with its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModerationFlagRow {
    /// The flag.
    pub flag: NewModerationFlag,
    /// State of the flag.
    pub state: ModerationFlagState,
    /// User who decided it; empty if the text was deleted otherwise.
    pub decided_by: String,
    /// Time of the decision.
    pub decided_at: Option<Timestamp>,
}

/// Decision on a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModerationDecision<'d> {
    /// Kept or removed.
    pub state: ModerationFlagState,
    /// User who decides.
    pub by: &'d str,
    /// Current time.
    pub at: Timestamp,
}

impl Store {
    /// Inserts flags.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_flags(&self, flags: &[NewModerationFlag]) -> Result<(), StoreError> {
        let _time = store_time("insert_flags");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            for flag in flags {
                let query = sqlx::query(INSERT).bind(&flag.id).bind(flag.battle.as_str()).bind(i64::from(flag.turn));
                let query = query.bind(flag.part.as_str()).bind(flag.categories.join(",")).bind(flag.flagged_at.0);
                query.execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// Reads flags in a state, or in any: the open ones and then the others, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn flags(
        &self,
        state: Option<ModerationFlagState>,
        limit: u32,
    ) -> Result<Vec<ModerationFlagRow>, StoreError> {
        self.select_flags("", state.map_or("", ModerationFlagState::as_str), limit).await
    }

    /// Reads the flag with this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn flag(&self, id: &str) -> Result<Option<ModerationFlagRow>, StoreError> {
        if id.is_empty() { Ok(None) } else { Ok(self.select_flags(id, "", 1).await?.pop()) }
    }

    async fn select_flags(&self, id: &str, state: &str, limit: u32) -> Result<Vec<ModerationFlagRow>, StoreError> {
        let _time = store_time("flags");
        let rows: Vec<RawFlag> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT).bind(id).bind(state).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(RawFlag::row).collect()
    }

    /// Counts undecided flags.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_flags(&self) -> Result<u64, StoreError> {
        let _time = store_time("open_flags");
        let open: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_OPEN).fetch_one(pool).await)?;
        unsigned(open, "moderation_flags", "state", "open")
    }

    /// Decides an open flag. Returns whether it was open; otherwise writes nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decide_flag(
        &self,
        id: &str,
        decision: ModerationDecision<'_>,
        audit: Option<&NewAuditEntry>,
    ) -> Result<bool, StoreError> {
        let _time = store_time("decide_flag");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query =
                sqlx::query(DECIDE).bind(id).bind(decision.state.as_str()).bind(decision.by).bind(decision.at.0);
            let was_open = query.execute(&mut *tx).await?.rows_affected() > 0;
            if let Some(entry) = audit.filter(|_| was_open) {
                insert_audit!(&mut *tx, entry)?;
            }
            tx.commit().await.map(|()| was_open)
        })
    }
}

#[derive(FromRow)]
struct RawFlag {
    id: String,
    battle: String,
    turn: i64,
    part: String,
    categories: String,
    flagged_at: i64,
    state: String,
    decided_by: String,
    decided_at: Option<i64>,
}

impl RawFlag {
    fn row(self) -> Result<ModerationFlagRow, StoreError> {
        let bad = |column, value: &str| StoreError::Inconsistent {
            table: "moderation_flags",
            column,
            row: self.id.clone(),
            value: value.to_owned(),
        };
        let part = self.part.parse().map_err(|_| bad("part", &self.part))?;
        let state = self.state.parse().map_err(|_| bad("state", &self.state))?;
        let turn = u32::try_from(self.turn).map_err(|_| bad("turn", &self.turn.to_string()))?;
        Ok(ModerationFlagRow {
            flag: NewModerationFlag {
                id: self.id,
                battle: BattleId::new(self.battle),
                turn,
                part,
                categories: self.categories.split(',').map(str::to_owned).collect(),
                flagged_at: Timestamp(self.flagged_at),
            },
            state,
            decided_by: self.decided_by,
            decided_at: self.decided_at.map(Timestamp),
        })
    }
}
