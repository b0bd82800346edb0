//! Rows joined from several tables for a page.

use super::{
    BenchAnswerRow, BenchJudgementRow, DeletionRequestRow, LeakCheckCounts, LeakedVote, ModerationFlagRow, OwnBattleRow,
};
use crate::domain::battle::record::BattleRecord;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::scores::arena_votes::ArenaPairVotes;
use crate::domain::campaign::item_judgement_summary::ItemJudgementSummary;

/// Preview of a deletion.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionPreview {
    /// The deletion request.
    pub row: DeletionRequestRow,
    /// Named battle; `None` if none of it is stored any more.
    pub record: Option<BattleRecord>,
    /// Number of battles whose texts would be deleted.
    pub battles: u64,
}

/// A moderation flag with its subject.
#[derive(Debug, Clone, PartialEq)]
pub struct ModerationReview {
    /// The flag.
    pub row: ModerationFlagRow,
    /// Battle of the flag; `None` if none of it is stored any more.
    pub record: Option<BattleRecord>,
    /// Number of its vote in the log, if any.
    pub vote: Option<i64>,
}

/// A leak with its battle.
#[derive(Debug, Clone, PartialEq)]
pub struct LeakReview {
    /// The vote.
    pub vote: LeakedVote,
    /// Battle of the vote; `None` for an imported one.
    pub record: Option<BattleRecord>,
    /// Number of unreviewed leaks, this one included.
    pub open: u64,
}

/// Progress of the leak checks by a language model, if one is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeakCheckState {
    /// Id of the model.
    pub judge: String,
    /// Counts of its checks.
    pub counts: LeakCheckCounts,
    /// Number of votes that wait for a check.
    pub waiting: u64,
}

/// A battle in the visitor's history.
#[derive(Debug)]
pub struct HistoryEntry {
    /// Row of the battle.
    pub row: OwnBattleRow,
    /// Names of the models revealed to the visitor: those they chose, and all after a vote.
    pub names: Vec<String>,
}

/// An item with its answers, judgements and votes.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemView {
    /// The item: prompt, reference, category.
    pub item: Item,
    /// Each model's answers, by model and turn.
    pub answers: Vec<BenchAnswerRow>,
    /// Judgements with the judge's reply, in order of arrival.
    pub judgements: Vec<BenchJudgementRow>,
    /// Human judgements in closed campaigns.
    pub opinions: ItemJudgementSummary,
    /// Visitors' votes on the same prompt; empty for an item of several turns.
    pub votes: Vec<ArenaPairVotes>,
}
