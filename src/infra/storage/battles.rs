//! Battles, their turns and replies, and what failed in them.

use sqlx::FromRow;

use super::battle_writes::{ApplyWrite, BattleWrite, NewTurn};
use super::{Database, Store, StoreError, on_reader, on_writer, unsigned};
use crate::domain::battle::state::{Progress, Stage};
use crate::domain::battle::{ModelId, Side};
use crate::domain::time::Timestamp;
use crate::infra::metrics::store_time;

const SELECT_BATTLE: &str = "SELECT id, visitor, stage, turn, model_a, model_b, pairing_policy, policy_version, \
     pair_probability, language, category, intent, answered_by FROM battles WHERE id = $1";
/// One statement, so that battle, turns and replies are of one moment: a row for each reply, and one for each turn or battle
/// without any.
const SELECT_RECORD: &str = "SELECT battles.id, visitor, stage, battles.turn, model_a, model_b, pairing_policy, \
     policy_version, pair_probability, language, category, intent, answered_by, turns.turn AS asked, prompt, side, model, \
     text, reasoning, ending, first_token_ms, duration_ms FROM battles LEFT JOIN turns ON turns.battle_id = battles.id \
     LEFT JOIN replies ON replies.battle_id = battles.id AND replies.turn = turns.turn \
     WHERE battles.id = $1 ORDER BY asked, side";
const SELECT_PAGE: &str = "SELECT id, visitor, stage, turn, model_a, model_b, pairing_policy, pair_probability, language, \
     category, intent, created_at FROM battles WHERE id > $1 AND created_at >= $2 AND created_at < $3 ORDER BY id LIMIT $4";
const SELECT_TURNS: &str = "SELECT turn, prompt FROM turns WHERE battle_id = $1 ORDER BY turn";
const SELECT_REPLIES: &str = "SELECT turn, side, model, text, reasoning, ending, first_token_ms, duration_ms \
     FROM replies WHERE battle_id = $1 ORDER BY turn, side";

/// A stored battle.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleRow {
    /// Its id.
    pub id: String,
    /// Pseudonym of the visitor.
    pub visitor: String,
    /// Stage and latest turn.
    pub progress: Progress,
    /// The models on sides A and B.
    pub models: [ModelId; 2],
    /// Name of the pairing policy.
    pub pairing_policy: String,
    /// Version of that policy.
    pub policy_version: u32,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// Language of the first prompt.
    pub language: String,
    /// Category that the client named.
    pub category: Option<String>,
    /// Intent that the client named.
    pub intent: Option<String>,
    /// The run that answers, or answered, the latest turn; `None` in battles that are older than this column.
    pub answered_by: Option<String>,
}

/// A battle as an export has it.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleLine {
    /// Its id.
    pub id: String,
    /// Pseudonym of the visitor.
    pub visitor: String,
    /// Its stage.
    pub stage: String,
    /// Its turns.
    pub turn: u64,
    /// The models on sides A and B.
    pub models: [String; 2],
    /// Name of the pairing policy.
    pub pairing_policy: String,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// Language of the first prompt.
    pub language: String,
    /// Category, where known.
    pub category: Option<String>,
    /// Intent, where known.
    pub intent: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct RawLine {
    id: String,
    visitor: String,
    stage: String,
    turn: i64,
    model_a: String,
    model_b: String,
    pairing_policy: String,
    pair_probability: f64,
    language: String,
    category: Option<String>,
    intent: Option<String>,
    created_at: i64,
}

impl TryFrom<RawLine> for BattleLine {
    type Error = StoreError;

    fn try_from(raw: RawLine) -> Result<Self, StoreError> {
        Ok(Self {
            turn: unsigned(raw.turn, "battles", "turn", &raw.id)?,
            id: raw.id,
            visitor: raw.visitor,
            stage: raw.stage,
            models: [raw.model_a, raw.model_b],
            pairing_policy: raw.pairing_policy,
            pair_probability: raw.pair_probability,
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            created_at: Timestamp(raw.created_at),
        })
    }
}

/// One question of a battle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Counted from 1.
    pub turn: u32,
    /// The visitor's text.
    pub prompt: String,
}

