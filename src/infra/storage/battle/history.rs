//! Battles of one visitor: listing, and sharing by link.

use std::sync::LazyLock;

use sqlx_macros::FromRow;

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::{BattleId, ModelId, Outcome, Side, VisitorId};
use crate::domain::rating::leaderboards::own_leaderboard::OwnVote;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::rows::battle_rows::{parse_mode, parse_stage};
use crate::storage::rows::vote_rows::parse_outcome;
use crate::storage::vote::exclusions::IS_RATED;
use crate::storage::{Store, StoreError, on_reader, on_writer, unsigned};

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
/// Only a battle with a vote and its texts; an existing link stays.
const INSERT_SHARE: &str = "INSERT INTO battle_shares (battle_id, token, created_at) \
     SELECT id, $3, $4 FROM battles WHERE id = $1 AND visitor = $2 AND visitor <> '' AND stage = 'voted' \
     AND EXISTS (SELECT 1 FROM turns WHERE turns.battle_id = battles.id) ON CONFLICT DO NOTHING";
const DELETE_SHARE: &str = "DELETE FROM battle_shares WHERE battle_id = $1 \
     AND EXISTS (SELECT 1 FROM battles WHERE id = $1 AND visitor = $2 AND visitor <> '')";
const SELECT_TOKEN: &str = "SELECT token FROM battle_shares WHERE battle_id = $1";
const SELECT_SHARED: &str = "SELECT battle_id FROM battle_shares WHERE token = $1";

/// Filter of a visitor's battles.
#[derive(Debug, Clone, Default)]
pub struct OwnBattlesFilter {
    /// Only battles that began before this one.
    pub before: Option<BattleId>,
    /// Only battles with a prompt that contains this.
    pub search: Option<String>,
    /// Maximum number of battles.
    pub limit: u32,
}

/// A visitor's battle as listed.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnBattleRow {
    /// Id of the battle.
    pub id: BattleId,
    /// Mode: which models the visitor knew before the vote.
    pub mode: BattleMode,
    /// Stage of the battle.
    pub stage: Stage,
    /// Number of turns.
    pub turns: u64,
    /// Start time.
    pub created_at: Timestamp,
    /// First prompt; `None` if the texts were deleted.
    pub prompt: Option<String>,
    /// Outcome of the visitor's vote; `None` without a vote.
    pub outcome: Option<Outcome>,
    /// Models of sides A and B that the visitor may know.
    pub models: [Option<ModelId>; 2],
    /// Token of its link, if it is shared.
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
    /// Reads battles of a visitor, the latest first.
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

    /// Reads the latest rated votes of a visitor, at most `limit`.
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

    /// Shares a battle of this visitor that has a vote and its texts; an existing link keeps its token.
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

    /// Reads the share token of a battle, if any.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn share_of(&self, battle: &BattleId) -> Result<Option<String>, StoreError> {
        let _time = store_time("share_of");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_TOKEN).bind(battle.as_str()).fetch_optional(pool).await)
    }

    /// Reads the battle with this share token.
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

/// Builds a LIKE pattern for texts that contain this one literally.
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
