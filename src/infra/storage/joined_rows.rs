//! Rows of several tables that a page shows together.

use super::{
    BenchAnswerRow, BenchJudgementRow, DeletionRequestRow, LeakCheckCounts, LeakedVote, ModerationFlagRow, OwnBattleRow,
};
use crate::domain::battle::record::BattleRecord;
use crate::domain::benchmark::arena_votes::ArenaPairVotes;
use crate::domain::benchmark::item::Item;
use crate::domain::campaign::item_opinions::ItemOpinions;

/// What a deletion would concern.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionPreview {
    /// The request.
    pub row: DeletionRequestRow,
    /// The battle that it names; `None` where nothing of it is stored any more.
    pub record: Option<BattleRecord>,
    /// Battles whose texts would go.
    pub battles: u64,
}

/// A flag with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct ModerationReview {
    /// The flag.
    pub row: ModerationFlagRow,
    /// Its battle; `None` where nothing of it is stored any more.
    pub record: Option<BattleRecord>,
    /// Number of its vote in the log, if it has one.
    pub vote: Option<i64>,
}

/// A leak with the battle that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct LeakReview {
    /// The vote.
    pub vote: LeakedVote,
    /// Its battle; `None` for an imported one.
    pub record: Option<BattleRecord>,
    /// Leaks that wait, this one included.
    pub open: u64,
}

/// What a language model has read of the votes, where one is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeakCheckState {
    /// The model.
    pub judge: String,
    /// Counts of its checks.
    pub counts: LeakCheckCounts,
    /// Votes that wait for it.
    pub waiting: u64,
}

/// A battle in the list.
#[derive(Debug)]
pub struct HistoryEntry {
    /// Its row.
    pub row: OwnBattleRow,
    /// The names of the models that the visitor may know: those of its own choice, and all after a vote.
    pub names: Vec<String>,
}

/// One item with everything that was said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemView {
    /// Question, reference, category.
    pub item: Item,
    /// Each model's answers, by model and turn.
    pub answers: Vec<BenchAnswerRow>,
    /// Each judgement with the judge's own words, in the order in which they came.
    pub judgements: Vec<BenchJudgementRow>,
    /// What people said of it in campaigns that are closed.
    pub opinions: ItemOpinions,
    /// How visitors of the arena voted on the same question; none for an item of several turns.
    pub votes: Vec<ArenaPairVotes>,
}