/// How a reply came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnding {
    /// The model ended it.
    Complete,
    /// The visitor stopped it, or left.
    Stopped,
    /// It reached the limit of length.
    Cut,
    /// It broke off.
    Failed,
}

impl ReplyEnding {
    const ALL: [Self; 4] = [Self::Complete, Self::Stopped, Self::Cut, Self::Failed];

    /// The database's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Cut => "cut",
            Self::Failed => "failed",
        }
    }
}

/// A reply to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReply {
    /// Its side.
    pub side: Side,
    /// Who wrote it.
    pub model: ModelId,
    /// What the visitor saw of it.
    pub text: String,
    /// Reasoning in a field of its own.
    pub reasoning: String,
    /// How it ended.
    pub ending: ReplyEnding,
    /// From the request to the first token; `None` where none came.
    pub first_token_ms: Option<u64>,
    /// From the request to the end.
    pub duration_ms: u64,
}

/// A stored reply with its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyRow {
    /// Counted from 1.
    pub turn: u32,
    /// The reply.
    pub reply: NewReply,
}

/// A battle as it stood at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleRecord {
    /// Where it stood.
    pub battle: BattleRow,
    /// Its questions in order.
    pub turns: Vec<TurnRow>,
    /// Its replies that count, by turn and side.
    pub replies: Vec<ReplyRow>,
}

/// A side that failed, and the model that took its place.
#[derive(Debug, Clone)]
pub struct SideFailure {
    /// The turn in which it failed.
    pub turn: u32,
    /// The side.
    pub side: Side,
    /// The model that failed.
    pub model: ModelId,
    /// For the operator; holds no key and no provider text.
    pub reason: String,
    /// The model that took its place with the probability of the new pair; `None` voids the battle.
    pub replacement: Option<(ModelId, f64)>,
}

impl Store {
    /// Keeps a battle that begins, with its first prompt; it is being answered in turn 1, whatever its `progress` says.
    ///
    /// # Errors
    /// [`StoreError::IdInUse`] where another battle has its id, [`StoreError::Database`].
    pub async fn insert_battle(&self, battle: &BattleRow, prompt: &str, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("insert_battle");
        let begin = BattleWrite::Begin { battle: battle.clone(), prompt: prompt.to_owned(), now };
        match self.write_battle(begin).await? {
            0 => Err(StoreError::IdInUse(battle.id.clone())),
            _ => Ok(()),
        }
    }

