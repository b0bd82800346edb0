//! Automatic judging: a few new battles in each round, within the daily budget.

use tokio_util::sync::CancellationToken;

use super::daily_budget::left;
use super::judging::judge;
use super::{BattleJudging, LOCK_NAME};
use crate::battle_judging::pending_work::pending_work;
use crate::domain::battle::ModelId;
use crate::domain::battle_judging::prompt::BattlePrompt;
use crate::domain::battle_judging::sample::Sample;
use crate::domain::battle_judging::scope::Scope;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::judging::budget::Budget;
use crate::domain::time::{Timestamp, day_of};
use crate::infra::config::{JudgeSettings, Settings};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::storage::StoreError;
use crate::judging_rounds::{BackgroundJudging, RoundDependencies, RoundOutcome};

/// Maximum number of battles per round.
const BATCH_SIZE: usize = 256;
/// Maximum age of votes in milliseconds; older ones are left to the command.
const MAX_VOTE_AGE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Judges battles in rounds, and remembers which votes are done.
pub struct AutoJudge {
    dependencies: RoundDependencies,
    prompt: BattlePrompt,
    /// Settings that the remaining state applies to.
    by: JudgeSettings,
    /// All votes up to this one are judged.
    checked_up_to: i64,
    /// Day whose budget is exhausted.
    exhausted_day: Option<Timestamp>,
}

impl AutoJudge {
    /// Creates the state before the first round.
    ///
    /// # Panics
    /// Never: a test reads the built-in instructions.
    #[must_use]
    pub fn new(dependencies: RoundDependencies) -> Self {
        let prompt = BattlePrompt::new(None).expect("a test reads the built-in instructions");
        Self { dependencies, prompt, by: JudgeSettings::default(), checked_up_to: 0, exhausted_day: None }
    }

    /// Applies these settings and returns their judges; changed settings reset the state.
    fn apply_settings(&mut self, settings: &Settings) -> Vec<ModelClient> {
        let changed = self.by != settings.judge;
        if changed {
            self.by = settings.judge.clone();
            (self.checked_up_to, self.exhausted_day) = (0, None);
        }
        let client = |id: ModelId| {
            let client = self.dependencies.client(&id, settings);
            if changed && client.is_none() {
                tracing::error!(judge = %id, "judge.models names an unknown model, so it judges nothing: use the id of one of [[models]]");
            }
            client
        };
        self.by.models.iter().map(ModelId::new).filter_map(client).collect()
    }

    fn mark_day_exhausted(&mut self, today: Timestamp) {
        self.exhausted_day = Some(today);
        tracing::info!("the daily budget for judging battles is used up");
    }

    /// Judges one batch; returns the outcome of the round and whether it has exhausted the budget.
    async fn judge(
        &mut self,
        judges: &[ModelClient],
        budget: Budget,
        stop: CancellationToken,
    ) -> Result<(RoundOutcome, bool), StoreError> {
        let RoundDependencies { store, rng, clock, .. } = &self.dependencies;
        let (clock, now) = (clock.as_ref(), clock.now());
        let scope = Scope {
            since: Timestamp(now.0.saturating_sub(MAX_VOTE_AGE_MS)),
            after: self.checked_up_to,
            at_most: BATCH_SIZE,
            ..Scope::all(Sample { seed: self.by.seed, share: self.by.share })
        };
        let battle_judging = BattleJudging { store, clock, rng, prompt: &self.prompt };
        let found = pending_work(battle_judging, scope, judges).await?;
        let limits = RunLimits::new(stop, budget);
        let outcomes = judge(battle_judging, &found, judges, &limits, &|_| {}).await?;
        log_outcomes(&outcomes);
        let all_settled = outcomes.iter().all(|outcome| outcome.left() == 0);
        if all_settled && !found.more {
            self.checked_up_to = found.last_seq;
        }
        let round = match (all_settled, found.more) {
            (true, true) => RoundOutcome::More,
            (true, false) => RoundOutcome::Done,
            // Stopped or out of budget: no judge failed.
            (false, _) if limits.are_reached() => RoundOutcome::Done,
            (false, _) => RoundOutcome::Failing,
        };
        Ok((round, limits.budget.is_exhausted()))
    }
}

impl BackgroundJudging for AutoJudge {
    async fn round(&mut self, settings: &Settings, stop: CancellationToken) -> Result<RoundOutcome, StoreError> {
        let judges = self.apply_settings(settings);
        let today = day_of(self.dependencies.clock.now());
        if judges.is_empty() || self.exhausted_day == Some(today) {
            return Ok(RoundOutcome::Done);
        }
        let Some(budget) = left(&self.dependencies.store, &self.by, &judges, today).await? else {
            self.mark_day_exhausted(today);
            return Ok(RoundOutcome::Done);
        };
        // A command is judging, with the same requests as this round.
        let Some(lock) = self.dependencies.store.command_lock(LOCK_NAME).await? else { return Ok(RoundOutcome::Done) };
        let done = self.judge(&judges, budget, stop).await;
        lock.release().await;
        let (round, exhausted) = done?;
        if exhausted {
            self.mark_day_exhausted(today);
        }
        Ok(round)
    }

    fn is_changed(before: &Settings, after: &Settings) -> bool {
        before.judge != after.judge
    }
}

/// Logs the outcome of a round, without any text of the battles.
fn log_outcomes(outcomes: &[RunOutcome]) {
    for outcome in outcomes {
        let RunOutcome { model, kept, .. } = outcome;
        if !outcome.failed.is_empty() {
            tracing::warn!(judge = %model, kept, failed = outcome.failures(), "a judge of battles has failed");
        } else if *kept > 0 {
            tracing::info!(judge = %model, kept, "battles were judged");
        }
    }
}
