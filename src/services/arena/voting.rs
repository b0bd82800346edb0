//! Checks and records a vote, and returns the receipt with the model names after the commit.

use crate::domain::battle::speed::chars_per_second;
use std::sync::Arc;

use super::battles::Battles;
use super::exclusion_rules::{AppliedRules, ExclusionRules};
use super::models::Models;
use super::reply_moderation::ReplyModeration;
use crate::domain::battle::progress::{Progress, Refusal, Stage};
use crate::domain::battle::vote_reasons::ReasonSet;
use crate::domain::battle::vote_receipt::{ExclusionNotice, Receipt, Revealed, RevealedPrice};
use crate::domain::battle::{BattleId, ModelId, Outcome, Side, VisitorId};
use crate::domain::public_log::promised_vote::{PromisedVote, included_by, included_within};
use crate::domain::time::Timestamp;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::events::{Event, EventBus};
use crate::infra::metrics;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    BattleRecord, InsertedVote, NewVoteRow, ReplyRow, Store, StoreError, VoteExclusion, VoteRow,
};
use crate::infra::time::clock::Clock;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;
use crate::public_log::PublicLog;

/// Services that record votes.
pub struct Voting {
    /// The database.
    pub store: Store,
    /// Battles in memory.
    pub battles: Arc<Battles>,
    /// Event bus that announces new votes.
    pub events: Arc<dyn EventBus>,
    /// Model names to reveal.
    pub models: Arc<Models>,
    /// Rules that exclude a vote when it is cast.
    pub rules: ExclusionRules,
    /// Ratings before the vote, for the receipt.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// Current settings, for prices.
    pub settings: CurrentSettings,
    /// Source of vote ids.
    pub rng: Arc<SharedRng>,
    /// Clock of the votes.
    pub clock: Arc<dyn Clock>,
    /// Moderation of replies after the vote.
    pub replies: ReplyModeration,
    /// Public log, which signs inclusion promises.
    pub log: PublicLog,
}

/// Vote as cast.
#[derive(Debug, Clone)]
pub struct NewVote {
    /// Pseudonym of the voter.
    pub visitor: VisitorId,
    /// Id of the battle.
    pub battle: BattleId,
    /// Turn voted on; `None` means the latest.
    pub turn: Option<u32>,
    /// Run id of that turn's replies; `None` means the latest.
    pub answer: Option<String>,
    /// Preferred reply.
    pub outcome: Outcome,
    /// Satisfaction from 1 to 5, if given.
    pub satisfaction: Option<i64>,
    /// Reasons for sides A and B; empty if none are given.
    pub reasons: [ReasonSet; 2],
}

