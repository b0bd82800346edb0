//! A visitor's battle history: list, export, sharing by link, and own leaderboard.
//!
//! Model names come from the vote's receipt, so a battle without a vote reveals none.

use super::models::Models;
use super::voting::{VoteError, stored_receipt};
use crate::domain::battle::past_battle::{PastBattle, PastVote};
use crate::domain::battle::{BattleId, VisitorId};
use crate::domain::rating::leaderboards::own_leaderboard::{self, OwnLeaderboard};
use crate::formats::visitor_data::{AgreedText, OwnBattleFacts, OwnBattlesExport};
use crate::infra::storage::{BattleRecord, HistoryEntry, OwnBattleRow, OwnBattlesFilter, Store, StoreError};
use crate::infra::time::clock::Clock;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Battles per page of the list.
pub const PAGE_SIZE: u32 = 20;
/// Maximum number of votes in a visitor's own leaderboard, the latest ones.
const MAX_OWN_VOTES: u32 = 5_000;
/// Battles per page of an export.
const EXPORT_PAGE_SIZE: u32 = 100;

/// A page of a visitor's battles, the latest first.
#[derive(Debug, Default)]
pub struct VisitorBattles {
    /// The battles.
    pub battles: Vec<HistoryEntry>,
    /// Cursor of the next page, which lists battles before this one; `None` on the last page.
    pub older: Option<BattleId>,
}

/// Lists the visitor's battles that began before `before` and have a prompt that contains `search`.
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
    let filter = OwnBattlesFilter { before, search, limit: PAGE_SIZE + 1 };
    let mut rows = store.own_battles(visitor, &filter).await?;
    let more = rows.len() > PAGE_SIZE as usize;
    rows.truncate(PAGE_SIZE as usize);
    let older = rows.last().filter(|_| more).map(|row| row.id.clone());
    let battles = rows.into_iter().map(|row| HistoryEntry {
        names: row.models.iter().flatten().map(|model| models.card(model).name).collect(),
        row,
    });
    Ok(VisitorBattles { battles: battles.collect(), older })
}

/// Computes a leaderboard from the visitor's own rated votes, with its agreement with other visitors.
///
/// # Errors
/// [`StoreError`].
pub async fn own_leaderboard(
    store: &Store,
    leaderboard: &LatestLeaderboard,
    visitor: &VisitorId,
) -> Result<OwnLeaderboard, StoreError> {
    let votes = store.own_rated_votes(visitor, MAX_OWN_VOTES).await?;
    Ok(own_leaderboard::own_leaderboard(&votes, |one, other| leaderboard.pair_counts(one.as_str(), other.as_str())))
}

/// Returns a battle of this visitor; `None` if there is none, or it is another visitor's.
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

/// Returns the battle shared by a link with this token.
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

/// Exports all stored data of a visitor's battles as JSON.
///
/// # Errors
/// [`VoteError`].
pub async fn export(store: &Store, visitor: &VisitorId, clock: &dyn Clock) -> Result<String, VoteError> {
    let mut battles = OwnBattlesExport::default();
    let mut before = None;
    loop {
        let filter = OwnBattlesFilter { before, search: None, limit: EXPORT_PAGE_SIZE };
        let rows = store.own_battles(visitor, &filter).await?;
        before = rows.last().map(|row| row.id.clone());
        let full = rows.len() == EXPORT_PAGE_SIZE as usize;
        for row in rows {
            if let Some(past) = own_battle(store, visitor, &row.id).await? {
                let OwnBattleRow { created_at: began_at, models, share, .. } = row;
                battles.add(OwnBattleFacts { began_at, models, is_shared: share.is_some() }, past);
            }
        }
        if !full {
            break;
        }
    }
    let consents = store.consents_of(visitor).await?;
    let agreed = consents.iter().map(|consent| AgreedText {
        version: &consent.version,
        agreed_at: consent.agreed_at,
        body: &consent.body,
    });
    Ok(battles.to_json(visitor, agreed, clock.now()))
}

async fn past_battle(store: &Store, record: BattleRecord) -> Result<PastBattle, VoteError> {
    let vote = match store.vote_on(&record.battle.id).await? {
        Some(vote) => {
            let receipt = stored_receipt(&vote, &record.replies)?;
            Some(PastVote::new(vote, receipt))
        }
        None => None,
    };
    Ok(PastBattle::new(record, vote))
}
