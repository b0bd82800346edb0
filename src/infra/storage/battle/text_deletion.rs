//! Deletion of prompts, replies and images: of one battle, of a visitor, or by age (retention).

use crate::domain::battle::VisitorId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Database, DeletionTarget, Store, StoreError, on_reader, on_writer, unsigned};

/// An ended battle accepts no more texts, so nothing is written after the deletion.
const ABANDON_OPEN: &str = "UPDATE battles SET stage = 'abandoned', updated_at = $2 WHERE visitor = $1 \
     AND visitor <> '' AND stage IN ('answering', 'ready')";
/// A battle that has begun since is not included: its replies are still to come.
const SELECT_WITH_TEXT: &str = "SELECT battles.id FROM battles WHERE visitor = $1 AND visitor <> '' \
     AND stage NOT IN ('answering', 'ready') \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id) ORDER BY battles.id LIMIT $2";
/// By the key of turns: if texts are deleted by age, the oldest remaining ones come first.
const SELECT_TEXTS_BEFORE: &str = "SELECT DISTINCT turns.battle_id FROM turns JOIN battles ON battles.id = turns.battle_id \
     WHERE battles.created_at < $1 AND battles.stage NOT IN ('answering', 'ready') ORDER BY turns.battle_id LIMIT $2";
const COUNT_TEXTS_BEFORE: &str = "SELECT CAST(COUNT(DISTINCT turns.battle_id) AS BIGINT) FROM turns \
     JOIN battles ON battles.id = turns.battle_id \
     WHERE battles.created_at < $1 AND battles.stage NOT IN ('answering', 'ready')";
/// Of one battle each, so that the key is used whatever a planner makes of a list. The salt after the turns: the transaction that appends
/// the battle's vote to the public log locks those, and is waited for. Without the salt, the log cannot prove whether a text was the one
/// that it commits to.
const DELETE_TEXTS: [&str; 6] = [
    "DELETE FROM battle_shares WHERE battle_id = $1",
    "DELETE FROM battle_images WHERE battle_id = $1",
    DELETE_UNUSED_IMAGES,
    "DELETE FROM replies WHERE battle_id = $1",
    "DELETE FROM turns WHERE battle_id = $1",
    "DELETE FROM log_salts WHERE position IN (SELECT log_entries.position FROM votes \
     JOIN log_entries ON log_entries.kind = 'vote' AND log_entries.subject = votes.id WHERE votes.battle_id = $1)",
];
/// Images of the battle's visitor that no battle shows any more, unless they may have been uploaded for an upcoming one.
const DELETE_UNUSED_IMAGES: &str = "DELETE FROM images WHERE visitor = (SELECT visitor FROM battles WHERE id = $1) \
     AND created_at <= (SELECT created_at FROM battles WHERE id = $1) \
     AND NOT EXISTS (SELECT 1 FROM battle_images WHERE battle_images.image_id = images.id)";
/// For the deletion of all texts of a visitor: includes images uploaded for a prompt that was never sent.
const DELETE_UNUSED_IMAGES_OF: &str = "DELETE FROM images WHERE visitor = $1 AND visitor <> '' \
     AND NOT EXISTS (SELECT 1 FROM battle_images WHERE battle_images.image_id = images.id)";
/// Number of battles whose texts are deleted in one commit.
const DELETION_BATCH_SIZE: i64 = 50;

impl Store {
    /// Deletes all prompts of a visitor, their replies and share links, and all images; votes stay. Running battles are ended first.
    /// Returns the number of battles that lost their texts. After a partial failure, the next call deletes the rest.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_texts_of(&self, visitor: &VisitorId, now: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("delete_texts_of");
        on_writer!(self, |connection| {
            sqlx::query(ABANDON_OPEN).bind(visitor.as_str()).bind(now.0).execute(connection).await.map(drop)
        })?;
        self.delete_ended_texts_of(visitor).await
    }

    /// Deletes the prompts, replies and share links of a target whose open battles have ended. Returns the number of battles that lost
    /// their texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_texts_of_target(&self, target: &DeletionTarget) -> Result<u64, StoreError> {
        let _time = store_time("delete_texts_of_target");
        let Some(visitor) = &target.visitor else {
            let had_texts = self.battles_with_texts(target).await?;
            self.delete_texts(&[target.battle.to_string()]).await?;
            self.empty_log().await;
            return Ok(had_texts);
        };
        self.delete_ended_texts_of(visitor).await
    }

    async fn delete_ended_texts_of(&self, visitor: &VisitorId) -> Result<u64, StoreError> {
        let mut deleted = 0;
        loop {
            let battles: Vec<String> = on_reader!(self, |pool| {
                sqlx::query_scalar(SELECT_WITH_TEXT)
                    .bind(visitor.as_str())
                    .bind(DELETION_BATCH_SIZE)
                    .fetch_all(pool)
                    .await
            })?;
            if battles.is_empty() {
                break;
            }
            self.delete_texts(&battles).await?;
            deleted += battles.len() as u64;
        }
        on_writer!(self, |connection| {
            sqlx::query(DELETE_UNUSED_IMAGES_OF).bind(visitor.as_str()).execute(connection).await.map(drop)
        })?;
        self.empty_log().await;
        Ok(deleted)
    }

    /// Counts battles that began before a time, have ended, and have their texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_with_texts_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("battles_with_texts_before");
        let count: i64 =
            on_reader!(self, |pool| sqlx::query_scalar(COUNT_TEXTS_BEFORE).bind(before.0).fetch_one(pool).await)?;
        unsigned(count, "turns", "count", "battles")
    }

    /// Deletes the prompts, replies and share links of battles that began before a time. Returns the number of battles that lost their
    /// texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_texts_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("delete_texts_before");
        let mut deleted = 0;
        loop {
            let battles: Vec<String> = on_reader!(self, |pool| {
                sqlx::query_scalar(SELECT_TEXTS_BEFORE).bind(before.0).bind(DELETION_BATCH_SIZE).fetch_all(pool).await
            })?;
            if battles.is_empty() {
                break;
            }
            self.delete_texts(&battles).await?;
            deleted += battles.len() as u64;
        }
        if deleted > 0 {
            self.empty_log().await;
        }
        Ok(deleted)
    }

    /// Erases deleted data from the files of an embedded database. A server keeps deleted rows until its next vacuum.
    async fn empty_log(&self) {
        if let Database::Sqlite(pools) = &self.database {
            pools.empty_log().await;
        }
    }

    async fn delete_texts(&self, battles: &[String]) -> Result<(), StoreError> {
        on_writer!(self, |connection| {
            let mut tx = sqlx::Connection::begin(connection).await?;
            for battle in battles {
                for delete in DELETE_TEXTS {
                    sqlx::query(delete).bind(battle).execute(&mut *tx).await?;
                }
            }
            tx.commit().await
        })
    }
}
