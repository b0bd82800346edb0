//! Votes, texts and exclusions that are not yet in the public log.

use sqlx_macros::FromRow;

use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, signed, unsigned};

const SELECT_CAST_AT: &str = "SELECT created_at FROM votes WHERE id = $1";
/// Votes are logged in the order of their numbers, which also lets both databases scan only the first ones.
const SELECT_UNLOGGED_VOTES: &str = "SELECT COUNT(*), MIN(CASE WHEN pairing_policy <> 'import' THEN created_at END) \
     FROM (SELECT created_at, pairing_policy FROM votes \
     WHERE seq > COALESCE((SELECT last_vote_seq FROM log_checkpoint WHERE id = 1), 0) ORDER BY seq LIMIT $1) AS unlogged";
/// Whether a session holds the advisory lock of [`crate::storage::vote::imports`]; `pg_locks` has its 64 bits in two columns.
const SELECT_IMPORTING: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) = hashtextextended('langya import ' || current_schema(), 0))";
/// Two queries, because each has its own small index.
const SELECT_CAST_WITH: &str = "SELECT vote_seq, rule, reason FROM vote_exclusions \
     WHERE with_vote AND withdrawn_at IS NULL AND vote_seq > $1 AND vote_seq <= $2 \
     UNION ALL SELECT vote_seq, rule, reason FROM vote_exclusions \
     WHERE with_vote AND withdrawn_at IS NOT NULL AND vote_seq > $1 AND vote_seq <= $2 ORDER BY vote_seq, rule";
/// For one vote and rule, a logged exclusion is withdrawn before the next one, and the active one comes last.
const SELECT_UNLOGGED: &str = "SELECT id, vote_seq, rule, reason, excluded_at, withdrawn_at, is_logged FROM ( \
     SELECT id, vote_seq, rule, reason, excluded_at, withdrawn_at, with_vote OR EXISTS (SELECT 1 FROM log_entries \
     WHERE kind = 'exclusion' AND subject = vote_exclusions.id) AS is_logged FROM vote_exclusions WHERE vote_seq <= $1) AS changes \
     WHERE NOT is_logged OR (withdrawn_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM log_entries \
     WHERE kind = 'withdrawal' AND subject = changes.id)) \
     ORDER BY vote_seq, rule, is_logged DESC, withdrawn_at IS NULL, excluded_at, id LIMIT $2";
const SELECT_PROMPTS: &str = "SELECT turns.battle_id, turns.turn, turns.prompt FROM votes \
     JOIN turns ON turns.battle_id = votes.battle_id AND turns.turn <= votes.turn \
     WHERE votes.seq > $1 AND votes.seq <= $2 ORDER BY turns.battle_id, turns.turn";
const SELECT_REPLIES: &str = "SELECT replies.battle_id, replies.turn, replies.side, replies.text FROM votes \
     JOIN replies ON replies.battle_id = votes.battle_id AND replies.turn <= votes.turn \
     WHERE votes.seq > $1 AND votes.seq <= $2";

/// Votes that are not in the log yet; only the first ones are scanned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnloggedVotes {
    /// Number of votes, up to the scan limit.
    pub count: u64,
    /// Time of the oldest vote that was not imported.
    pub oldest_cast: Option<Timestamp>,
}

/// An exclusion that, or whose withdrawal, is not in the log yet.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct UnloggedChange {
    /// Id of the exclusion.
    pub id: String,
    /// Number of the vote.
    pub vote_seq: i64,
    /// Name of the rule.
    pub rule: String,
    /// Reason of the exclusion.
    pub reason: String,
    /// Time of the exclusion in milliseconds.
    pub excluded_at: i64,
    /// Time of the withdrawal.
    pub withdrawn_at: Option<i64>,
    /// Whether the exclusion is already in the log.
    pub is_logged: bool,
}

/// A prompt of a battle with a vote.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct VotedPrompt {
    /// Id of the battle.
    pub battle_id: String,
    /// Turn, from 1.
    pub turn: i64,
    /// Text of the prompt.
    pub prompt: String,
}

/// A reply of a battle with a vote.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct VotedReply {
    /// Id of the battle.
    pub battle_id: String,
    /// Turn, from 1.
    pub turn: i64,
    /// `a` or `b`.
    pub side: String,
    /// Text of the reply.
    pub text: String,
}

impl Store {
    /// Reads the time of a vote; `None` if there is no such vote.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_cast_at(&self, vote: &str) -> Result<Option<Timestamp>, StoreError> {
        let _time = store_time("vote_cast_at");
        let time: Option<i64> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_CAST_AT).bind(vote).fetch_optional(pool).await)?;
        Ok(time.map(Timestamp))
    }

    /// Counts the votes that wait for the log; scans only the first `most`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unlogged_votes(&self, most: u64) -> Result<UnloggedVotes, StoreError> {
        let _time = store_time("unlogged_votes");
        let (count, oldest_cast): (i64, Option<i64>) = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_UNLOGGED_VOTES).bind(signed(most)).fetch_one(pool).await
        })?;
        let count = unsigned(count, "votes", "COUNT(*)", "")?;
        Ok(UnloggedVotes { count, oldest_cast: oldest_cast.map(Timestamp) })
    }

    /// Whether an import of more than `FEW_UNLOGGED` votes into a shared database is running. A vote cast meanwhile may have to wait for
    /// its commit, and is then logged after the imported votes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_importing(&self) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(false);
        }
        let _time = store_time("is_importing");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_IMPORTING).fetch_one(pool).await)
    }

    /// Reads the rules and reasons of exclusions committed with votes of a range of numbers, ordered by vote and rule.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusions_cast_with(&self, after: i64, upto: i64) -> Result<Vec<(i64, String, String)>, StoreError> {
        let _time = store_time("exclusions_cast_with");
        on_reader!(self, |pool| sqlx::query_as(SELECT_CAST_WITH).bind(after).bind(upto).fetch_all(pool).await)
    }

    /// Reads unlogged exclusions and withdrawals of votes up to a number, in a valid order of appending.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unlogged_changes(&self, upto: i64, limit: u32) -> Result<Vec<UnloggedChange>, StoreError> {
        let _time = store_time("unlogged_changes");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_UNLOGGED).bind(upto).bind(i64::from(limit)).fetch_all(pool).await
        })
    }

    /// Reads the prompts of battles with votes in a range of numbers, by battle and turn.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn voted_prompts(&self, after: i64, upto: i64) -> Result<Vec<VotedPrompt>, StoreError> {
        let _time = store_time("voted_prompts");
        on_reader!(self, |pool| sqlx::query_as(SELECT_PROMPTS).bind(after).bind(upto).fetch_all(pool).await)
    }

    /// Reads the replies of battles with votes in a range of numbers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn voted_replies(&self, after: i64, upto: i64) -> Result<Vec<VotedReply>, StoreError> {
        let _time = store_time("voted_replies");
        on_reader!(self, |pool| sqlx::query_as(SELECT_REPLIES).bind(after).bind(upto).fetch_all(pool).await)
    }
}
