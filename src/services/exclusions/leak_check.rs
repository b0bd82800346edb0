//! Checks the battles of rated votes by a language model, if configured, for identity leaks that the rules miss, and excludes votes with
//! leaks. Votes that it cannot check stay rated.

use futures_util::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::scores::judgement::{JudgeRequest, JudgeTokens};
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::identity_leak::{Leak, TurnTexts};
use crate::domain::integrity::identity_leak_check::{
    LeakCheckPrompt, REMINDER, TextName, exclusion_reason, read_reply,
};
use crate::domain::judging::budget::{Budget, estimate, estimate_all};
use crate::domain::judging::judge_prompt::with_reminder;
use crate::domain::time::{Timestamp, day_of};
use crate::exclusions::PROGRAM_NAME;
use crate::infra::config::{IntegritySettings, Settings};
use crate::infra::llm::Message;
use crate::infra::llm::model_client::{AskError, ModelClient, RunEnd, RunLimits, WholeReply};
use crate::infra::metrics;
use crate::infra::storage::{
    LeakCheckRow, LeakCheckState, LeakCheckStatus, NewExclusions, Store, StoreError, UncheckedVote,
};
use crate::judging_rounds::{BackgroundJudging, RoundDependencies, RoundOutcome};

/// Maximum number of votes per round.
const BATCH_SIZE: u32 = 64;
/// Maximum age of checked votes in milliseconds.
const MAX_VOTE_AGE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Maximum length of checked texts in tokens.
const MAX_TEXT_TOKENS: u64 = 24_000;
/// Maximum number of requests for a parsable reply.
const MAX_REQUESTS: u32 = 2;
/// Maximum number of leaks in a reason.
const MAX_LEAKS_PER_REASON: usize = 3;

/// Returns the earliest time of votes to check.
fn earliest_vote_time(now: Timestamp) -> Timestamp {
    Timestamp(now.0.saturating_sub(MAX_VOTE_AGE_MS))
}

/// Returns the progress of the leak check; `None` if no model is configured.
///
/// # Errors
/// [`StoreError`].
pub async fn leak_check_state(
    store: &Store,
    judge: &str,
    now: Timestamp,
) -> Result<Option<LeakCheckState>, StoreError> {
    if judge.is_empty() {
        return Ok(None);
    }
    let (counts, waiting) =
        (store.leak_check_counts().await?, store.count_without_leak_check(earliest_vote_time(now)).await?);
    Ok(Some(LeakCheckState { judge: judge.to_owned(), counts, waiting }))
}

/// Checks battles in rounds.
pub struct LeakCheck {
    dependencies: RoundDependencies,
    prompt: LeakCheckPrompt,
    /// Settings that the remaining state applies to.
    by: IntegritySettings,
    /// All votes up to this one are checked.
    checked_up_to: i64,
    /// Day whose limit is reached.
    exhausted_day: Option<Timestamp>,
    /// Day, and its number of requests without a stored check: they failed, or the database did.
    failed_calls: (Timestamp, u64),
}

/// Outcome of a check.
struct CheckOutcome {
    status: LeakCheckStatus,
    leaks: Vec<Leak>,
    attempts: u32,
    tokens: JudgeTokens,
}

/// Number of votes of a round, by result.
#[derive(Debug, Clone, Copy, Default)]
struct RoundCounts {
    checked: u64,
    /// Number of requests for the checked votes.
    calls: u64,
    excluded: u64,
    failed: u64,
    left: u64,
}

impl LeakCheck {
    /// Creates the state before the first round.
    ///
    /// # Panics
    /// Never: a test reads the built-in instructions.
    #[must_use]
    pub fn new(dependencies: RoundDependencies) -> Self {
        let prompt = LeakCheckPrompt::new().expect("a test reads the built-in instructions");
        let (by, failed_calls) = (IntegritySettings::default(), (Timestamp(0), 0));
        Self { dependencies, prompt, by, checked_up_to: 0, exhausted_day: None, failed_calls }
    }

    /// Applies these settings and returns their model; changed settings reset the state.
    fn apply_settings(&mut self, settings: &Settings) -> Option<ModelClient> {
        let changed = self.by != settings.integrity;
        if changed {
            self.by = settings.integrity.clone();
            (self.checked_up_to, self.exhausted_day) = (0, None);
        }
        if self.by.leak_judge.is_empty() {
            return None;
        }
        let judge = self.dependencies.client(&ModelId::new(&self.by.leak_judge), settings);
        if changed && judge.is_none() {
            tracing::error!(
                judge = self.by.leak_judge,
                "integrity.leak_judge names an unknown model, so no battle is checked for leaks: set it to the id of one of [[models]]"
            );
        }
        judge
    }

