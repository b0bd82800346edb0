//! Battles with their turns, replies and side failures.

use crate::storage::rows::battle_rows::{RawBattle, RawLine, RawRecordRow, RawReply, SideFailure, turn_number};

use crate::domain::battle::progress::Progress;
use crate::domain::battle::record::{BattleLine, BattleRecord, BattleRow, NewReply, ReplyRow, TurnRow};
use crate::domain::battle::{BattleId, ImageId, RunId};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::write_queue::battle_writes::{ApplyWrite, BattleWrite, NewTurn};
use crate::storage::{Database, Store, StoreError, on_reader, on_writer};

const SELECT_BATTLE: &str = "SELECT id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version, \
     pair_probability, language, category, intent, answered_by FROM battles WHERE id = $1";
/// A single statement, so that battle, turns and replies are consistent: a row for each reply, and one for each turn or battle without any.
const SELECT_RECORD: &str = "SELECT battles.id, visitor, mode, stage, battles.turn, model_a, model_b, pairing_policy, \
     policy_version, pair_probability, language, category, intent, answered_by, turns.turn AS asked, prompt, side, model, \
     text, reasoning, ending, first_token_ms, duration_ms FROM battles LEFT JOIN turns ON turns.battle_id = battles.id \
     LEFT JOIN replies ON replies.battle_id = battles.id AND replies.turn = turns.turn \
     WHERE battles.id = $1 ORDER BY asked, side";
const SELECT_PAGE: &str = "SELECT id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, pair_probability, language, \
     category, intent, created_at FROM battles WHERE id > $1 AND created_at >= $2 AND created_at < $3 ORDER BY id LIMIT $4";
const SELECT_TURNS: &str = "SELECT turn, prompt FROM turns WHERE battle_id = $1 ORDER BY turn";
const HAS_TEXTS: &str = "SELECT EXISTS (SELECT 1 FROM turns WHERE battle_id = $1)";
const SELECT_REPLIES: &str = "SELECT turn, side, model, text, reasoning, ending, first_token_ms, duration_ms \
     FROM replies WHERE battle_id = $1 ORDER BY turn, side";

/// An edited prompt of the latest turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditedTurn<'e> {
    /// Number of the turn.
    pub turn: u32,
    /// The new prompt.
    pub prompt: &'e str,
    /// New language of the battle; `None` keeps it.
    pub language: Option<&'e str>,
}

impl Store {
    /// Inserts a battle with its first prompt, in turn 1 and stage answering, whatever its `progress` says.
    ///
    /// # Errors
    /// [`StoreError::IdInUse`] if another battle has its id, [`StoreError::Database`].
    pub async fn insert_battle(&self, battle: &BattleRow, prompt: &str, now: Timestamp) -> Result<(), StoreError> {
        self.insert_battle_with_images(battle, prompt, &[], now).await
    }

    /// Inserts a battle whose first prompt has these stored images, in this order.
    ///
    /// # Errors
    /// Same as [`Self::insert_battle`].
    pub async fn insert_battle_with_images(
        &self,
        battle: &BattleRow,
        prompt: &str,
        images: &[ImageId],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("insert_battle");
        let begin =
            BattleWrite::Begin { battle: battle.clone(), prompt: prompt.to_owned(), images: images.to_vec(), now };
        match self.write_battle(begin).await? {
            0 => Err(StoreError::IdInUse(battle.id.to_string())),
            _ => Ok(()),
        }
    }

