//! A visitor's own battles after the fact: one by one, all in an export, shared by a link, and rid of their texts.
//!
//! Names come from the vote's receipt, so a battle without a vote has none to give.

use serde::Serialize;

use super::models::Models;
use super::voting::{VoteError, stored_receipt};
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::receipt::Receipt;
use crate::domain::battle::state::Stage;
use crate::domain::battle::vote_reasons::ReasonSet;
use crate::domain::battle::{BattleId, ImageId, ModelId, Side, VisitorId};
use crate::domain::rating::own_votes::{self, OwnLeaderboard};
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::storage::{BattleRecord, ConsentRow, OwnBattleRow, OwnBattlesFilter, Store, StoreError};
use crate::services::leaderboard::refit::LatestLeaderboard;

/// Battles on one page of the list.
pub const PAGE: u32 = 20;
/// Votes that a visitor's own leaderboard counts at most, the latest ones.
const COUNTED: u32 = 5_000;
/// Battles that an export reads at a time.
const EXPORT_PAGE: u32 = 100;

/// A page of a visitor's battles, the latest first.
#[derive(Debug, Default)]
pub struct VisitorBattles {
    /// The battles.
    pub battles: Vec<HistoryEntry>,
    /// The battle before which the next page begins; `None` on the last one.
    pub older: Option<BattleId>,
}

/// A battle in the list.
#[derive(Debug)]
pub struct HistoryEntry {
    /// Its row.
    pub row: OwnBattleRow,
    /// The names of the models that the visitor may know: those of its own choice, and all after a vote.
    pub names: Vec<String>,
}

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

/// A question and its replies.
#[derive(Debug, Serialize)]
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

/// One battle in an export.
#[derive(Serialize)]
struct ExportedBattle {
    battle: BattleId,
    began_at: String,
    mode: BattleMode,
    /// The models that the visitor chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chosen: Vec<ModelId>,
    stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    turns: Vec<PastTurn>,
    /// Where the images beside the first question are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
    texts_deleted: bool,
    shared: bool,
    vote: Option<ExportedVote>,
}

#[derive(Serialize)]
struct ExportedVote {
    cast_at: String,
    satisfaction: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons_a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons_b: Option<String>,
    #[serde(flatten)]
    receipt: Receipt,
}

/// The battles of a visitor that began before `before` and have a question that contains `search`.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    store: &Store,
    models: &Models,
    visitor: &VisitorId,
    before: Option<BattleId>,
    search: Option<String>,
) -> Result<VisitorBattles, StoreError> {
    let filter = OwnBattlesFilter { before, search, limit: PAGE + 1 };
    let mut rows = store.own_battles(visitor, &filter).await?;
    let more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let older = rows.last().filter(|_| more).map(|row| row.id.clone());
    let battles = rows.into_iter().map(|row| HistoryEntry {
        names: row.models.iter().flatten().map(|model| models.card(model).name).collect(),
        row,
    });
    Ok(VisitorBattles { battles: battles.collect(), older })
}

/// What a visitor's own rated votes say of the models, and how often other people say the same.
///
/// # Errors
/// [`StoreError`].
pub async fn own_leaderboard(
    store: &Store,
    leaderboard: &LatestLeaderboard,
    visitor: &VisitorId,
) -> Result<OwnLeaderboard, StoreError> {
    let votes = store.own_rated_votes(visitor, COUNTED).await?;
    Ok(own_votes::own_leaderboard(&votes, |one, other| leaderboard.pair_counts(one.as_str(), other.as_str())))
}

/// A battle of this visitor; `None` where there is none, or it is another's.
///
/// # Errors
/// [`VoteError`].
pub async fn own_battle(
    store: &Store,
    visitor: &VisitorId,
    battle: &BattleId,
) -> Result<Option<PastBattle>, VoteError> {
    match store.battle_record(battle).await?.filter(|record| record.battle.visitor == *visitor) {
        Some(record) => past_battle(store, record).await.map(Some),
        None => Ok(None),
    }
}

