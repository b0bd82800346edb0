//! Rows of battles, turns, replies and side failures.

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::{Progress, Stage};
use crate::domain::battle::record::{BattleLine, BattleRecord, BattleRow, NewReply, ReplyEnding, ReplyRow, TurnRow};
use crate::domain::battle::{BattleId, ModelId, RunId, Side, VisitorId};
use crate::domain::time::Timestamp;
use crate::storage::{StoreError, unsigned};
use sqlx_macros::FromRow;

#[derive(sqlx_macros::FromRow)]
pub(super) struct RawLine {
    pub(super) id: String,
    pub(super) visitor: String,
    pub(super) mode: String,
    pub(super) stage: String,
    pub(super) turn: i64,
    pub(super) model_a: String,
    pub(super) model_b: String,
    pub(super) pairing_policy: String,
    pub(super) pair_probability: f64,
    pub(super) language: String,
    pub(super) category: Option<String>,
    pub(super) intent: Option<String>,
    pub(super) created_at: i64,
}

impl TryFrom<RawLine> for BattleLine {
    type Error = StoreError;

    fn try_from(raw: RawLine) -> Result<Self, StoreError> {
        Ok(Self {
            mode: parse_mode(&raw.mode, &raw.id)?,
            stage: parse_stage(&raw.stage, &raw.id)?,
            turn: unsigned(raw.turn, "battles", "turn", &raw.id)?,
            id: BattleId::new(raw.id),
            visitor: (!raw.visitor.is_empty()).then(|| VisitorId::new(raw.visitor)),
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

pub(super) fn parse_stage(text: &str, battle: &str) -> Result<Stage, StoreError> {
    Stage::parse(text).ok_or_else(|| StoreError::Inconsistent {
        table: "battles",
        column: "stage",
        row: battle.to_owned(),
        value: text.to_owned(),
    })
}

pub(super) fn parse_mode(text: &str, battle: &str) -> Result<BattleMode, StoreError> {
    BattleMode::parse(text).ok_or_else(|| StoreError::Inconsistent {
        table: "battles",
        column: "mode",
        row: battle.to_owned(),
        value: text.to_owned(),
    })
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

#[derive(FromRow)]
pub(super) struct RawBattle {
    pub(super) id: String,
    pub(super) visitor: String,
    pub(super) mode: String,
    pub(super) stage: String,
    pub(super) turn: i64,
    pub(super) model_a: String,
    pub(super) model_b: String,
    pub(super) pairing_policy: String,
    pub(super) policy_version: i64,
    pub(super) pair_probability: f64,
    pub(super) language: String,
    pub(super) category: Option<String>,
    pub(super) intent: Option<String>,
    pub(super) answered_by: Option<String>,
}

impl TryFrom<RawBattle> for BattleRow {
    type Error = StoreError;

    fn try_from(raw: RawBattle) -> Result<Self, StoreError> {
        let stage = parse_stage(&raw.stage, &raw.id)?;
        Ok(Self {
            mode: parse_mode(&raw.mode, &raw.id)?,
            progress: Progress { stage, turn: turn_number(raw.turn, "battles", &raw.id)? },
            policy_version: turn_number(raw.policy_version, "battles", &raw.id)?,
            id: BattleId::new(raw.id),
            visitor: VisitorId::new(raw.visitor),
            models: [ModelId::new(raw.model_a), ModelId::new(raw.model_b)],
            pairing_policy: raw.pairing_policy,
            pair_probability: raw.pair_probability,
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            answered_by: raw.answered_by.map(RunId::new),
        })
    }
}

#[derive(FromRow)]
pub(super) struct RawReply {
    pub(super) turn: i64,
    pub(super) side: String,
    pub(super) model: String,
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) ending: String,
    pub(super) first_token_ms: Option<i64>,
    pub(super) duration_ms: i64,
}

impl RawReply {
    pub(super) fn checked(self, battle: &BattleId) -> Result<ReplyRow, StoreError> {
        let inconsistent = |column, value: &str| StoreError::Inconsistent {
            table: "replies",
            column,
            row: battle.to_string(),
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
            turn: turn_number(self.turn, "replies", battle.as_str())?,
            reply: NewReply {
                side,
                model: ModelId::new(self.model),
                text: self.text,
                reasoning: self.reasoning,
                ending,
                first_token_ms: self
                    .first_token_ms
                    .map(|ms| unsigned(ms, "replies", "first_token_ms", battle.as_str()))
                    .transpose()?,
                duration_ms: unsigned(self.duration_ms, "replies", "duration_ms", battle.as_str())?,
            },
        })
    }
}

/// One row of the query that reads a battle with its turns and replies.
#[derive(FromRow)]
pub(super) struct RawRecordRow {
    #[sqlx(flatten)]
    pub(super) battle: RawBattle,
    #[sqlx(flatten)]
    pub(super) turn: RawRecordTurn,
}

/// The turn and the reply of one row; without either where there is none.
#[derive(FromRow)]
pub(super) struct RawRecordTurn {
    pub(super) asked: Option<i64>,
    pub(super) prompt: Option<String>,
    pub(super) side: Option<String>,
    pub(super) model: Option<String>,
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) ending: Option<String>,
    pub(super) first_token_ms: Option<i64>,
    pub(super) duration_ms: Option<i64>,
}

impl RawRecordTurn {
    pub(super) fn add_to(mut self, record: &mut BattleRecord) -> Result<(), StoreError> {
        let Some((asked, prompt)) = self.asked.zip(self.prompt.take()) else { return Ok(()) };
        let turn = turn_number(asked, "turns", record.battle.id.as_str())?;
        if record.turns.last().is_none_or(|last| last.turn != turn) {
            record.turns.push(TurnRow { turn, prompt });
        }
        if let Some(reply) = self.reply(asked) {
            record.replies.push(reply.checked(&record.battle.id)?);
        }
        Ok(())
    }

    pub(super) fn reply(self, turn: i64) -> Option<RawReply> {
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

pub(super) fn turn_number(value: i64, table: &'static str, row: &str) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column: "turn",
        row: row.to_owned(),
        value: value.to_string(),
    })
}