    /// Returns the remainder of the day's limit; `None` if it is exhausted.
    async fn left(&self, today: Timestamp) -> Result<Option<Budget>, StoreError> {
        let most = self.by.leak_judge_calls_per_day;
        if most == 0 {
            return Ok(Some(Budget::default()));
        }
        let stored = self.dependencies.store.leak_check_calls(today).await?;
        let left = most.saturating_sub(stored.saturating_add(self.failed_on(today)));
        Ok((left > 0).then_some(Budget { max_calls: Some(left), max_cost: None }))
    }

    /// Returns the number of failed requests of a day sent by this process.
    fn failed_on(&self, day: Timestamp) -> u64 {
        let (of, calls) = self.failed_calls;
        if of == day { calls } else { 0 }
    }

    fn mark_day_exhausted(&mut self, today: Timestamp) {
        self.exhausted_day = Some(today);
        tracing::warn!(
            "the daily limit of leak checks is reached: further votes are rated unchecked until midnight UTC (integrity.leak_judge_calls_per_day)"
        );
    }

    /// Checks these votes, several at a time, until the database fails; earlier results are counted.
    async fn check_all(
        &self,
        votes: &[UncheckedVote],
        judge: &ModelClient,
        limits: &RunLimits,
    ) -> (RoundCounts, Result<(), StoreError>) {
        let checks: Vec<_> = votes.iter().map(|vote| self.check(vote, judge, limits)).collect();
        let mut checks = stream::iter(checks).buffer_unordered(judge.max_concurrent.max(1));
        let mut counts = RoundCounts::default();
        while let Some(checked) = checks.next().await {
            match checked {
                Ok(one) => counts = counts.plus(one),
                Err(error) => return (counts, Err(error)),
            }
        }
        (counts, Ok(()))
    }

    /// Checks a vote and stores the result.
    async fn check(
        &self,
        vote: &UncheckedVote,
        judge: &ModelClient,
        limits: &RunLimits,
    ) -> Result<RoundCounts, StoreError> {
        let store = &self.dependencies.store;
        let record = store.battle_record(&vote.battle).await?;
        let turns = record.as_ref().map(TurnTexts::of_battle).unwrap_or_default();
        let checked = match self.read(judge, &turns, limits).await {
            Ok(checked) => checked,
            Err(AskError::Ended { reason: RunEnd::Stopped | RunEnd::OverBudget, .. }) => {
                return Ok(RoundCounts { left: 1, ..Default::default() });
            }
            Err(error) => {
                // Counted before logging, so that the metric includes the logged failure.
                metrics::leak_checked("failed");
                if !matches!(error, AskError::Ended { .. }) {
                    tracing::warn!(judge = %judge.id, %error, "a vote could not be checked for leaks: it stays rated and is checked again later");
                }
                return Ok(RoundCounts { failed: 1, ..Default::default() });
            }
        };
        metrics::leak_checked(checked.result());
        let exclusion = self.exclusion(judge, &checked.leaks);
        let is_excluded = store.insert_leak_check(&self.row(vote, judge, &checked), exclusion.as_ref()).await?;
        Ok(RoundCounts {
            checked: 1,
            calls: checked.attempts.into(),
            excluded: is_excluded.into(),
            ..Default::default()
        })
    }

