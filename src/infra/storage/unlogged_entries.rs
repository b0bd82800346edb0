//! Votes, texts and exclusions that the public log does not have yet.

use sqlx_macros::FromRow;

use super::{Store, StoreError, on_reader, signed, unsigned};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const SELECT_CAST_AT: &str = "SELECT created_at FROM votes WHERE id = $1";
/// Votes are logged in the order of their numbers, which also has both databases look at the first ones alone.
const SELECT_UNLOGGED_VOTES: &str = "SELECT COUNT(*), MIN(CASE WHEN pairing_policy <> 'import' THEN created_at END) \
     FROM (SELECT created_at, pairing_policy FROM votes \
     WHERE seq > COALESCE((SELECT last_vote_seq FROM log_checkpoint WHERE id = 1), 0) ORDER BY seq LIMIT $1) AS unlogged";
/// Whether a session has the lock of [`super::imports`]; `pg_locks` has its 64 bits in two columns.
const SELECT_IMPORTING: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) = hashtextextended('langya import ' || current_schema(), 0))";
/// Two queries, because each has a small index of its own.
const SELECT_CAST_WITH: &str = "SELECT vote_seq, rule, reason FROM vote_exclusions \
     WHERE with_vote AND withdrawn_at IS NULL AND vote_seq > $1 AND vote_seq <= $2 \
     UNION ALL SELECT vote_seq, rule, reason FROM vote_exclusions \
     WHERE with_vote AND withdrawn_at IS NOT NULL AND vote_seq > $1 AND vote_seq <= $2 ORDER BY vote_seq, rule";
/// Of one vote and rule, an exclusion in the log is withdrawn before the next one comes, and the one in force is the last.
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

/// The votes that are not in the log yet, of which the first ones were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnloggedVotes {
    /// How many there are, as far as they were counted.
    pub count: u64,
    /// When the oldest of them was cast that was not imported.
    pub oldest_cast: Option<Timestamp>,
}

/// An exclusion of which the exclusion or the withdrawal is not in the log yet.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct UnloggedChange {
    /// Its id.
    pub id: String,
    /// Number of the vote.
    pub vote_seq: i64,
    /// Name of the rule.
    pub rule: String,
    /// Why it applies.
    pub reason: String,
    /// Time of the exclusion, in milliseconds.
    pub excluded_at: i64,
    /// Time of the withdrawal.
    pub withdrawn_at: Option<i64>,
    /// Whether the exclusion is in the log already.
    pub is_logged: bool,
}

/// A text of a battle that was voted on.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct VotedPrompt {
    /// The battle.
    pub battle_id: String,
    /// Counted from 1.
    pub turn: i64,
    /// What was asked.
    pub prompt: String,
}

/// A reply of a battle that was voted on.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct VotedReply {
    /// The battle.
    pub battle_id: String,
    /// Counted from 1.
    pub turn: i64,
    /// `a` or `b`.
    pub side: String,
    /// What was answered.
    pub text: String,
}

impl Store {
    /// When a vote was cast; `None` where there is no such vote.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_cast_at(&self, vote: &str) -> Result<Option<Timestamp>, StoreError> {
        let _time = store_time("vote_cast_at");
        let time: Option<i64> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_CAST_AT).bind(vote).fetch_optional(pool).await)?;
        Ok(time.map(Timestamp))
    }

    /// The votes that wait for the log; only the first `most` are counted and looked at.
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

    /// Whether an import of more than `FEW_UNLOGGED` votes into a shared database is under way. A vote that is cast meanwhile may have to
    /// wait for its commit, and comes into the log after its votes then.
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

    /// Rules and reasons that excluded votes of a range of numbers when they were cast, in the order of votes and rules.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusions_cast_with(&self, after: i64, upto: i64) -> Result<Vec<(i64, String, String)>, StoreError> {
        let _time = store_time("exclusions_cast_with");
        on_reader!(self, |pool| sqlx::query_as(SELECT_CAST_WITH).bind(after).bind(upto).fetch_all(pool).await)
    }

    /// Exclusions and withdrawals of votes up to a number that the log does not have, in an order in which they may follow each other.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unlogged_changes(&self, upto: i64, limit: u32) -> Result<Vec<UnloggedChange>, StoreError> {
        let _time = store_time("unlogged_changes");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_UNLOGGED).bind(upto).bind(i64::from(limit)).fetch_all(pool).await
        })
    }

    /// What was asked in the battles of the votes of a range of numbers, by battle and turn.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn voted_prompts(&self, after: i64, upto: i64) -> Result<Vec<VotedPrompt>, StoreError> {
        let _time = store_time("voted_prompts");
        on_reader!(self, |pool| sqlx::query_as(SELECT_PROMPTS).bind(after).bind(upto).fetch_all(pool).await)
    }

    /// What was answered there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn voted_replies(&self, after: i64, upto: i64) -> Result<Vec<VotedReply>, StoreError> {
        let _time = store_time("voted_replies");
        on_reader!(self, |pool| sqlx::query_as(SELECT_REPLIES).bind(after).bind(upto).fetch_all(pool).await)
    }
}
