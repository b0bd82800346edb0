//! Votes: insert-only, one per battle, in log order by `seq`.

use sqlx::FromRow;

use super::write_queue::Written;
use super::{Store, StoreError, on_reader, unsigned};
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::battle::{ModelId, Outcome};
use crate::domain::time::Timestamp;
use crate::infra::metrics::store_time;

const SELECT_BY_BATTLE: &str = "SELECT seq, id, battle_id, visitor, model_a, model_b, outcome, turn, language, category, \
     intent, satisfaction, pairing_policy, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, \
     duration_ms_b, text_counts, rated, exclusion, receipt, created_at FROM votes WHERE battle_id = $1";
const SELECT_SATISFIED: &str =
    "SELECT seq, intent, satisfaction FROM votes WHERE rated AND satisfaction IS NOT NULL ORDER BY seq";
const SELECT_PAGE: &str = "SELECT seq, id, battle_id, visitor, model_a, model_b, outcome, turn, language, category, \
     intent, satisfaction, pairing_policy, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, \
     duration_ms_b, text_counts, rated, exclusion, receipt, created_at FROM votes \
     WHERE seq > $1 AND created_at >= $2 AND created_at < $3 ORDER BY seq LIMIT $4";

/// A vote to be kept.
#[derive(Debug, Clone)]
pub struct NewVoteRow {
    /// Its id.
    pub id: String,
    /// The battle it is cast on.
    pub battle: String,
    /// The latest turn as the voter saw it.
    pub turn: u32,
    /// What the person said.
    pub outcome: Outcome,
    /// The person's satisfaction, 1 to 5.
    pub satisfaction: Option<i64>,
    /// First-token times of sides A and B in the last turn.
    pub first_token_ms: [Option<u64>; 2],
    /// Durations of sides A and B in the last turn.
    pub duration_ms: [u64; 2],
    /// Text counts of sides A and B over all turns.
    pub text_counts: [TextCounts; 2],
    /// The rule that keeps it out of the rating, if one does.
    pub exclusion: Option<String>,
    /// What the voter is told, as JSON: every retry gets the same.
    pub receipt: String,
    /// When it was cast.
    pub created_at: Timestamp,
}

/// A stored vote.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteRow {
    /// Position in the log.
    pub seq: i64,
    /// Its id.
    pub id: String,
    /// Its battle.
    pub battle: String,
    /// Pseudonym of the voter.
    pub visitor: String,
    /// The models on sides A and B.
    pub models: [ModelId; 2],
    /// What the person said.
    pub outcome: Outcome,
    /// Turns of the battle.
    pub turn: u64,
    /// Language of the first prompt.
    pub language: String,
    /// Category, where known.
    pub category: Option<String>,
    /// Intent, where known.
    pub intent: Option<String>,
    /// 1 to 5, where given.
    pub satisfaction: Option<u64>,
    /// Name of the pairing policy.
    pub pairing_policy: String,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// First-token times of sides A and B.
    pub first_token_ms: [Option<u64>; 2],
    /// Durations of sides A and B.
    pub duration_ms: [u64; 2],
    /// Text counts of sides A and B.
    pub text_counts: [TextCounts; 2],
    /// Whether it counts in the rating.
    pub rated: bool,
    /// The rule that excludes it.
    pub exclusion: Option<String>,
    /// What the voter was told.
    pub receipt: String,
    /// When it was cast.
    pub created_at: Timestamp,
}

/// What became of an insert.
#[derive(Debug, Clone, PartialEq)]
pub enum VoteInsert {
    /// This call stored it.
    Stored,
    /// The battle had a vote: here it is.
    Existing(Box<VoteRow>),
    /// The battle has no vote and was not ready any more.
    BattleMoved,
}

/// What a visitor said of how satisfied they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SatisfiedVote {
    /// Number in the log.
    pub seq: i64,
    /// What the visitor wanted, where they said.
    pub intent: Option<String>,
    /// From 1 to 5.
    pub satisfaction: u8,
}

impl Store {
    /// Keeps a vote, which ends its battle by a trigger, in one commit with others that come at the same moment. A battle
    /// that has a vote keeps the first.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where too many wait; otherwise [`StoreError`], and a vote may or may not have been kept where
    /// the connection was lost: casting it again tells.
    pub async fn insert_vote(&self, vote: &NewVoteRow) -> Result<VoteInsert, StoreError> {
        let _time = store_time("insert_vote");
        self.database.refuse_if_not_durable()?;
        if self.writes.vote(vote.clone().into()).await? == Written::All {
            return Ok(VoteInsert::Stored);
        }
        Ok(match self.vote_on(&vote.battle).await? {
            Some(row) if row.id == vote.id => VoteInsert::Stored,
            Some(row) => VoteInsert::Existing(Box::new(row)),
            None => VoteInsert::BattleMoved,
        })
    }

