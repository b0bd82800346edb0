//! The vote: checked, kept once, acknowledged only after its commit, and the names with it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::leaderboard::Standings;
use super::models::Models;
use crate::battle::state::{Action, Refusal};
use crate::battle::text_counts::TextCounts;
use crate::battle::{ModelId, Outcome, Side};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::events::{Event, EventBus};
use crate::llm::ModelCard;
use crate::storage::{BattleRow, NewVoteRow, ReplyRow, Store, StoreError, VoteInsert, VoteRow};

/// What voting needs.
pub struct Voting {
    /// Where votes are kept.
    pub store: Store,
    /// Who is told.
    pub events: EventBus,
    /// The names to reveal.
    pub models: Arc<Models>,
    /// The ratings that the vote moves.
    pub standings: Arc<Standings>,
    /// Ids.
    pub chance: Arc<Chance>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// A vote as cast.
#[derive(Debug, Clone)]
pub struct NewVote {
    /// Pseudonym of the voter.
    pub visitor: String,
    /// The battle.
    pub battle: String,
    /// Which reply is better.
    pub outcome: Outcome,
    /// 1 to 5, if given.
    pub satisfaction: Option<i64>,
}

/// What the voter is told: the same on every retry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The vote's id.
    pub vote: String,
    /// The vote that counts: the first one.
    pub outcome: Outcome,
    /// Who answered on side A.
    pub a: Revealed,
    /// Who answered on side B.
    pub b: Revealed,
}

/// A model after the vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revealed {
    /// Its names.
    #[serde(flatten)]
    pub card: ModelCard,
    /// Its Elo rating before the vote.
    pub rating: f64,
    /// How the vote moves that rating.
    pub rating_change: f64,
    /// From the request to its first token.
    pub first_token_ms: Option<u64>,
    /// From the request to its end.
    pub duration_ms: u64,
    /// Speed after the first token; `None` where it is too short to tell.
    pub chars_per_second: Option<f64>,
    /// Its reasoning by turn, where it has any. Kept with the replies, not with the vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<String>,
}

