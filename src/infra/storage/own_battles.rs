//! The battles of one visitor: found again, shared by a link, and rid of their texts.

use std::sync::LazyLock;

use sqlx_macros::FromRow;

use super::vote_exclusions::IS_RATED;
use super::vote_rows::parse_outcome;
use super::{Database, DeletionTarget, Store, StoreError, on_reader, on_writer, unsigned};
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::{BattleId, ModelId, Outcome, Side, VisitorId};
use crate::domain::rating::own_leaderboard::OwnVote;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::battle_rows::{parse_mode, parse_stage};

const SELECT_OWN: &str = "SELECT battles.id, battles.mode, stage, battles.turn, battles.created_at, first.prompt, votes.seq, \
     votes.outcome, battles.model_a, battles.model_b, battle_shares.token FROM battles \
     LEFT JOIN turns AS first ON first.battle_id = battles.id AND first.turn = 1 \
     LEFT JOIN votes ON votes.battle_id = battles.id LEFT JOIN battle_shares ON battle_shares.battle_id = battles.id \
     WHERE battles.visitor = $1 AND battles.visitor <> '' AND ($2 = '' OR battles.id < $2) \
     AND ($3 = '' OR EXISTS (SELECT 1 FROM turns AS said WHERE said.battle_id = battles.id \
     AND (said.prompt LIKE $3 ESCAPE '\\' OR LOWER(said.prompt) LIKE $4 ESCAPE '\\'))) \
     ORDER BY battles.id DESC LIMIT $5";
static SELECT_RATED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT votes.seq, votes.outcome, votes.model_a, votes.model_b FROM battles \
         JOIN votes ON votes.battle_id = battles.id \
         WHERE battles.visitor = $1 AND battles.visitor <> '' AND {IS_RATED} ORDER BY battles.id DESC LIMIT $2"
    )
});
/// A battle that has ended takes no text any more, so nothing is written after the deletion.
const ABANDON_OPEN: &str = "UPDATE battles SET stage = 'abandoned', updated_at = $2 WHERE visitor = $1 \
     AND visitor <> '' AND stage IN ('answering', 'ready')";
/// A battle that has begun since is another one, whose replies are still to come.
const SELECT_WITH_TEXT: &str = "SELECT battles.id FROM battles WHERE visitor = $1 AND visitor <> '' \
     AND stage NOT IN ('answering', 'ready') \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id) ORDER BY battles.id LIMIT $2";
/// Through the key of turns: where texts are deleted by their age, the oldest that are left come first.
const SELECT_TEXTS_BEFORE: &str = "SELECT DISTINCT turns.battle_id FROM turns JOIN battles ON battles.id = turns.battle_id \
     WHERE battles.created_at < $1 AND battles.stage NOT IN ('answering', 'ready') ORDER BY turns.battle_id LIMIT $2";
const COUNT_TEXTS_BEFORE: &str = "SELECT CAST(COUNT(DISTINCT turns.battle_id) AS BIGINT) FROM turns \
     JOIN battles ON battles.id = turns.battle_id \
     WHERE battles.created_at < $1 AND battles.stage NOT IN ('answering', 'ready')";
/// Of one battle each, so that the key is used whatever a planner makes of a list. The salt after the turns: the
/// transaction that appends the battle's vote to the public log holds those, and is waited for. Without the salt, nobody can see in the log whether a
/// text was the one that it commits to.
const DELETE_TEXTS: [&str; 6] = [
    "DELETE FROM battle_shares WHERE battle_id = $1",
    "DELETE FROM battle_images WHERE battle_id = $1",
    DELETE_UNUSED_IMAGES,
    "DELETE FROM replies WHERE battle_id = $1",
    "DELETE FROM turns WHERE battle_id = $1",
    "DELETE FROM log_salts WHERE position IN (SELECT log_entries.position FROM votes \
     JOIN log_entries ON log_entries.kind = 'vote' AND log_entries.subject = votes.id WHERE votes.battle_id = $1)",
];
/// Those of the battle's visitor that no battle shows any more, unless they may have been sent for one that is to begin.
const DELETE_UNUSED_IMAGES: &str = "DELETE FROM images WHERE visitor = (SELECT visitor FROM battles WHERE id = $1) \
     AND created_at <= (SELECT created_at FROM battles WHERE id = $1) \
     AND NOT EXISTS (SELECT 1 FROM battle_images WHERE battle_images.image_id = images.id)";