/// Error of casting a vote.
#[derive(Debug, thiserror::Error)]
pub enum VoteError {
    /// No such battle, or it is another visitor's.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// The vote is not allowed at this stage.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The vote is about another turn than the latest.
    #[error("this vote is about turn {about}, the battle is in turn {latest}: read the latest replies and vote again")]
    OutdatedTurn {
        /// The turn of the vote.
        about: u32,
        /// The turn of the battle.
        latest: u32,
    },
    /// The vote is about replies that were regenerated.
    #[error("the replies of this vote were regenerated: read the latest replies and vote again")]
    OutdatedAnswer,
    /// The outcome is a comparison, but one model answered alone.
    #[error("one model answered alone: vote \"a\" where the reply is good, or \"both_bad\" where it is not")]
    NothingCompared,
    /// Satisfaction outside 1 to 5.
    #[error("satisfaction is {0}: send a whole number from 1 to 5, or leave it out")]
    BadSatisfaction(i64),
    /// The database failed: nothing was stored.
    #[error("the vote could not be stored: send it again")]
    Store(#[from] StoreError),
}

/// Stores the vote and returns the receipt; for a battle that has a vote, returns the first one's.
///
/// # Errors
/// [`VoteError`]; nothing is stored then.
pub async fn record_vote(voting: &Voting, vote: NewVote) -> Result<Receipt, VoteError> {
    if let Some(number) = vote.satisfaction.filter(|number| !(1..=5).contains(number)) {
        return Err(VoteError::BadSatisfaction(number));
    }
    if let Some(record) = voting.battles.awaiting_vote(&vote.visitor, &vote.battle) {
        match cast(voting, &vote, &record).await {
            // The battle in memory is outdated: another instance may have continued it, and the database is authoritative.
            Err(
                VoteError::Refused(Refusal::StillAnswering)
                | VoteError::OutdatedTurn { .. }
                | VoteError::OutdatedAnswer,
            ) => {}
            cast => return cast,
        }
    }
    let record = own_battle(voting, &vote.visitor, &vote.battle).await?;
    if record.battle.progress.stage == Stage::Voted
        && let Some(first) = voting.store.vote_on(&record.battle.id).await?
    {
        return promised_receipt(voting, &first, &record.replies);
    }
    match cast(voting, &vote, &record).await {
        Err(VoteError::Refused(refusal)) => Err(voting.battles.reason_for(&vote.battle, refusal).await.into()),
        cast => cast,
    }
}

/// Stores the vote on this state of the battle, which the database compares at commit.
async fn cast(voting: &Voting, vote: &NewVote, record: &BattleRecord) -> Result<Receipt, VoteError> {
    let BattleRecord { battle, replies, .. } = record;
    let Progress { stage, turn: latest } = battle.progress;
    if let Some(about) = vote.turn.filter(|turn| *turn != latest && stage.awaits_vote()) {
        return Err(VoteError::OutdatedTurn { about, latest });
    }
    if stage.awaits_vote() && vote.answer.is_some() && battle.answered_by.is_some() && vote.answer != battle.answer() {
        return Err(VoteError::OutdatedAnswer);
    }
    let shown = |side: &Side| record.reply(latest, *side).map_or("", |reply| reply.text.as_str());
    let shown: Vec<&str> = battle.mode.sides().iter().map(shown).collect();
    battle.progress.allows_vote_on(&shown)?;
    if !battle.mode.takes(vote.outcome) {
        return Err(VoteError::NothingCompared);
    }
    let id = voting.rng.id(voting.clock.as_ref());
    let rules = voting.rules.apply(record).await;
    let now = voting.clock.now();
    let mut receipt = new_receipt(voting, id, vote, record, &rules)?;
    receipt.included_by = promised_time(voting, now).map(|time| time.0);
    match voting.store.insert_vote(&new_row(&receipt, vote, record, rules.exclusions, now)).await? {
        InsertedVote::Stored => {
            metrics::vote_committed(vote.outcome, receipt.excluded.is_none());
            voting.events.publish(Event::VoteRecorded);
            voting.replies.moderate_battle(record);
            let (id, outcome, cast_at) = (receipt.vote.as_str(), vote.outcome, now);
            let (battle, models) = (&record.battle.id, &record.battle.models);
            let promised = |included_by| PromisedVote { id, battle, models, outcome, cast_at, included_by };
            receipt.promise = receipt.included_by.map(promised).map(|vote| voting.log.promise(&vote));
            Ok(receipt.with_reasoning(replies))
        }
        InsertedVote::Existing(first) => promised_receipt(voting, &first, replies),
        InsertedVote::BattleMoved => Err(Refusal::StillAnswering.into()),
    }
}

/// Returns the time by which a vote cast now will be in the public log; `None` while the log is late on earlier promises, has a backlog
/// larger than it can append in time, or cannot be continued.
fn promised_time(voting: &Voting, now: Timestamp) -> Option<Timestamp> {
    let within = included_within(voting.settings.now().rating.leaderboards_every());
    (!voting.log.is_behind(now, within)).then(|| included_by(now, within))
}

/// Returns the receipt of the vote on a visitor's battle, if it has one.
///
/// # Errors
/// [`VoteError`].
pub async fn receipt(voting: &Voting, visitor: &VisitorId, battle: &BattleId) -> Result<Option<Receipt>, VoteError> {
    let BattleRecord { battle, replies, .. } = own_battle(voting, visitor, battle).await?;
    match voting.store.vote_on(&battle.id).await? {
        Some(vote) => promised_receipt(voting, &vote, &replies).map(Some),
        None => Ok(None),
    }
}

async fn own_battle(voting: &Voting, visitor: &VisitorId, battle: &BattleId) -> Result<BattleRecord, VoteError> {
    let record = voting.store.battle_record(battle).await?.filter(|record| record.battle.visitor == *visitor);
    record.ok_or(VoteError::UnknownBattle)
}

/// Creates the receipt with names, ratings and speeds at the time of the vote. An excluded vote changes no rating.
fn new_receipt(
    voting: &Voting,
    id: String,
    vote: &NewVote,
    record: &BattleRecord,
    rules: &AppliedRules,
) -> Result<Receipt, VoteError> {
    let battle = &record.battle;
    let [excluded, marked] = [&rules.exclusions, &rules.marks].map(|list| notice(list));
    let latest = voting.leaderboard.latest();
    let change = latest.elo_change(&battle.models, vote.outcome);
    let change = if excluded.is_none() { change } else { 0.0 };
    let reveal = |side: Side, change: f64| {
        let reply = record.reply(battle.progress.turn, side).ok_or(Refusal::StillAnswering)?;
        Ok::<_, Refusal>(Revealed {
            card: voting.models.card(&battle.models[side.index()]),
            rating: latest.elo(&battle.models[side.index()]),
            rating_change: change,
            first_token_ms: reply.first_token_ms,
            duration_ms: reply.duration_ms,
            chars_per_second: chars_per_second(&reply.text, reply.first_token_ms, reply.duration_ms),
            price: price(&voting.settings.now(), &battle.models[side.index()]),
            reasoning: Vec::new(),
        })
    };
    let a = reveal(Side::A, change)?;
    let b = battle.mode.sides().contains(&Side::B).then(|| reveal(Side::B, 0.0 - change)).transpose()?;
    let [one, other] = &battle.models;
    let crowd = || voting.leaderboard.pair_counts(one.as_str(), other.as_str()).agreement(vote.outcome);
    let crowd = b.is_some().then(crowd).flatten();
    let outcome = vote.outcome;
    Ok(Receipt { vote: id, outcome, crowd, a, b, excluded, marked, included_by: None, promise: None })
}

fn price(settings: &Settings, model: &ModelId) -> Option<RevealedPrice> {
    let entry = settings.models.iter().find(|entry| entry.id == model.as_str())?;
    let prices = entry.price()?.prices;
    let currency = settings.prices.currency.to_string();
    Some(RevealedPrice { currency, input: prices.input, output: prices.output })
}

/// Returns the notice of the exclusion rule that exports name.
fn notice(rules: &[VoteExclusion]) -> Option<ExclusionNotice> {
    let excluding = rules.iter().min_by_key(|exclusion| exclusion.rule.name())?;
    Some(ExclusionNotice { rule: excluding.rule.name().to_owned(), reason: excluding.reason.clone() })
}

fn new_row(
    receipt: &Receipt,
    vote: &NewVote,
    record: &BattleRecord,
    exclusions: Vec<VoteExclusion>,
    created_at: Timestamp,
) -> NewVoteRow {
    NewVoteRow {
        id: receipt.vote.clone(),
        battle: record.battle.id.clone(),
        turn: record.battle.progress.turn,
        answered_by: record.battle.answered_by.clone(),
        outcome: vote.outcome,
        satisfaction: vote.satisfaction,
        reasons: vote.reasons,
        first_token_ms: [receipt.a.first_token_ms, receipt.b.as_ref().and_then(|b| b.first_token_ms)],
        duration_ms: [receipt.a.duration_ms, receipt.b.as_ref().map_or(0, |b| b.duration_ms)],
        text_counts: Side::BOTH.map(|side| record.text_counts(side)),
        receipt: serde_json::to_string(receipt).expect("a receipt is plain text and finite numbers"),
        created_at,
        exclusions,
    }
}

/// Returns the receipt of a stored vote, with its inclusion promise.
fn promised_receipt(voting: &Voting, vote: &VoteRow, replies: &[ReplyRow]) -> Result<Receipt, VoteError> {
    let promise = PromisedVote::of_row(vote).map(|promised| voting.log.promise(&promised));
    Ok(Receipt { promise, ..stored_receipt(vote, replies)? })
}

pub(super) fn stored_receipt(vote: &VoteRow, replies: &[ReplyRow]) -> Result<Receipt, VoteError> {
    let receipt: Receipt = serde_json::from_str(&vote.receipt).map_err(|_| StoreError::Inconsistent {
        table: "votes",
        column: "receipt",
        row: vote.id.clone(),
        value: vote.receipt.clone(),
    })?;
    Ok(receipt.with_reasoning(replies))
}