/// Why a vote is not taken.
#[derive(Debug, thiserror::Error)]
pub enum VoteError {
    /// No such battle, or it is another visitor's.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// Not now.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Satisfaction outside 1 to 5.
    #[error("satisfaction is {0}: send a whole number from 1 to 5, or leave it out")]
    BadSatisfaction(i64),
    /// The database failed: nothing was kept.
    #[error("the vote could not be kept: send it again")]
    Store(#[from] StoreError),
}

/// Keeps the vote and returns the receipt; a battle that has a vote returns the first one's.
///
/// # Errors
/// [`VoteError`]; nothing is kept then.
pub async fn record_vote(voting: &Voting, vote: NewVote) -> Result<Receipt, VoteError> {
    if let Some(number) = vote.satisfaction.filter(|number| !(1..=5).contains(number)) {
        return Err(VoteError::BadSatisfaction(number));
    }
    let battle = own_battle(voting, &vote.visitor, &vote.battle).await?;
    let replies = voting.store.replies(&battle.id).await?;
    if let Some(first) = voting.store.vote_on(&battle.id).await? {
        return receipt_of(&first, &replies);
    }
    battle.progress.allows(Action::Vote, u32::MAX)?;
    let row = new_row(voting, &vote, &battle, &replies)?;
    match voting.store.insert_vote(&row).await? {
        VoteInsert::Stored(stored) => {
            voting.events.publish(Event::VoteRecorded);
            receipt_of(&stored, &replies)
        }
        VoteInsert::Existing(first) => receipt_of(&first, &replies),
        VoteInsert::BattleMoved => Err(Refusal::StillAnswering.into()),
    }
}

/// The receipt of the vote on a visitor's battle, if it has one.
///
/// # Errors
/// [`VoteError`].
pub async fn receipt(voting: &Voting, visitor: &str, battle: &str) -> Result<Option<Receipt>, VoteError> {
    let battle = own_battle(voting, visitor, battle).await?;
    match voting.store.vote_on(&battle.id).await? {
        Some(vote) => receipt_of(&vote, &voting.store.replies(&battle.id).await?).map(Some),
        None => Ok(None),
    }
}

async fn own_battle(voting: &Voting, visitor: &str, battle: &str) -> Result<BattleRow, VoteError> {
    let battle = voting.store.battle(battle).await?.filter(|battle| battle.visitor == visitor);
    battle.ok_or(VoteError::UnknownBattle)
}

fn new_row(
    voting: &Voting,
    vote: &NewVote,
    battle: &BattleRow,
    replies: &[ReplyRow],
) -> Result<NewVoteRow, VoteError> {
    let id = voting.chance.id(voting.clock.as_ref());
    let last = |side: Side| {
        let in_last_turn = |row: &&ReplyRow| row.turn == battle.progress.turn && row.reply.side == side;
        replies.iter().find(in_last_turn).map(|row| &row.reply)
    };
    let (Some(a), Some(b)) = (last(Side::A), last(Side::B)) else {
        return Err(Refusal::StillAnswering.into());
    };
    let change = voting.standings.elo_change(&battle.models, vote.outcome);
    let reveal = |model: &ModelId, reply: &crate::storage::NewReply, change: f64| Revealed {
        card: voting.models.card(model),
        rating: voting.standings.elo(model),
        rating_change: change,
        first_token_ms: reply.first_token_ms,
        duration_ms: reply.duration_ms,
        chars_per_second: chars_per_second(&reply.text, reply.first_token_ms, reply.duration_ms),
        reasoning: Vec::new(),
    };
    let receipt = Receipt {
        vote: id.clone(),
        outcome: vote.outcome,
        a: reveal(&battle.models[0], a, change),
        b: reveal(&battle.models[1], b, -change),
    };
    Ok(NewVoteRow {
        id,
        battle: battle.id.clone(),
        turn: battle.progress.turn,
        outcome: vote.outcome,
        satisfaction: vote.satisfaction,
        first_token_ms: [a.first_token_ms, b.first_token_ms],
        duration_ms: [a.duration_ms, b.duration_ms],
        text_counts: Side::BOTH.map(|side| text_counts(replies, side)),
        exclusion: None,
        receipt: serde_json::to_string(&receipt).expect("a receipt is plain text and finite numbers"),
        created_at: voting.clock.now(),
    })
}

/// The stored receipt, completed with the reasoning that is kept with the replies.
fn receipt_of(vote: &VoteRow, replies: &[ReplyRow]) -> Result<Receipt, VoteError> {
    let mut receipt: Receipt = serde_json::from_str(&vote.receipt).map_err(|_| StoreError::Inconsistent {
        table: "votes",
        column: "receipt",
        row: vote.id.clone(),
        value: vote.receipt.clone(),
    })?;
    receipt.a.reasoning = reasoning(replies, Side::A);
    receipt.b.reasoning = reasoning(replies, Side::B);
    Ok(receipt)
}

fn reasoning(replies: &[ReplyRow], side: Side) -> Vec<String> {
    let texts = replies.iter().filter(|row| row.reply.side == side).map(|row| row.reply.reasoning.clone());
    let texts: Vec<String> = texts.collect();
    if texts.iter().all(String::is_empty) { Vec::new() } else { texts }
}

fn text_counts(replies: &[ReplyRow], side: Side) -> TextCounts {
    replies
        .iter()
        .filter(|row| row.reply.side == side)
        .fold(TextCounts::default(), |sum, row| sum.plus(TextCounts::of(&row.reply.text)))
}

fn chars_per_second(text: &str, first_token_ms: Option<u64>, duration_ms: u64) -> Option<f64> {
    let writing_ms = duration_ms.checked_sub(first_token_ms?).filter(|ms| *ms >= 100)?;
    let chars = u32::try_from(text.chars().count()).ok()?;
    let writing_ms = u32::try_from(writing_ms).ok()?;
    Some((f64::from(chars) * 1000.0 / f64::from(writing_ms) * 10.0).round() / 10.0)
}
