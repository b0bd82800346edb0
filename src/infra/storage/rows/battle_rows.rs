//! Rows of battles, turns, replies and side failures.

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::{Progress, Stage};
use crate::domain::battle::record::{BattleLine, BattleRecord, BattleRow, NewReply, ReplyEnding, ReplyRow, TurnRow};
use crate::domain::battle::{BattleId, ModelId, RunId, Side, VisitorId};
use crate::domain::time::Timestamp;
use crate::storage::{StoreError, unsigned};
use sqlx_macros::FromRow;

#[derive(sqlx_macros::FromRow)]
pub(in crate::storage) struct RawLine {
    pub(in crate::storage) id: String,
    pub(in crate::storage) visitor: String,
    pub(in crate::storage) mode: String,
    pub(in crate::storage) stage: String,
    pub(in crate::storage) turn: i64,
    pub(in crate::storage) model_a: String,
    pub(in crate::storage) model_b: String,
    pub(in crate::storage) pairing_policy: String,
    pub(in crate::storage) pair_probability: f64,
    pub(in crate::storage) language: String,
    pub(in crate::storage) category: Option<String>,
    pub(in crate::storage) intent: Option<String>,
    pub(in crate::storage) created_at: i64,
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

pub(in crate::storage) fn parse_stage(text: &str, battle: &str) -> Result<Stage, StoreError> {
    Stage::parse(text).ok_or_else(|| StoreError::Inconsistent {
        table: "battles",
        column: "stage",
        row: battle.to_owned(),
        value: text.to_owned(),
    })
}

pub(in crate::storage) fn parse_mode(text: &str, battle: &str) -> Result<BattleMode, StoreError> {
    BattleMode::parse(text).ok_or_else(|| StoreError::Inconsistent {
        table: "battles",
        column: "mode",
        row: battle.to_owned(),
        value: text.to_owned(),
    })
}

/// A side that failed, and the model that replaced it.
#[derive(Debug, Clone)]
pub struct SideFailure {
    /// The turn in which it failed.
    pub turn: u32,
    /// The side.
    pub side: Side,
    /// The model that failed.
    pub model: ModelId,
    /// Reason for the operator; contains no key and no provider text.
    pub reason: String,
    /// Replacement model with the probability of the new pair; `None` voids the battle.
    pub replacement: Option<(ModelId, f64)>,
}

#[derive(FromRow)]
pub(in crate::storage) struct RawBattle {
    pub(in crate::storage) id: String,
    pub(in crate::storage) visitor: String,
    pub(in crate::storage) mode: String,
    pub(in crate::storage) stage: String,
    pub(in crate::storage) turn: i64,
    pub(in crate::storage) model_a: String,
    pub(in crate::storage) model_b: String,
    pub(in crate::storage) pairing_policy: String,
    pub(in crate::storage) policy_version: i64,
    pub(in crate::storage) pair_probability: f64,
    pub(in crate::storage) language: String,
    pub(in crate::storage) category: Option<String>,
    pub(in crate::storage) intent: Option<String>,
    pub(in crate::storage) answered_by: Option<String>,
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
pub(in crate::storage) struct RawReply {
    pub(in crate::storage) turn: i64,
    pub(in crate::storage) side: String,
    pub(in crate::storage) model: String,
    pub(in crate::storage) text: String,
    pub(in crate::storage) reasoning: String,
    pub(in crate::storage) ending: String,
    pub(in crate::storage) first_token_ms: Option<i64>,
    pub(in crate::storage) duration_ms: i64,
}

impl RawReply {
    pub(in crate::storage) fn checked(self, battle: &BattleId) -> Result<ReplyRow, StoreError> {
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

/// Row of the query for a battle with its turns and replies.
#[derive(FromRow)]
pub(in crate::storage) struct RawRecordRow {
    #[sqlx(flatten)]
    pub(in crate::storage) battle: RawBattle,
    #[sqlx(flatten)]
    pub(in crate::storage) turn: RawRecordTurn,
}

/// Turn and reply of one row; either may be missing.
#[derive(FromRow)]
pub(in crate::storage) struct RawRecordTurn {
    pub(in crate::storage) asked: Option<i64>,
    pub(in crate::storage) prompt: Option<String>,
    pub(in crate::storage) side: Option<String>,
    pub(in crate::storage) model: Option<String>,
    pub(in crate::storage) text: Option<String>,
    pub(in crate::storage) reasoning: Option<String>,
    pub(in crate::storage) ending: Option<String>,
    pub(in crate::storage) first_token_ms: Option<i64>,
    pub(in crate::storage) duration_ms: Option<i64>,
}

impl RawRecordTurn {
    pub(in crate::storage) fn add_to(mut self, record: &mut BattleRecord) -> Result<(), StoreError> {
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

    pub(in crate::storage) fn reply(self, turn: i64) -> Option<RawReply> {
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

pub(in crate::storage) fn turn_number(value: i64, table: &'static str, row: &str) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column: "turn",
        row: row.to_owned(),
        value: value.to_string(),
    })
}