    /// A battle by its id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle(&self, id: &str) -> Result<Option<BattleRow>, StoreError> {
        if !may_be_id(id) {
            return Ok(None);
        }
        let _time = store_time("battle");
        let row: Option<RawBattle> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_BATTLE).bind(id).fetch_optional(pool).await)?;
        row.map(BattleRow::try_from).transpose()
    }

    /// A battle by its id, with its turns and replies as they were in the same moment: another instance may be about to
    /// begin a turn of it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle_record(&self, id: &str) -> Result<Option<BattleRecord>, StoreError> {
        if !may_be_id(id) {
            return Ok(None);
        }
        let _time = store_time("battle_record");
        let rows: Vec<RawRecordRow> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_RECORD).bind(id).fetch_all(pool).await)?;
        let mut record: Option<BattleRecord> = None;
        for RawRecordRow { battle, turn } in rows {
            let record = match &mut record {
                Some(record) => record,
                None => record.insert(BattleRecord { battle: battle.try_into()?, turns: vec![], replies: vec![] }),
            };
            turn.add_to(record)?;
        }
        Ok(record)
    }

    /// Battles after this id, begun in `[since, until)`, in the order of their ids, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_after(
        &self,
        id: &str,
        since: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<BattleLine>, StoreError> {
        let _time = store_time("battles_after");
        let rows: Vec<RawLine> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_PAGE)
                .bind(id)
                .bind(since.0)
                .bind(until.0)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(BattleLine::try_from).collect()
    }

    /// A battle's questions in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn turns(&self, battle: &str) -> Result<Vec<TurnRow>, StoreError> {
        let _time = store_time("turns");
        let rows: Vec<(i64, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_TURNS).bind(battle).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(turn, prompt)| Ok(TurnRow { turn: turn_number(turn, "turns", battle)?, prompt }))
            .collect()
    }

    /// A battle's replies that count, by turn and side.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn replies(&self, battle: &str) -> Result<Vec<ReplyRow>, StoreError> {
        let _time = store_time("replies");
        let rows: Vec<RawReply> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_REPLIES).bind(battle).fetch_all(pool).await)?;
        rows.into_iter().map(|row| row.checked(battle)).collect()
    }

    /// Has `run` begin the turn after the latest (with its prompt) or the latest one anew (without). `false` means that
    /// the battle was not ready, not in the turn before, or that its replies are not those of the run `from`, and nothing
    /// was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn begin_turn(
        &self,
        battle: &str,
        turn: u32,
        prompt: Option<&str>,
        from: Option<&str>,
        run: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("begin_turn");
        let former = turn.saturating_sub(u32::from(prompt.is_some()));
        let (battle, run, prompt) = (battle.to_owned(), run.to_owned(), prompt.map(str::to_owned));
        let from = from.map(str::to_owned);
        let begin = BattleWrite::BeginTurn(NewTurn { battle, number: turn, former, from, prompt, run, now });
        Ok(self.write_battle(begin).await? > 0)
    }

    /// Has `run` answer the latest turn in place of `from`. `false` means that somebody else answers it, or nobody has
    /// to any more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn take_over_turn(
        &self,
        battle: &str,
        from: Option<&str>,
        run: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("take_over_turn");
        let (battle, from, run) = (battle.to_owned(), from.map(str::to_owned), run.to_owned());
        Ok(self.write_battle(BattleWrite::TakeOverTurn { battle, from, run, now }).await? > 0)
    }

    /// Keeps that a side failed. In the same commit the replacement takes its place, or the battle is voided. `false`
    /// means that `run` does not answer this turn any more, and nothing was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn record_side_failure(
        &self,
        battle: &str,
        run: &str,
        failure: &SideFailure,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("record_side_failure");
        let (battle, run, failure) = (battle.to_owned(), run.to_owned(), failure.clone());
        Ok(self.write_battle(BattleWrite::FailSide { battle, run, failure, now }).await? > 0)
    }

    /// Keeps both replies of a turn and moves the battle on to `progress.stage` (ready or voided), all in one commit.
    /// `false` means that `run` does not answer this turn any more, and nothing was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn finish_turn(
        &self,
        battle: &str,
        run: &str,
        progress: Progress,
        replies: &[NewReply],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("finish_turn");
        let (battle, run, replies) = (battle.to_owned(), run.to_owned(), replies.to_vec());
        Ok(self.write_battle(BattleWrite::FinishTurn { battle, run, progress, replies, now }).await? > 0)
    }

    /// Marks every battle without a vote that was last touched before `oldest` or after `newest` as abandoned; returns
    /// how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn abandon_battles(&self, oldest: Timestamp, newest: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("abandon_battles");
        self.write_battle(BattleWrite::Abandon { oldest, newest }).await
    }

    /// Writes one change of a battle, and returns after its commit how many battles it changed. On SQLite it shares the
    /// commit with others; a server does that by itself.
    async fn write_battle(&self, write: BattleWrite) -> Result<u64, StoreError> {
        self.database.refuse_if_not_durable()?;
        match &self.database {
            Database::Sqlite(_) => self.writes.battle(write).await,
            Database::Postgres(_) => on_writer!(self, |connection| connection.apply(&write).await),
        }
    }
}

#[derive(FromRow)]
struct RawBattle {
    id: String,
    visitor: String,
    stage: String,
    turn: i64,
    model_a: String,
    model_b: String,
    pairing_policy: String,
    policy_version: i64,
    pair_probability: f64,
    language: String,
    category: Option<String>,
    intent: Option<String>,
    answered_by: Option<String>,
}

impl TryFrom<RawBattle> for BattleRow {
    type Error = StoreError;