    /// Reads a battle by its id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle(&self, id: &BattleId) -> Result<Option<BattleRow>, StoreError> {
        let _time = store_time("battle");
        let row: Option<RawBattle> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_BATTLE).bind(id.as_str()).fetch_optional(pool).await)?;
        row.map(BattleRow::try_from).transpose()
    }

    /// Reads a battle by its id, with a consistent state of its turns and replies: another instance may be about to begin a turn of it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle_record(&self, id: &BattleId) -> Result<Option<BattleRecord>, StoreError> {
        let _time = store_time("battle_record");
        let rows: Vec<RawRecordRow> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_RECORD).bind(id.as_str()).fetch_all(pool).await)?;
        let mut record: Option<BattleRecord> = None;
        for RawRecordRow { battle, turn } in rows {
            let record = match &mut record {
                Some(record) => record,
                None => record.insert(BattleRecord {
                    battle: battle.try_into()?,
                    turns: vec![],
                    replies: vec![],
                    images: self.images_of(id).await?,
                }),
            };
            turn.add_to(record)?;
        }
        Ok(record)
    }

    /// Reads at most `limit` battles after this id, or from the first, begun in `[since, until)`, ordered by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battles_after(
        &self,
        after: Option<&BattleId>,
        since: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<BattleLine>, StoreError> {
        let _time = store_time("battles_after");
        let rows: Vec<RawLine> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_PAGE)
                .bind(after.map_or("", BattleId::as_str))
                .bind(since.0)
                .bind(until.0)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(BattleLine::try_from).collect()
    }

    /// Reads a battle's turns in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn turns(&self, battle: &BattleId) -> Result<Vec<TurnRow>, StoreError> {
        let _time = store_time("turns");
        let rows: Vec<(i64, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_TURNS).bind(battle.as_str()).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(turn, prompt)| Ok(TurnRow { turn: turn_number(turn, "turns", battle.as_str())?, prompt }))
            .collect()
    }

    /// Whether a battle has its texts, which may be deleted after it was voted on or abandoned.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_texts(&self, battle: &BattleId) -> Result<bool, StoreError> {
        let _time = store_time("has_texts");
        on_reader!(self, |pool| sqlx::query_scalar(HAS_TEXTS).bind(battle.as_str()).fetch_one(pool).await)
    }

    /// Reads a battle's current replies, by turn and side.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn replies(&self, battle: &BattleId) -> Result<Vec<ReplyRow>, StoreError> {
        let _time = store_time("replies");
        let rows: Vec<RawReply> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_REPLIES).bind(battle.as_str()).fetch_all(pool).await)?;
        rows.into_iter().map(|row| row.checked(battle)).collect()
    }

    /// Lets `run` begin the turn after the latest (with its prompt) or repeat the latest one (without). `false` means that the battle was
    /// not ready, not in the previous turn, or without the replies of the run `from`; then nothing was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn begin_turn(
        &self,
        battle: &BattleId,
        turn: u32,
        prompt: Option<&str>,
        from: Option<&RunId>,
        run: &RunId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("begin_turn");
        let former = turn.saturating_sub(u32::from(prompt.is_some()));
        let (battle, run, prompt) = (battle.clone(), run.clone(), prompt.map(str::to_owned));
        let from = from.cloned();
        let begin =
            BattleWrite::BeginTurn(NewTurn { battle, number: turn, former, from, prompt, language: None, run, now });
        Ok(self.write_battle(begin).await? > 0)
    }

    /// Lets `run` repeat the latest turn with another prompt, which sets the battle's language if it is the first. `false` as for
    /// [`Self::begin_turn`].
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn edit_turn(
        &self,
        battle: &BattleId,
        edited: EditedTurn<'_>,
        from: Option<&RunId>,
        run: &RunId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("edit_turn");
        let EditedTurn { turn, prompt, language } = edited;
        let begin = BattleWrite::BeginTurn(NewTurn {
            battle: battle.clone(),
            number: turn,
            former: turn,
            from: from.cloned(),
            prompt: Some(prompt.to_owned()),
            language: language.map(str::to_owned),
            run: run.clone(),
            now,
        });
        Ok(self.write_battle(begin).await? > 0)
    }

    /// Lets `run` answer the latest turn in place of `from`, and returns the current battle: `from` may have replaced a model since its row
    /// was read. `None` means that another run answers it, or that it needs no answer any more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_over_turn(
        &self,
        battle: &BattleId,
        from: Option<&RunId>,
        run: &RunId,
        now: Timestamp,
    ) -> Result<Option<BattleRecord>, StoreError> {
        let _time = store_time("take_over_turn");
        let take_over =
            BattleWrite::TakeOverTurn { battle: battle.clone(), from: from.cloned(), run: run.clone(), now };
        if self.write_battle(take_over).await? == 0 {
            return Ok(None);
        }
        // From now on only `run` changes the battle, unless another run has taken it over in turn.
        Ok(self.battle_record(battle).await?.filter(|record| record.battle.answered_by.as_ref() == Some(run)))
    }

    /// Records that a side failed. The same commit sets the replacement or voids the battle. `false` means that `run` no longer answers
    /// this turn; then nothing was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn record_side_failure(
        &self,
        battle: &BattleId,
        run: &RunId,
        failure: &SideFailure,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("record_side_failure");
        let (battle, run, failure) = (battle.clone(), run.clone(), failure.clone());
        Ok(self.write_battle(BattleWrite::FailSide { battle, run, failure, now }).await? > 0)
    }

    /// Stores both replies of a turn and sets the battle's stage to `progress.stage` (ready or voided), in one commit. `false` means that
    /// `run` no longer answers this turn; then nothing was changed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn finish_turn(
        &self,
        battle: &BattleId,
        run: &RunId,
        progress: Progress,
        replies: &[NewReply],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("finish_turn");
        let (battle, run, replies) = (battle.clone(), run.clone(), replies.to_vec());
        Ok(self.write_battle(BattleWrite::FinishTurn { battle, run, progress, replies, now }).await? > 0)
    }

    /// Marks every battle without a vote that was last active before `oldest` or after `newest` as abandoned; returns their number.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn abandon_battles(&self, oldest: Timestamp, newest: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("abandon_battles");
        self.write_battle(BattleWrite::Abandon { oldest, newest }).await
    }

    /// Applies one change of a battle, and returns after its commit the number of battles changed. On SQLite it shares the commit with
    /// others; PostgreSQL groups commits itself.
    async fn write_battle(&self, write: BattleWrite) -> Result<u64, StoreError> {
        self.database.refuse_if_not_durable()?;
        match &self.database {
            Database::Sqlite(_) => self.writes.battle(write).await,
            Database::Postgres(_) => on_writer!(self, |connection| connection.apply(&write).await),
        }
    }
}