/// Where all texts of a visitor go: also those that they sent for a question that they have not asked.
const DELETE_UNUSED_IMAGES_OF: &str = "DELETE FROM images WHERE visitor = $1 AND visitor <> '' \
     AND NOT EXISTS (SELECT 1 FROM battle_images WHERE battle_images.image_id = images.id)";
/// Battles whose texts go in one commit.
const DELETED_AT_ONCE: i64 = 50;
/// Only a battle with a vote, whose texts are there; one that is shared keeps its link.
const INSERT_SHARE: &str = "INSERT INTO battle_shares (battle_id, token, created_at) \
     SELECT id, $3, $4 FROM battles WHERE id = $1 AND visitor = $2 AND visitor <> '' AND stage = 'voted' \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id) ON CONFLICT DO NOTHING";
const DELETE_SHARE: &str = "DELETE FROM battle_shares WHERE battle_id = $1 \
     AND EXISTS (SELECT 1 FROM battles WHERE id = $1 AND visitor = $2 AND visitor <> '')";
const SELECT_TOKEN: &str = "SELECT token FROM battle_shares WHERE battle_id = $1";
const SELECT_SHARED: &str = "SELECT battle_id FROM battle_shares WHERE token = $1";

/// Which of a visitor's battles are wanted.
#[derive(Debug, Clone, Default)]
pub struct OwnBattlesFilter {
    /// Only those that began before this one.
    pub before: Option<BattleId>,
    /// Only those with a question that contains this.
    pub search: Option<String>,
    /// How many at most.
    pub limit: u32,
}

/// One of a visitor's battles, as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnBattleRow {
    /// Its id.
    pub id: BattleId,
    /// Which of its models the visitor knew before the vote.
    pub mode: BattleMode,
    /// Its stage.
    pub stage: Stage,
    /// Its turns.
    pub turns: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// The first question; `None` where the texts are deleted.
    pub prompt: Option<String>,
    /// What the visitor said; `None` without a vote.
    pub outcome: Option<Outcome>,
    /// The models of sides A and B that the visitor may know.
    pub models: [Option<ModelId>; 2],
    /// The token of its link, where it is shared.
    pub share: Option<String>,
}

#[derive(FromRow)]
struct RawOwn {
    id: String,
    mode: String,
    stage: String,
    turn: i64,
    created_at: i64,
    prompt: Option<String>,
    seq: Option<i64>,
    outcome: Option<String>,
    model_a: String,
    model_b: String,
    token: Option<String>,
}

impl TryFrom<RawOwn> for OwnBattleRow {
    type Error = StoreError;

    fn try_from(raw: RawOwn) -> Result<Self, StoreError> {
        let mode = parse_mode(&raw.mode, &raw.id)?;
        let outcome = raw.seq.zip(raw.outcome).map(|(seq, outcome)| parse_outcome(&outcome, seq)).transpose()?;
        let known = |side: Side, model| {
            let is_known = mode.sides().contains(&side) && (outcome.is_some() || mode.names(side));
            is_known.then(|| ModelId::new(model))
        };
        Ok(Self {
            stage: parse_stage(&raw.stage, &raw.id)?,
            turns: unsigned(raw.turn, "battles", "turn", &raw.id)?,
            created_at: Timestamp(raw.created_at),
            prompt: raw.prompt,
            outcome,
            models: [known(Side::A, raw.model_a), known(Side::B, raw.model_b)],
            mode,
            share: raw.token,
            id: BattleId::new(raw.id),
        })
    }
}