/// The battle that a link with this token leads to.
///
/// # Errors
/// [`VoteError`].
pub async fn shared_battle(store: &Store, token: &str) -> Result<Option<PastBattle>, VoteError> {
    let Some(battle) = store.shared_battle(token).await? else { return Ok(None) };
    match store.battle_record(&battle).await? {
        Some(record) => past_battle(store, record).await.map(Some),
        None => Ok(None),
    }
}

/// All that is stored of a visitor's battles, as JSON.
///
/// # Errors
/// [`VoteError`].
pub async fn export(store: &Store, visitor: &VisitorId, clock: &dyn Clock) -> Result<String, VoteError> {
    let mut battles = Vec::new();
    let mut before = None;
    loop {
        let filter = OwnBattlesFilter { before, search: None, limit: EXPORT_PAGE };
        let rows = store.own_battles(visitor, &filter).await?;
        before = rows.last().map(|row| row.id.clone());
        let full = rows.len() == EXPORT_PAGE as usize;
        for row in rows {
            if let Some(past) = own_battle(store, visitor, &row.id).await? {
                battles.push(exported(&row, past));
            }
        }
        if !full {
            break;
        }
    }
    let whole = serde_json::json!({
        "exported_at": moment(clock.now()),
        "visitor": visitor,
        "consents": exported_consents(store.consents_of(visitor).await?),
        "battles": battles,
    });
    Ok(serde_json::to_string_pretty(&whole).expect("texts and finite numbers"))
}

/// What the visitor agreed to, with its text.
fn exported_consents(rows: Vec<ConsentRow>) -> Vec<serde_json::Value> {
    let exported = |row: ConsentRow| {
        let texts: serde_json::Value = serde_json::from_str(&row.body).unwrap_or_default();
        serde_json::json!({ "version": row.version, "agreed_at": moment(row.agreed_at), "texts": texts })
    };
    rows.into_iter().map(exported).collect()
}

fn exported(row: &OwnBattleRow, past: PastBattle) -> ExportedBattle {
    let vote = past.vote.map(|vote| ExportedVote {
        cast_at: moment(vote.cast_at),
        satisfaction: vote.satisfaction,
        reasons_a: vote.reasons[0].stored(),
        reasons_b: vote.reasons[1].stored(),
        receipt: vote.receipt,
    });
    ExportedBattle {
        battle: past.id,
        began_at: moment(row.created_at),
        mode: row.mode,
        chosen: chosen(row),
        stage: past.stage.as_str(),
        category: past.category,
        intent: past.intent,
        texts_deleted: past.turns.is_empty(),
        turns: past.turns,
        images: past.images.iter().map(|image| format!("/images/{image}")).collect(),
        shared: row.share.is_some(),
        vote,
    }
}

/// The models of the visitor's choice.
fn chosen(row: &OwnBattleRow) -> Vec<ModelId> {
    let sides = Side::BOTH.into_iter().filter(|side| row.mode.names(*side));
    sides.filter_map(|side| row.models[side.index()].clone()).collect()
}

async fn past_battle(store: &Store, record: BattleRecord) -> Result<PastBattle, VoteError> {
    let vote = match store.vote_on(&record.battle.id).await? {
        Some(vote) => Some(PastVote {
            cast_at: vote.created_at,
            satisfaction: vote.satisfaction,
            reasons: vote.reasons,
            receipt: stored_receipt(&vote, &record.replies)?,
            exclusion: vote.exclusion,
        }),
        None => None,
    };
    let (mode, stage) = (record.battle.mode, record.battle.progress.stage);
    Ok(PastBattle {
        turns: turns(&record),
        images: record.images,
        id: record.battle.id,
        mode,
        stage,
        category: record.battle.category,
        intent: record.battle.intent,
        vote,
    })
}

/// What the visitor saw. A voided battle has no two replies to show: the one that failed must not be known by its absence.
fn turns(record: &BattleRecord) -> Vec<PastTurn> {
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

fn moment(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map_or_else(|_| time.0.to_string(), |time| time.to_string())
}