    /// The vote on a battle.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_on(&self, battle: &str) -> Result<Option<VoteRow>, StoreError> {
        let _time = store_time("vote_on");
        let row: Option<RawVote> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_BY_BATTLE).bind(battle).fetch_optional(pool).await)?;
        row.map(VoteRow::try_from).transpose()
    }

    /// Votes after `seq`, cast in `[since, until)`, in log order, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn votes_after(
        &self,
        seq: i64,
        since: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<VoteRow>, StoreError> {
        let _time = store_time("votes_after");
        let rows: Vec<RawVote> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_PAGE)
                .bind(seq)
                .bind(since.0)
                .bind(until.0)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(VoteRow::try_from).collect()
    }

    /// The rated votes that say how satisfied the visitor was, in log order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn satisfied_votes(&self) -> Result<Vec<SatisfiedVote>, StoreError> {
        let _time = store_time("satisfied_votes");
        let rows: Vec<(i64, Option<String>, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_SATISFIED).fetch_all(pool).await)?;
        let vote = |(seq, intent, satisfaction): (i64, Option<String>, i64)| {
            let satisfaction = u8::try_from(satisfaction).map_err(|_| StoreError::Inconsistent {
                table: "votes",
                column: "satisfaction",
                row: seq.to_string(),
                value: satisfaction.to_string(),
            })?;
            Ok(SatisfiedVote { seq, intent, satisfaction })
        };
        rows.into_iter().map(vote).collect()
    }
}

#[derive(FromRow)]
struct RawVote {
    seq: i64,
    id: String,
    battle_id: String,
    visitor: String,
    model_a: String,
    model_b: String,
    outcome: String,
    turn: i64,
    language: String,
    category: Option<String>,
    intent: Option<String>,
    satisfaction: Option<i64>,
    pairing_policy: String,
    pair_probability: f64,
    first_token_ms_a: Option<i64>,
    first_token_ms_b: Option<i64>,
    duration_ms_a: i64,
    duration_ms_b: i64,
    text_counts: String,
    rated: bool,
    exclusion: Option<String>,
    receipt: String,
    created_at: i64,
}

impl TryFrom<RawVote> for VoteRow {
    type Error = StoreError;

    fn try_from(raw: RawVote) -> Result<Self, StoreError> {
        let row = raw.id.clone();
        let natural = |value: i64, column| unsigned(value, "votes", column, &row);
        let optional = |value: Option<i64>, column| value.map(|value| natural(value, column)).transpose();
        let text_counts = serde_json::from_str(&raw.text_counts).map_err(|_| StoreError::Inconsistent {
            table: "votes",
            column: "text_counts",
            row: row.clone(),
            value: raw.text_counts.clone(),
        })?;
        Ok(Self {
            outcome: parse_outcome(&raw.outcome, raw.seq)?,
            turn: natural(raw.turn, "turn")?,
            satisfaction: optional(raw.satisfaction, "satisfaction")?,
            first_token_ms: [
                optional(raw.first_token_ms_a, "first_token_ms_a")?,
                optional(raw.first_token_ms_b, "first_token_ms_b")?,
            ],
            duration_ms: [natural(raw.duration_ms_a, "duration_ms_a")?, natural(raw.duration_ms_b, "duration_ms_b")?],
            text_counts,
            seq: raw.seq,
            id: raw.id,
            battle: raw.battle_id,
            visitor: raw.visitor,
            models: [ModelId::new(raw.model_a), ModelId::new(raw.model_b)],
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            pairing_policy: raw.pairing_policy,
            pair_probability: raw.pair_probability,
            rated: raw.rated,
            exclusion: raw.exclusion,
            receipt: raw.receipt,
            created_at: Timestamp(raw.created_at),
        })
    }
}

fn parse_outcome(text: &str, seq: i64) -> Result<Outcome, StoreError> {
    Outcome::parse(text).map_err(|_| StoreError::Inconsistent {
        table: "votes",
        column: "outcome",
        row: seq.to_string(),
        value: text.to_owned(),
    })
}
