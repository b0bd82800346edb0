//! What every turn writes, in as few round trips as its database allows: on a server each one costs both sides more than
//! the work itself.
//!
//! SQLite lives in the process and takes a transaction of plain statements. PostgreSQL takes one statement whose parts
//! change several tables, which SQLite does not know; it is its own transaction.

use std::sync::LazyLock;

use sqlx::{PgPool, SqlitePool};

use super::battles::{BattleRow, INSERT_TURN, NewReply};
use super::signed;
use crate::battle::state::Progress;
use crate::clock::Timestamp;

const INSERT_BATTLE: &str = "INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, \
     policy_version, pair_probability, language, category, intent, answered_by, created_at, updated_at) \
     VALUES ($1, $2, 'anonymous', 'answering', 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) \
     ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at \
     WHERE battles.answered_by = excluded.answered_by";
/// Finds the battle also where it is what it shall be: the run that answered it had voided it, or asks once more.
const FINISH_TURN: &str = "UPDATE battles SET stage = $4, updated_at = $5 \
     WHERE id = $1 AND answered_by = $2 AND turn = $3 AND stage IN ('answering', $4)";
const UPSERT_REPLY: &str = "INSERT INTO replies (battle_id, turn, side, model, text, reasoning, ending, \
     first_token_ms, duration_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const LATEST_REPLY_STAYS: &str = "ON CONFLICT (battle_id, turn, side) DO UPDATE SET model = excluded.model, \
     text = excluded.text, reasoning = excluded.reasoning, ending = excluded.ending, \
     first_token_ms = excluded.first_token_ms, duration_ms = excluded.duration_ms";

static SQLITE_UPSERT_REPLY: LazyLock<String> = LazyLock::new(|| format!("{UPSERT_REPLY} {LATEST_REPLY_STAYS}"));
static POSTGRES_BEGIN_BATTLE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH begun AS ({INSERT_BATTLE} RETURNING id), asked AS (INSERT INTO turns (battle_id, turn, prompt, created_at) \
         SELECT id, 1, $13, $12 FROM begun ON CONFLICT (battle_id, turn) DO NOTHING) SELECT COUNT(*) FROM begun"
    )
});
static POSTGRES_FINISH_TURN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH finished AS ({FINISH_TURN} RETURNING id, turn), kept AS (INSERT INTO replies (battle_id, turn, side, model, \
         text, reasoning, ending, first_token_ms, duration_ms) SELECT finished.id, finished.turn, replies.* FROM finished, \
         UNNEST($6, $7, $8, $9, $10, $11, $12) AS replies {LATEST_REPLY_STAYS}) SELECT COUNT(*) FROM finished"
    )
});

/// A database that keeps the turns of battles.
pub(super) trait KeepsTurns {
    /// Keeps a battle with its first prompt; `false` where another battle has its id.
    async fn begin_battle(&self, battle: &BattleRow, prompt: &str, now: Timestamp) -> sqlx::Result<bool>;

    /// Keeps the replies of a turn and moves its battle on; `false` where `run` does not answer it any more.
    async fn finish_turn(
        &self,
        battle: &str,
        run: &str,
        progress: Progress,
        replies: &[NewReply],
        now: Timestamp,
    ) -> sqlx::Result<bool>;
}

macro_rules! bind_battle {
    ($query:expr, $battle:expr, $now:expr) => {
        $query
            .bind(&$battle.id)
            .bind(&$battle.visitor)
            .bind($battle.models[0].as_str())
            .bind($battle.models[1].as_str())
            .bind(&$battle.pairing_policy)
            .bind(i64::from($battle.policy_version))
            .bind($battle.pair_probability)
            .bind(&$battle.language)
            .bind(&$battle.category)
            .bind(&$battle.intent)
            .bind(&$battle.answered_by)
            .bind($now.0)
    };
}

impl KeepsTurns for SqlitePool {
    async fn begin_battle(&self, battle: &BattleRow, prompt: &str, now: Timestamp) -> sqlx::Result<bool> {
        let mut tx = self.begin().await?;
        let begun = bind_battle!(sqlx::query(INSERT_BATTLE), battle, now).execute(&mut *tx).await?;
        if begun.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query(INSERT_TURN).bind(&battle.id).bind(1_i64).bind(prompt).bind(now.0).execute(&mut *tx).await?;
        tx.commit().await.map(|()| true)
    }

    async fn finish_turn(
        &self,
        battle: &str,
        run: &str,
        progress: Progress,
        replies: &[NewReply],
        now: Timestamp,
    ) -> sqlx::Result<bool> {
        let mut tx = self.begin().await?;
        let finished = sqlx::query(FINISH_TURN)
            .bind(battle)
            .bind(run)
            .bind(i64::from(progress.turn))
            .bind(progress.stage.as_str())
            .bind(now.0)
            .execute(&mut *tx)
            .await?;
        if finished.rows_affected() == 0 {
            return Ok(false);
        }
        for reply in replies {
            sqlx::query(SQLITE_UPSERT_REPLY.as_str())
                .bind(battle)
                .bind(i64::from(progress.turn))
                .bind(reply.side.as_str())
                .bind(reply.model.as_str())
                .bind(&reply.text)
                .bind(&reply.reasoning)
                .bind(reply.ending.as_str())
                .bind(reply.first_token_ms.map(signed))
                .bind(signed(reply.duration_ms))
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await.map(|()| true)
    }
}

impl KeepsTurns for PgPool {
    async fn begin_battle(&self, battle: &BattleRow, prompt: &str, now: Timestamp) -> sqlx::Result<bool> {
        let statement = sqlx::query_scalar::<_, i64>(POSTGRES_BEGIN_BATTLE.as_str());
        let begun = bind_battle!(statement, battle, now).bind(prompt).fetch_one(self).await?;
        Ok(begun > 0)
    }

    async fn finish_turn(
        &self,
        battle: &str,
        run: &str,
        progress: Progress,
        replies: &[NewReply],
        now: Timestamp,
    ) -> sqlx::Result<bool> {
        fn column<'a, T>(replies: &'a [NewReply], value: impl Fn(&'a NewReply) -> T) -> Vec<T> {
            replies.iter().map(value).collect()
        }
        let finished: i64 = sqlx::query_scalar(POSTGRES_FINISH_TURN.as_str())
            .bind(battle)
            .bind(run)
            .bind(i64::from(progress.turn))
            .bind(progress.stage.as_str())
            .bind(now.0)
            .bind(column(replies, |reply| reply.side.as_str()))
            .bind(column(replies, |reply| reply.model.as_str()))
            .bind(column(replies, |reply| reply.text.as_str()))
            .bind(column(replies, |reply| reply.reasoning.as_str()))
            .bind(column(replies, |reply| reply.ending.as_str()))
            .bind(column(replies, |reply| reply.first_token_ms.map(signed)))
            .bind(column(replies, |reply| signed(reply.duration_ms)))
            .fetch_one(self)
            .await?;
        Ok(finished > 0)
    }
}