    /// Checks a battle, if its texts are within the limits.
    async fn read(
        &self,
        judge: &ModelClient,
        turns: &[TurnTexts<'_>],
        limits: &RunLimits,
    ) -> Result<CheckOutcome, AskError> {
        if turns.iter().all(TurnTexts::is_blank) {
            return Ok(CheckOutcome::without_reply(LeakCheckStatus::WithoutText));
        }
        let request = self.prompt.request(turns);
        if estimate_all(&request.messages) > MAX_TEXT_TOKENS {
            return Ok(CheckOutcome::without_reply(LeakCheckStatus::TooLong));
        }
        ask(judge, &request, turns, limits).await
    }

    fn exclusion(&self, judge: &ModelClient, leaks: &[Leak]) -> Option<NewExclusions> {
        (!leaks.is_empty()).then(|| NewExclusions {
            id: self.dependencies.rng.id(self.dependencies.clock.as_ref()),
            rule: ExclusionRule::IdentityLeak.to_string(),
            reason: exclusion_reason(&leaks[..leaks.len().min(MAX_LEAKS_PER_REASON)], &judge.id),
            decided_by: PROGRAM_NAME.to_owned(),
            decided_at: self.dependencies.clock.now(),
        })
    }

    fn row(&self, vote: &UncheckedVote, judge: &ModelClient, checked: &CheckOutcome) -> LeakCheckRow {
        let names: Vec<String> = checked.leaks.iter().map(|leak| TextName(*leak).to_string()).collect();
        LeakCheckRow {
            vote_seq: vote.seq,
            judge: judge.id.to_string(),
            prompt_sha256: self.prompt.sha256().to_owned(),
            status: checked.status,
            leaks: names.join(", "),
            attempts: checked.attempts,
            tokens: checked.tokens,
            created_at: self.dependencies.clock.now(),
        }
    }
}

/// Queries the model about a battle, and once more after an unparsable reply.
async fn ask(
    judge: &ModelClient,
    request: &JudgeRequest,
    turns: &[TurnTexts<'_>],
    limits: &RunLimits,
) -> Result<CheckOutcome, AskError> {
    let mut checked = CheckOutcome::without_reply(LeakCheckStatus::Unreadable);
    let mut messages = request.messages.clone();
    for _ in 0..MAX_REQUESTS {
        match judge.ask(&messages, request.sampling.into(), limits).await {
            Ok(reply) => {
                checked.add(&reply, &messages);
                if let Ok(leaks) = read_reply(&reply.text, turns) {
                    return Ok(CheckOutcome { status: LeakCheckStatus::Ok, leaks, ..checked });
                }
            }
            Err(AskError::Refused { attempts, .. }) => {
                let attempts = checked.attempts + attempts;
                return Ok(CheckOutcome { status: LeakCheckStatus::Refused, attempts, ..checked });
            }
            Err(error) => return Err(error),
        }
        messages = with_reminder(&request.messages, REMINDER);
    }
    Ok(checked)
}

impl CheckOutcome {
    fn without_reply(status: LeakCheckStatus) -> Self {
        Self { status, leaks: Vec::new(), attempts: 0, tokens: JudgeTokens::default() }
    }

    fn add(&mut self, reply: &WholeReply, messages: &[Message]) {
        self.attempts += reply.attempts;
        self.tokens.prompt += reply.usage.input.unwrap_or_else(|| estimate_all(messages));
        let estimated = || estimate(&reply.text) + estimate(&reply.reasoning);
        self.tokens.reply += reply.usage.output.unwrap_or_else(estimated);
    }

    /// Returns the label value in metrics.
    fn result(&self) -> &'static str {
        match self.status {
            LeakCheckStatus::Ok if self.leaks.is_empty() => "none",
            LeakCheckStatus::Ok => "found",
            other => other.as_str(),
        }
    }
}

impl RoundCounts {
    fn plus(self, other: Self) -> Self {
        Self {
            checked: self.checked + other.checked,
            calls: self.calls + other.calls,
            excluded: self.excluded + other.excluded,
            failed: self.failed + other.failed,
            left: self.left + other.left,
        }
    }
}

impl BackgroundJudging for LeakCheck {
    async fn round(&mut self, settings: &Settings, stop: CancellationToken) -> Result<RoundOutcome, StoreError> {
        let Some(judge) = self.apply_settings(settings) else { return Ok(RoundOutcome::Done) };
        let (now, store) = (self.dependencies.clock.now(), &self.dependencies.store);
        let today = day_of(now);
        if self.exhausted_day == Some(today) {
            return Ok(RoundOutcome::Done);
        }
        let newest = store.last_vote_seq().await?;
        let votes = store.votes_without_leak_check(self.checked_up_to, earliest_vote_time(now), BATCH_SIZE).await?;
        let Some(last) = votes.last() else {
            // Later rounds start after this vote.
            self.checked_up_to = newest;
            return Ok(RoundOutcome::Done);
        };
        let Some(budget) = self.left(today).await? else {
            self.mark_day_exhausted(today);
            return Ok(RoundOutcome::Done);
        };
        let limits = RunLimits::new(stop, budget);
        let (counts, ended) = self.check_all(&votes, &judge, &limits).await;
        // Includes requests whose checks could not be stored.
        let failed = limits.budget.spent().calls.saturating_sub(counts.calls);
        self.failed_calls = (today, self.failed_on(today).saturating_add(failed));
        ended?;
        if counts.checked > 0 {
            let RoundCounts { checked, excluded, .. } = counts;
            tracing::info!(judge = %judge.id, checked, excluded, "votes were checked for leaks");
        }
        if limits.budget.is_exhausted() {
            self.mark_day_exhausted(today);
        }
        if counts.failed > 0 {
            return Ok(RoundOutcome::Failing);
        }
        if counts.left > 0 {
            return Ok(RoundOutcome::Done);
        }
        self.checked_up_to = last.seq;
        Ok(if votes.len() == BATCH_SIZE as usize { RoundOutcome::More } else { RoundOutcome::Done })
    }

    fn is_changed(before: &Settings, after: &Settings) -> bool {
        before.integrity != after.integrity
    }
}