impl Store {
    /// Battles of a visitor, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn own_battles(
        &self,
        visitor: &VisitorId,
        filter: &OwnBattlesFilter,
    ) -> Result<Vec<OwnBattleRow>, StoreError> {
        let _time = store_time("own_battles");
        let search = filter.search.as_deref().map(containing).unwrap_or_default();
        let rows: Vec<RawOwn> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OWN)
                .bind(visitor.as_str())
                .bind(filter.before.as_ref().map_or("", BattleId::as_str))
                .bind(&search)
                .bind(search.to_lowercase())
                .bind(i64::from(filter.limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(OwnBattleRow::try_from).collect()
    }

    /// The latest rated votes of a visitor, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn own_rated_votes(&self, visitor: &VisitorId, limit: u32) -> Result<Vec<OwnVote>, StoreError> {
        let _time = store_time("own_rated_votes");
        let rows: Vec<(i64, String, String, String)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_RATED.as_str()).bind(visitor.as_str()).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        let vote = |(seq, outcome, a, b): (i64, String, String, String)| {
            Ok(OwnVote { models: [a, b].map(ModelId::new), outcome: parse_outcome(&outcome, seq)? })
        };
        rows.into_iter().map(vote).collect()
    }

    /// Deletes all questions of a visitor, the replies to them, the links to them, and all images; votes stay. Battles under way
    /// end first. Returns how many battles lost their texts. Where it fails half-way, the next call does the rest.
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

    /// Deletes the questions and replies of a target whose open battles have ended, and the links to them. Returns how many battles
    /// lost their texts.
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
                sqlx::query_scalar(SELECT_WITH_TEXT).bind(visitor.as_str()).bind(DELETED_AT_ONCE).fetch_all(pool).await
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

    /// Battles that began before a moment, have ended, and have their texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_with_texts_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("battles_with_texts_before");
        let count: i64 =
            on_reader!(self, |pool| sqlx::query_scalar(COUNT_TEXTS_BEFORE).bind(before.0).fetch_one(pool).await)?;
        unsigned(count, "turns", "count", "battles")
    }

    /// Deletes the questions and replies of these battles, and the links to them. Returns how many battles lost their texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_texts_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("delete_texts_before");
        let mut deleted = 0;
        loop {
            let battles: Vec<String> = on_reader!(self, |pool| {
                sqlx::query_scalar(SELECT_TEXTS_BEFORE).bind(before.0).bind(DELETED_AT_ONCE).fetch_all(pool).await
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

    /// Leaves nothing of what was deleted in the files of an embedded database. A server keeps deleted rows until its next vacuum.
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

    /// Shares a battle of this visitor that has a vote and its texts; one that is shared keeps its token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn share_battle(
        &self,
        battle: &BattleId,
        visitor: &VisitorId,
        token: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("share_battle");
        on_writer!(self, |connection| {
            let query = sqlx::query(INSERT_SHARE).bind(battle.as_str()).bind(visitor.as_str()).bind(token).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Withdraws the link to a battle of this visitor.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn withdraw_share(&self, battle: &BattleId, visitor: &VisitorId) -> Result<(), StoreError> {
        let _time = store_time("withdraw_share");
        on_writer!(self, |connection| {
            let query = sqlx::query(DELETE_SHARE).bind(battle.as_str()).bind(visitor.as_str());
            query.execute(connection).await.map(drop)
        })
    }

    /// The token of the link to a battle, where it is shared.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn share_of(&self, battle: &BattleId) -> Result<Option<String>, StoreError> {
        let _time = store_time("share_of");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_TOKEN).bind(battle.as_str()).fetch_optional(pool).await)
    }

    /// The battle that is shared by this token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shared_battle(&self, token: &str) -> Result<Option<BattleId>, StoreError> {
        let _time = store_time("shared_battle");
        let battle: Option<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_SHARED).bind(token).fetch_optional(pool).await)?;
        Ok(battle.map(BattleId::new))
    }
}

/// A pattern for texts that contain this one, to the letter.
fn containing(text: &str) -> String {
    let literal: String = text.chars().fold(String::new(), |mut pattern, c| {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
        pattern
    });
    format!("%{literal}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_mean_something_in_a_pattern_are_searched_for_as_they_are() {
        assert_eq!(containing(r"50% of a_b\c"), r"%50\% of a\_b\\c%");
    }
}
