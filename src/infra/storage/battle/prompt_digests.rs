//! Digests of first prompts, by which votes on the same prompt are found. A digest is stored beside its text and deleted with it.

use crate::domain::battle::{BattleId, ModelId};
use crate::domain::benchmark::scores::arena_votes::QuestionVotes;
use crate::metrics::store_time;
use crate::storage::rows::vote_rows::parse_outcome;
use crate::storage::vote::exclusions::IS_RATED;
use crate::storage::{Store, StoreError, on_reader, on_writer, unsigned};
use std::sync::LazyLock;

/// By an index that contains only these.
const SELECT_WITHOUT: &str =
    "SELECT battle_id, prompt FROM turns WHERE turn = 1 AND digest IS NULL ORDER BY battle_id LIMIT $1";
/// A prompt that was edited or deleted meanwhile does not match.
const SET: &str = "UPDATE turns SET digest = $3 WHERE battle_id = $1 AND turn = 1 AND prompt = $2";
/// Only votes on the first turn: a later one is about other prompts too. Only votes that the published leaderboard includes: a count that
/// changed with each vote would reveal to an observer which models had just met.
static SELECT_VOTES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT votes.model_a, votes.model_b, votes.outcome, COUNT(*) FROM turns JOIN votes ON votes.battle_id = turns.battle_id \
         WHERE turns.digest = $1 AND turns.turn = 1 AND votes.turn = 1 AND {IS_RATED} AND NOT EXISTS (SELECT 1 FROM battle_images \
         WHERE battle_images.battle_id = turns.battle_id) \
         AND votes.seq <= (SELECT COALESCE(MAX(last_vote_seq), 0) FROM leaderboards) GROUP BY votes.model_a, votes.model_b, votes.outcome"
    )
});

/// First prompt of a battle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstQuestion {
    /// The battle.
    pub battle: BattleId,
    /// Text of the prompt.
    pub prompt: String,
}

impl Store {
    /// Reads first prompts without a digest.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn questions_without_digest(&self, limit: u32) -> Result<Vec<FirstQuestion>, StoreError> {
        let _time = store_time("questions_without_digest");
        let rows: Vec<(String, String)> =
            on_reader!(self, |pool| { sqlx::query_as(SELECT_WITHOUT).bind(i64::from(limit)).fetch_all(pool).await })?;
        Ok(rows.into_iter().map(|(battle, prompt)| FirstQuestion { battle: BattleId::new(battle), prompt }).collect())
    }

    /// Stores the digests of first prompts whose texts are unchanged.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_prompt_digests(&self, digests: &[(FirstQuestion, String)]) -> Result<(), StoreError> {
        let _time = store_time("set_prompt_digests");
        on_writer!(self, |connection| {
            let mut tx = sqlx::Connection::begin(connection).await?;
            for (FirstQuestion { battle, prompt }, digest) in digests {
                sqlx::query(SET).bind(battle.as_str()).bind(prompt).bind(digest).execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// Reads the rated votes of battles whose only prompt has this digest, up to those of the published leaderboard.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_on_prompt(&self, digest: &str) -> Result<Vec<QuestionVotes>, StoreError> {
        let _time = store_time("votes_on_prompt");
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