    fn try_from(raw: RawBattle) -> Result<Self, StoreError> {
        let stage = Stage::parse(&raw.stage).ok_or_else(|| StoreError::Inconsistent {
            table: "battles",
            column: "stage",
            row: raw.id.clone(),
            value: raw.stage.clone(),
        })?;
        Ok(Self {
            progress: Progress { stage, turn: turn_number(raw.turn, "battles", &raw.id)? },
            policy_version: turn_number(raw.policy_version, "battles", &raw.id)?,
            id: raw.id,
            visitor: raw.visitor,
            models: [ModelId::new(raw.model_a), ModelId::new(raw.model_b)],
            pairing_policy: raw.pairing_policy,
            pair_probability: raw.pair_probability,
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            answered_by: raw.answered_by,
        })
    }
}

#[derive(FromRow)]
struct RawReply {
    turn: i64,
    side: String,
    model: String,
    text: String,
    reasoning: String,
    ending: String,
    first_token_ms: Option<i64>,
    duration_ms: i64,
}

impl RawReply {
    fn checked(self, battle: &str) -> Result<ReplyRow, StoreError> {
        let inconsistent = |column, value: &str| StoreError::Inconsistent {
            table: "replies",
            column,
            row: battle.to_owned(),
            value: value.to_owned(),
        };
        let side = Side::BOTH
            .into_iter()
            .find(|side| side.as_str() == self.side)
            .ok_or_else(|| inconsistent("side", &self.side))?;
        let ending = ReplyEnding::ALL
            .into_iter()
            .find(|ending| ending.as_str() == self.ending)
            .ok_or_else(|| inconsistent("ending", &self.ending))?;
        Ok(ReplyRow {
            turn: turn_number(self.turn, "replies", battle)?,
            reply: NewReply {
                side,
                model: ModelId::new(self.model),
                text: self.text,
                reasoning: self.reasoning,
                ending,
                first_token_ms: self
                    .first_token_ms
                    .map(|ms| unsigned(ms, "replies", "first_token_ms", battle))
                    .transpose()?,
                duration_ms: unsigned(self.duration_ms, "replies", "duration_ms", battle)?,
            },
        })
    }
}

/// One row of [`SELECT_RECORD`].
#[derive(FromRow)]
struct RawRecordRow {
    #[sqlx(flatten)]
    battle: RawBattle,
    #[sqlx(flatten)]
    turn: RawRecordTurn,
}

/// The turn and the reply of one row; without either where there is none.
#[derive(FromRow)]
struct RawRecordTurn {
    asked: Option<i64>,
    prompt: Option<String>,
    side: Option<String>,
    model: Option<String>,
    text: Option<String>,
    reasoning: Option<String>,
    ending: Option<String>,
    first_token_ms: Option<i64>,
    duration_ms: Option<i64>,
}

impl RawRecordTurn {
    fn add_to(mut self, record: &mut BattleRecord) -> Result<(), StoreError> {
        let Some((asked, prompt)) = self.asked.zip(self.prompt.take()) else { return Ok(()) };
        let turn = turn_number(asked, "turns", &record.battle.id)?;
        if record.turns.last().is_none_or(|last| last.turn != turn) {
            record.turns.push(TurnRow { turn, prompt });
        }
        if let Some(reply) = self.reply(asked) {
            record.replies.push(reply.checked(&record.battle.id)?);
        }
        Ok(())
    }

    fn reply(self, turn: i64) -> Option<RawReply> {
        Some(RawReply {
            turn,
            side: self.side?,
            model: self.model?,
            text: self.text?,
            reasoning: self.reasoning?,
            ending: self.ending?,
            first_token_ms: self.first_token_ms,
            duration_ms: self.duration_ms?,
        })
    }
}

/// Whether a text may be a battle's id. A client may send anything, also what PostgreSQL refuses as a text.
fn may_be_id(text: &str) -> bool {
    text.len() <= 64 && !text.contains(char::is_control)
}

fn turn_number(value: i64, table: &'static str, row: &str) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column: "turn",
        row: row.to_owned(),
        value: value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_an_id_is_told_without_the_database() {
        for id in ["01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7f", "no-such", "", "编号"] {
            assert!(may_be_id(id), "{id}");
        }
        for text in ["a\0b", "a\nb", "\u{9f}", &"x".repeat(65)] {
            assert!(!may_be_id(text), "{text:?}");
        }
    }
}
