//! View of a visitor's earlier battle: its visible texts, and the models that its vote revealed.

use serde::Serialize;

use super::mode::BattleMode;
use super::progress::Stage;
use super::record::{BattleRecord, VoteRow};
use super::vote_reasons::ReasonSet;
use super::vote_receipt::Receipt;
use super::{BattleId, ImageId, Side};
use crate::time::Timestamp;

/// Data of a battle's page.
#[derive(Debug)]
pub struct PastBattle {
    /// Its id.
    pub id: BattleId,
    /// Mode: which models the visitor knew before the vote.
    pub mode: BattleMode,
    /// Its stage.
    pub stage: Stage,
    /// Category that the visitor chose with the first prompt.
    pub category: Option<String>,
    /// Intent that the visitor chose with the first prompt.
    pub intent: Option<String>,
    /// Its turns; none where the texts are deleted.
    pub turns: Vec<PastTurn>,
    /// Images of the first prompt.
    pub images: Vec<ImageId>,
    /// The vote, with the models that it revealed.
    pub vote: Option<PastVote>,
}

impl PastBattle {
    /// Creates the view from a stored battle and its vote.
    #[must_use]
    pub fn new(record: BattleRecord, vote: Option<PastVote>) -> Self {
        let turns = shown_turns(&record);
        let BattleRecord { battle, images, .. } = record;
        Self {
            turns,
            images,
            id: battle.id,
            mode: battle.mode,
            stage: battle.progress.stage,
            category: battle.category,
            intent: battle.intent,
            vote,
        }
    }
}

/// Turn of an earlier battle.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct PastTurn {
    /// The visitor's prompt.
    pub prompt: String,
    /// Replies of sides A and B; `None` where there is none.
    pub replies: [Option<String>; 2],
}

/// Vote of an earlier battle, with the models that it revealed.
#[derive(Debug)]
pub struct PastVote {
    /// Time of the vote.
    pub cast_at: Timestamp,
    /// Satisfaction from 1 to 5, where given.
    pub satisfaction: Option<u64>,
    /// Reasons for sides A and B.
    pub reasons: [ReasonSet; 2],
    /// Receipt of the voter.
    pub receipt: Receipt,
    /// Rule that currently excludes it from the ratings; `None` for a rated vote.
    pub exclusion: Option<String>,
}

impl PastVote {
    /// Creates the view from a stored vote and its receipt.
    #[must_use]
    pub fn new(vote: VoteRow, receipt: Receipt) -> Self {
        let VoteRow { created_at: cast_at, satisfaction, reasons, exclusion, .. } = vote;
        Self { cast_at, satisfaction, reasons, receipt, exclusion }
    }
}

/// Texts that the visitor saw. A voided battle shows no replies: a missing one would reveal which side failed.
fn shown_turns(record: &BattleRecord) -> Vec<PastTurn> {
    let shown = record.battle.progress.stage != Stage::Voided;
    let reply = |turn: u32, side: Side| {
        let reply = record.reply(turn, side);
        reply.filter(|_| shown).map(|reply| reply.text.clone())
    };
    let turns = record.turns.iter();
    turns
        .map(|turn| PastTurn { prompt: turn.prompt.clone(), replies: Side::BOTH.map(|side| reply(turn.turn, side)) })
        .collect()
}
