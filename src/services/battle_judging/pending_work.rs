//! Pending work: the sampled battles, or units of a campaign, except those that are judged already or cannot be judged.

use futures_util::future::try_join_all;

use super::{BattleJudging, conversation};
use crate::domain::battle::{BattleId, ModelId};
use crate::domain::battle_judging::pending::{
    BattleCheck, MAX_BATTLE_TOKENS, OpenPair, PendingWork, SampledSubject, SettledGame, UnjudgedSubject,
};
use crate::domain::battle_judging::prompt::{MAX_REPLY_TOKENS, language_of};
use crate::domain::battle_judging::sample::Sample;
use crate::domain::battle_judging::scope::{RetryFailed, Scope};
use crate::domain::battle_judging::subject::JudgedSubject;
use crate::domain::benchmark::runs::run_report::{PlannedRequests, RequestPlan};
use crate::domain::benchmark::scores::judgement::{Game, JudgeStep};
use crate::domain::judging::budget::estimate_all;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::query_judge::effort;
use crate::infra::storage::{PackedOutcome, Store, StoreError, VoteColumn, VoteRange};

/// Page size of log reads, in sequence numbers.
const PAGE_SIZE: usize = 10_000;
/// Maximum number of battles checked concurrently.
const MAX_CONCURRENT_CHECKS: usize = 8;

/// Finds the battles that these judges have not judged.
///
/// # Errors
/// [`StoreError`].
pub async fn pending_work(
    battle_judging: BattleJudging<'_>,
    scope: Scope,
    judges: &[ModelClient],
) -> Result<PendingWork, StoreError> {
    let Draw { drawn, last_seq, own_battles } = draw(battle_judging.store, scope, judges).await?;
    let BattleJudging { store, prompt, .. } = battle_judging;
    let settled = if scope.retry_failed == RetryFailed::Yes {
        store.read_games(prompt.sha256(), scope.since).await?
    } else {
        store.settled_games(prompt.sha256(), scope.since).await?
    };
    let found = find(battle_judging, drawn, scope.at_most, settled, judges).await?;
    Ok(PendingWork { last_seq, own_battles, ..found })
}

/// Finds the sampled pairs of a campaign's answers that people have judged and these judges have not.
///
/// # Errors
/// [`StoreError`].
pub async fn pending_units(
    battle_judging: BattleJudging<'_>,
    campaign: &str,
    sample: Sample,
    retry_failed: RetryFailed,
    judges: &[ModelClient],
) -> Result<PendingWork, StoreError> {
    let BattleJudging { store, prompt, .. } = battle_judging;
    let judged = store.units_judged_by_people(campaign).await?.into_iter().filter_map(|unit| {
        let place = sample.draw(&format!("{campaign} {}", unit.unit))?;
        let subject = JudgedSubject::Unit { campaign: campaign.to_owned(), unit: unit.unit };
        Some(SampledSubject { subject, language: language_of(&unit.language), place })
    });
    let drawn = judged.collect();
    let settled = if retry_failed == RetryFailed::Yes {
        store.read_unit_games(campaign, prompt.sha256()).await?
    } else {
        store.settled_unit_games(campaign, prompt.sha256()).await?
    };
    find(battle_judging, drawn, usize::MAX, settled, judges).await
}

/// Filters the sampled subjects to those that can be judged, checking at most the given number.
async fn find(
    battle_judging: BattleJudging<'_>,
    drawn: Vec<SampledSubject>,
    at_most: usize,
    settled: Vec<SettledGame>,
    judges: &[ModelClient],
) -> Result<PendingWork, StoreError> {
    let judges: Vec<&ModelId> = judges.iter().map(|judge| &judge.id).collect();
    let (mut found, left) = PendingWork::new(drawn, at_most, settled, &judges);
    for some in left.chunks(MAX_CONCURRENT_CHECKS) {
        let checks = try_join_all(some.iter().map(|unjudged| check(battle_judging, unjudged))).await?;
        checks.into_iter().for_each(|check| found.add(check));
    }
    Ok(found)
}

