//! Digests of first questions, by which votes on the same question are found. A digest stands beside its text and goes with it.

use super::vote_exclusions::IS_RATED;
use super::vote_rows::parse_outcome;
use super::{Store, StoreError, on_reader, on_writer, unsigned};
use crate::domain::battle::{BattleId, ModelId};
use crate::domain::benchmark::arena_votes::QuestionVotes;
use crate::metrics::store_time;
use std::sync::LazyLock;

/// Through an index that has these alone.
const SELECT_WITHOUT: &str =
    "SELECT battle_id, prompt FROM turns WHERE turn = 1 AND digest IS NULL ORDER BY battle_id LIMIT $1";
/// A question that was edited or deleted meanwhile is another one.
const SET: &str = "UPDATE turns SET digest = $3 WHERE battle_id = $1 AND turn = 1 AND prompt = $2";
/// Votes on the first turn alone: a later one is about other questions too. None that the leaderboard does not have yet: a count that
/// moved with each vote would show a person who watches it which models had just met.
static SELECT_VOTES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT votes.model_a, votes.model_b, votes.outcome, COUNT(*) FROM turns JOIN votes ON votes.battle_id = turns.battle_id \
         WHERE turns.digest = $1 AND turns.turn = 1 AND votes.turn = 1 AND {IS_RATED} AND NOT EXISTS (SELECT 1 FROM battle_images \
         WHERE battle_images.battle_id = turns.battle_id) \
         AND votes.seq <= (SELECT COALESCE(MAX(last_vote_seq), 0) FROM leaderboards) GROUP BY votes.model_a, votes.model_b, votes.outcome"
    )
});

/// The first question of a battle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstQuestion {
    /// The battle.
    pub battle: BattleId,
    /// What was asked.
    pub prompt: String,
}

impl Store {
    /// First questions that have no digest yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn questions_without_digest(&self, limit: u32) -> Result<Vec<FirstQuestion>, StoreError> {
        let _time = store_time("questions_without_digest");
        let rows: Vec<(String, String)> =
            on_reader!(self, |pool| { sqlx::query_as(SELECT_WITHOUT).bind(i64::from(limit)).fetch_all(pool).await })?;
        Ok(rows.into_iter().map(|(battle, prompt)| FirstQuestion { battle: BattleId::new(battle), prompt }).collect())
    }

    /// Keeps the digests of first questions whose texts are still these.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_question_digests(&self, digests: &[(FirstQuestion, String)]) -> Result<(), StoreError> {
        let _time = store_time("set_question_digests");
        on_writer!(self, |connection| {
            let mut tx = sqlx::Connection::begin(connection).await?;
            for (FirstQuestion { battle, prompt }, digest) in digests {
                sqlx::query(SET).bind(battle.as_str()).bind(prompt).bind(digest).execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// The rated votes of battles whose only question has this digest, up to those of the published leaderboard.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_on_question(&self, digest: &str) -> Result<Vec<QuestionVotes>, StoreError> {
        let _time = store_time("votes_on_question");
        let rows: Vec<(String, String, String, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_VOTES.as_str()).bind(digest).fetch_all(pool).await)?;
        let counted = |(a, b, outcome, votes): (String, String, String, i64)| {
            Ok(QuestionVotes {
                outcome: parse_outcome(&outcome, 0)?,
                votes: unsigned(votes, "votes", "count", digest)?,
                models: [a, b].map(ModelId::new),
            })
        };
        rows.into_iter().map(counted).collect()
    }
}
