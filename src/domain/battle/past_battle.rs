//! A visitor's battle after the fact: what it may show, and what its vote revealed.

use serde::Serialize;

use super::mode::BattleMode;
use super::progress::Stage;
use super::record::{BattleRecord, VoteRow};
use super::vote_reasons::ReasonSet;
use super::vote_receipt::Receipt;
use super::{BattleId, ImageId, Side};
use crate::time::Timestamp;

/// A battle as its page shows it.
#[derive(Debug)]
pub struct PastBattle {
    /// Its id.
    pub id: BattleId,
    /// Which of its models the visitor knew before the vote.
    pub mode: BattleMode,
    /// Its stage.
    pub stage: Stage,
    /// What the visitor said with the first question: the category.
    pub category: Option<String>,
    /// The intent.
    pub intent: Option<String>,
    /// Its turns; none where the texts are deleted.
    pub turns: Vec<PastTurn>,
    /// The images beside the first question.
    pub images: Vec<ImageId>,
    /// The vote, with what it revealed.
    pub vote: Option<PastVote>,
}

impl PastBattle {
    /// A battle as it is kept, with its vote.
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

/// A question and its replies.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct PastTurn {
    /// The visitor's text.
    pub prompt: String,
    /// Sides A and B; `None` where there is no reply.
    pub replies: [Option<String>; 2],
}

/// A vote with what it revealed.
#[derive(Debug)]
pub struct PastVote {
    /// When it was cast.
    pub cast_at: Timestamp,
    /// From 1 to 5, where given.
    pub satisfaction: Option<u64>,
    /// Why, for sides A and B.
    pub reasons: [ReasonSet; 2],
    /// What the voter got.
    pub receipt: Receipt,
    /// The rule that keeps it out of the ratings now; `None` for a rated vote.
    pub exclusion: Option<String>,
}

impl PastVote {
    /// A vote as it is kept, with the receipt that it stores.
    #[must_use]
    pub fn new(vote: VoteRow, receipt: Receipt) -> Self {
        let VoteRow { created_at: cast_at, satisfaction, reasons, exclusion, .. } = vote;
        Self { cast_at, satisfaction, reasons, receipt, exclusion }
    }
}

/// What the visitor saw. A voided battle has no two replies to show: the one that failed must not be known by its absence.
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