/// Sample of battles.
struct Draw {
    drawn: Vec<SampledSubject>,
    /// Sequence number of the last vote that was read.
    last_seq: i64,
    /// Number of these battles in which a judge took part itself.
    own_battles: u64,
}

/// Samples battles.
async fn draw(store: &Store, scope: Scope, judges: &[ModelClient]) -> Result<Draw, StoreError> {
    let last = store.last_vote_seq().await?;
    let (mut drawn, mut own_battles) = (Vec::new(), 0);
    for after in (scope.after..last).step_by(PAGE_SIZE) {
        let upto = after.saturating_add(PAGE_SIZE as i64).min(last);
        let range = VoteRange { after, upto, since: scope.since, until: scope.until };
        let page = store.vote_page(range, &[VoteColumn::Battle, VoteColumn::Language]).await?;
        let mut columns = page.columns().map(|(_, values)| values);
        let (Some(battles), Some(languages)) = (columns.next(), columns.next()) else { continue };
        for ((vote, battle), language) in page.rows().zip(battles).zip(languages) {
            let vote = vote?;
            if let (PackedOutcome::Rated(_), Some(place)) = (vote.outcome, scope.sample.draw(battle)) {
                own_battles += u64::from(judges.iter().any(|judge| vote.models.contains(&judge.id.as_str())));
                let subject = JudgedSubject::Battle(BattleId::new(battle));
                drawn.push(SampledSubject { subject, language: language_of(language), place });
            }
        }
    }
    Ok(Draw { drawn, last_seq: last, own_battles })
}

/// Estimates the requests for each judge from its verdicts so far by the same instructions.
///
/// # Errors
/// [`StoreError`].
pub async fn request_plans(
    found: &PendingWork,
    battle_judging: BattleJudging<'_>,
    judges: &[ModelClient],
) -> Result<Vec<RequestPlan>, StoreError> {
    let mut plans = Vec::with_capacity(judges.len());
    for (at, judge) in judges.iter().enumerate() {
        let effort = effort(judge);
        let mut planned = PlannedRequests::after(found.settled[at]);
        for (battle, tokens) in found.open.iter().filter_map(|battle| Some((battle, battle.tokens?))) {
            battle.games[at].iter().for_each(|_| planned.add(tokens, judge.max_tokens(Some(MAX_REPLY_TOKENS)), effort));
        }
        let past = battle_judging.store.past_verdicts(&judge.id, battle_judging.prompt.sha256()).await?;
        plans.push(planned.plan(judge.id.clone(), past, effort, judge.prices));
    }
    Ok(plans)
}

/// Whether a battle or unit can be judged.
async fn check(
    battle_judging: BattleJudging<'_>,
    UnjudgedSubject { drawn, games }: &UnjudgedSubject,
) -> Result<BattleCheck, StoreError> {
    let turns = conversation(battle_judging.store, &drawn.subject).await?;
    if turns.is_empty() {
        return Ok(BattleCheck::WithoutText);
    }
    if let JudgedSubject::Battle(battle) = &drawn.subject
        && !battle_judging.store.images_of(battle).await?.is_empty()
    {
        return Ok(BattleCheck::WithImages);
    }
    let tokens = match battle_judging.prompt.step(drawn.language, &turns, Game::First) {
        JudgeStep::Ask(request) => Some(estimate_all(&request.messages)),
        JudgeStep::Read(_) | JudgeStep::Failed(_) => None,
    };
    if tokens.is_some_and(|tokens| tokens > MAX_BATTLE_TOKENS) {
        return Ok(BattleCheck::TooLong);
    }
    let (subject, games) = (drawn.subject.clone(), games.clone());
    Ok(BattleCheck::Open(OpenPair { subject, language: drawn.language, games, tokens }))
}
