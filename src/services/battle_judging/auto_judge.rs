//! Automatic judging: a few new battles in each round, within the daily budget.

use tokio_util::sync::CancellationToken;

use super::daily_budget::left;
use super::judging::judge;
use super::{BattleJudging, LOCK};
use crate::battle_judging::pending_work::pending_work;
use crate::domain::battle::ModelId;
use crate::domain::battle_judging::prompt::BattlePrompt;
use crate::domain::battle_judging::sample::Sample;
use crate::domain::battle_judging::scope::Scope;
use crate::domain::benchmark::run_report::RunOutcome;
use crate::domain::judging::budget::Budget;
use crate::domain::time::{Timestamp, day_of};
use crate::infra::config::{JudgeSettings, Settings};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::storage::StoreError;
use crate::judging_rounds::{JudgingRounds, RoundDependencies, RoundOutcome};

/// Battles of one round at most.
const AT_MOST: usize = 256;
/// Votes older than this, in milliseconds, are left to the command.
const NEW: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Judges in rounds, and remembers what need not be looked at again.
pub struct AutoJudge {
    dependencies: RoundDependencies,
    prompt: BattlePrompt,
    /// The settings that the rest is about.
    by: JudgeSettings,
    /// All votes up to this one are judged.
    settled_upto: i64,
    /// The day whose budget is used up.
    used_up: Option<Timestamp>,
}

impl AutoJudge {
    /// No round was made yet.
    ///
    /// # Panics
    /// Never: a test reads the built-in instructions.
    #[must_use]
    pub fn new(dependencies: RoundDependencies) -> Self {
        let prompt = BattlePrompt::new(None).expect("a test reads the built-in instructions");
        Self { dependencies, prompt, by: JudgeSettings::default(), settled_upto: 0, used_up: None }
    }

    /// The judges of these settings.
    fn take_up(&mut self, settings: &Settings) -> Vec<ModelClient> {
        let changed = self.by != settings.judge;
        if changed {
            self.by = settings.judge.clone();
            (self.settled_upto, self.used_up) = (0, None);
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

    fn use_up(&mut self, today: Timestamp) {
        self.used_up = Some(today);
        tracing::info!("the daily budget for judging battles is used up");
    }

    /// How the round ended, and whether it has used up its budget.
    async fn judge(
        &mut self,
        judges: &[ModelClient],
        budget: Budget,
        stop: CancellationToken,
    ) -> Result<(RoundOutcome, bool), StoreError> {
        let RoundDependencies { store, rng, clock, .. } = &self.dependencies;
        let (clock, now) = (clock.as_ref(), clock.now());
        let scope = Scope {
            since: Timestamp(now.0.saturating_sub(NEW)),
            after: self.settled_upto,
            at_most: AT_MOST,
            ..Scope::all(Sample { seed: self.by.seed, share: self.by.share })
        };
        let battle_judging = BattleJudging { store, clock, rng, prompt: &self.prompt };
        let found = pending_work(battle_judging, scope, judges).await?;
        let limits = RunLimits::new(stop, budget);
        let outcomes = judge(battle_judging, &found, judges, &limits, &|_| {}).await?;
        tell(&outcomes);
        let all_settled = outcomes.iter().all(|outcome| outcome.left() == 0);
        if all_settled && !found.more {
            self.settled_upto = found.last_seq;
        }
        let round = match (all_settled, found.more) {
            (true, true) => RoundOutcome::More,
            (true, false) => RoundOutcome::Done,
            // Stopped or out of budget: nobody failed.
            (false, _) if limits.are_reached() => RoundOutcome::Done,
            (false, _) => RoundOutcome::Failing,
        };
        Ok((round, limits.budget.is_exhausted()))
    }
}

impl JudgingRounds for AutoJudge {
    async fn round(&mut self, settings: &Settings, stop: CancellationToken) -> Result<RoundOutcome, StoreError> {
        let judges = self.take_up(settings);
        let today = day_of(self.dependencies.clock.now());
        if judges.is_empty() || self.used_up == Some(today) {
            return Ok(RoundOutcome::Done);
        }
        let Some(budget) = left(&self.dependencies.store, &self.by, &judges, today).await? else {
            self.use_up(today);
            return Ok(RoundOutcome::Done);
        };
        // A command judges just now: it asks what this round would.
        let Some(lock) = self.dependencies.store.command_lock(LOCK).await? else { return Ok(RoundOutcome::Done) };
        let done = self.judge(&judges, budget, stop).await;
        lock.release().await;
        let (round, exhausted) = done?;
        if exhausted {
            self.use_up(today);
        }
        Ok(round)
    }

    fn is_changed(before: &Settings, after: &Settings) -> bool {
        before.judge != after.judge
    }
}

/// Says what came of a round, without a word of what was judged.
fn tell(outcomes: &[RunOutcome]) {
    for outcome in outcomes {
        let RunOutcome { model, kept, .. } = outcome;
        if !outcome.failed.is_empty() {
            tracing::warn!(judge = %model, kept, failed = outcome.failures(), "a judge of battles has failed");
        } else if *kept > 0 {
            tracing::info!(judge = %model, kept, "battles were judged");
        }
    }
}
