//! Judge models on the arena's own battles, under a budget: a sampled share of the rated ones, in both orders of the sides. They also judge
//! the answers of a campaign that people judge.
//!
//! [`crate::domain::battle_judging`] builds requests and parses replies; this module connects it to models and the database.
//! [`pending_work`] lists the missing verdicts, [`judging`] queries the judges and stores each verdict at once, so that a stopped or killed
//! run can continue; [`auto_judge`] judges without a command, within the budget of [`daily_budget`], and [`reports`] computes agreement
//! with people.

pub mod auto_judge;
pub mod daily_budget;
pub mod judging;
pub mod pending_work;
pub mod reports;

use crate::benchmark::attempts::AttemptLog;
use crate::domain::battle::record::TurnRow;
use crate::domain::battle::{BattleId, Side};
use crate::domain::battle_judging::prompt::{BattlePrompt, BattleTurn};
use crate::domain::battle_judging::subject::JudgedSubject;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;

/// Name of the lock on judging battles, for commands and the arena alike.
pub const LOCK_NAME: &str = "judge";

/// Context of judging battles: the instructions and the stores.
#[derive(Clone, Copy)]
pub struct BattleJudging<'c> {
    /// The database.
    pub store: &'c Store,
    /// Clock of the stored rows.
    pub clock: &'c dyn Clock,
    /// Random number generator, for ids.
    pub rng: &'c SharedRng,
    /// The instructions to the judges.
    pub prompt: &'c BattlePrompt,
}

impl<'c> BattleJudging<'c> {
    fn log(&self) -> AttemptLog<'c> {
        AttemptLog { store: self.store, clock: self.clock, rng: self.rng }
    }
}

/// Reads the conversation to judge; empty for a battle whose vote was imported from a file.
async fn conversation(store: &Store, subject: &JudgedSubject) -> Result<Vec<BattleTurn>, StoreError> {
    match subject {
        JudgedSubject::Battle(battle) => turns_of(store, battle).await,
        JudgedSubject::Unit { campaign, unit } => Ok(vec![answers_of(store, campaign, *unit).await?]),
    }
}

/// Reads the prompt and the two answers of a campaign's unit.
async fn answers_of(store: &Store, campaign: &str, unit: u32) -> Result<BattleTurn, StoreError> {
    let (item, models) = store.campaign_unit(campaign, unit).await?;
    let texts = store.campaign_item(campaign, item).await?;
    let answer = |at: usize| models.get(at).map(|model| texts.answer(model).to_owned()).unwrap_or_default();
    Ok(BattleTurn { replies: [answer(0), answer(1)], question: texts.prompt })
}

/// Reads the turns of a battle in one snapshot: retention may delete its prompts and replies meanwhile.
async fn turns_of(store: &Store, battle: &BattleId) -> Result<Vec<BattleTurn>, StoreError> {
    let Some(record) = store.battle_record(battle).await? else { return Ok(Vec::new()) };
    let reply = |turn, side| record.reply(turn, side).map_or_else(String::new, |reply| reply.text.clone());
    let said = |row: &TurnRow| BattleTurn {
        question: row.prompt.clone(),
        replies: Side::BOTH.map(|side| reply(row.turn, side)),
    };
    Ok(record.turns.iter().map(said).collect())
}
