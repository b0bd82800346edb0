//! Pending work: the sampled battles, or units of a campaign, without those that are judged already or cannot be judged.

use std::collections::HashSet;

use futures_util::future::try_join_all;
use serde::Serialize;

use super::{BattleJudging, MOST_TOKENS, RetryFailed, Scope, conversation};
use crate::domain::battle::BattleId;
use crate::domain::battle_judging::prompt::{MAX_TOKENS, language_of};
use crate::domain::battle_judging::sample::Sample;
use crate::domain::battle_judging::subject::JudgedSubject;
use crate::domain::benchmark::judgement::{Game, JudgeStep};
use crate::domain::benchmark::run_report::{PlannedRequests, RequestPlan};
use crate::domain::judging::budget::estimate_all;
use crate::domain::language::Language;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::query_judge::effort;
use crate::infra::storage::{PackedOutcome, SettledGame, Store, StoreError, VoteColumn, VoteRange};

/// Numbers of the log that are read at a time.
const PAGE: usize = 10_000;
/// Battles that are looked into at the same time.
const AT_ONCE: usize = 8;

/// Battles of the sample that cannot be judged, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Imported votes without the conversation.
    pub without_text: u64,
    /// The question had images, which the judge would not see.
    pub with_images: u64,
    /// They have more than [`MOST_TOKENS`] tokens.
    pub too_long: u64,
}

/// A battle or unit of the sample.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    subject: JudgedSubject,
    language: Language,
    place: f64,
}

/// A battle or unit that at least one judge has not judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenPair {
    /// What is judged.
    pub(super) subject: JudgedSubject,
    /// In which it is judged.
    pub(super) language: Language,
    /// The games left for each judge, in the order of the judges.
    pub(super) games: Vec<Vec<Game>>,
    /// Tokens of one judge query; `None` if a side is empty, which needs no judge.
    tokens: Option<u64>,
}

/// The pending work of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingWork {
    /// Battles of the sample that can be judged.
    pub battles: u64,
    /// Those that cannot.
    pub skipped: Skipped,
    /// The last vote that was looked at.
    pub last_seq: i64,
    /// Whether there is more than the scope took.
    pub more: bool,
    /// In the order of the sample.
    pub(super) open: Vec<OpenPair>,
    /// Games that were settled before, for each judge.
    pub(super) settled: Vec<u64>,
}

/// Whether a battle can be judged.
enum BattleCheck {
    Open(OpenPair),
    WithoutText,
    WithImages,
    TooLong,
}

/// Finds the battles that these judges have not judged.
///
/// # Errors
/// [`StoreError`].
pub async fn pending_work(
    battle_judging: BattleJudging<'_>,
    scope: Scope,
    judges: &[ModelClient],
) -> Result<PendingWork, StoreError> {
    let (drawn, last_seq) = draw(battle_judging.store, scope).await?;
    let BattleJudging { store, prompt, .. } = battle_judging;
    let settled = if scope.retry_failed == RetryFailed::Yes {
        store.read_games(prompt.sha256(), scope.since).await?
    } else {
        store.settled_games(prompt.sha256(), scope.since).await?
    };
    let found = find(battle_judging, (drawn, scope.at_most), settled, judges).await?;
    Ok(PendingWork { last_seq, ..found })
}

/// Finds the pairs of a campaign's answers that people have judged and these judges have not, of the sample.
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
        Some(Drawn { subject, language: language_of(&unit.language), place })
    });
    let mut drawn: Vec<Drawn> = judged.collect();
    drawn.sort_by(|one, other| one.place.total_cmp(&other.place));
    let settled = if retry_failed == RetryFailed::Yes {
        store.read_unit_games(campaign, prompt.sha256()).await?
    } else {
        store.settled_unit_games(campaign, prompt.sha256()).await?
    };
    find(battle_judging, (drawn, usize::MAX), settled, judges).await
}

/// What is left of what was drawn, of which so many are looked into at most.
async fn find(
    battle_judging: BattleJudging<'_>,
    (drawn, at_most): (Vec<Drawn>, usize),
    settled: Vec<SettledGame>,
    judges: &[ModelClient],
) -> Result<PendingWork, StoreError> {
    let settled: HashSet<SettledGame> = settled.into_iter().collect();
    let mut found = PendingWork {
        battles: 0,
        skipped: Skipped::default(),
        last_seq: 0,
        more: false,
        open: Vec::new(),
        settled: vec![0; judges.len()],
    };
    let mut left = Vec::new();
    for battle in drawn {
        let games: Vec<Vec<Game>> = judges.iter().map(|judge| games_left(&settled, &battle, judge)).collect();
        for (count, games) in found.settled.iter_mut().zip(&games) {
            *count += (Game::BOTH.len() - games.len()) as u64;
        }
        if games.iter().all(Vec::is_empty) {
            found.battles += 1;
        } else {
            left.push((battle, games));
        }
    }
    found.more = left.len() > at_most;
    left.truncate(at_most);
    found.look_into(battle_judging, left).await?;
    Ok(found)
}

fn games_left(settled: &HashSet<SettledGame>, drawn: &Drawn, judge: &ModelClient) -> Vec<Game> {
    let key = |game| SettledGame { subject: drawn.subject.clone(), judge: judge.id.to_string(), game };
    Game::BOTH.into_iter().filter(|game| !settled.contains(&key(*game))).collect()
}

/// The battles of the sample in its order, and the last vote that was looked at.
async fn draw(store: &Store, scope: Scope) -> Result<(Vec<Drawn>, i64), StoreError> {
    let last = store.last_vote_seq().await?;
    let mut drawn = Vec::new();
    for after in (scope.after..last).step_by(PAGE) {
        let upto = after.saturating_add(PAGE as i64).min(last);
        let range = VoteRange { after, upto, since: scope.since, until: scope.until };
        let page = store.vote_page(range, &[VoteColumn::Battle, VoteColumn::Language]).await?;
        let mut columns = page.columns().map(|(_, values)| values);
        let (Some(battles), Some(languages)) = (columns.next(), columns.next()) else { continue };
        for ((vote, battle), language) in page.rows().zip(battles).zip(languages) {
            if let (PackedOutcome::Rated(_), Some(place)) = (vote?.outcome, scope.sample.draw(battle)) {
                let subject = JudgedSubject::Battle(BattleId::new(battle));
                drawn.push(Drawn { subject, language: language_of(language), place });
            }
        }
    }
    drawn.sort_by(|one, other| one.place.total_cmp(&other.place));
    Ok((drawn, last))
}

impl PendingWork {
    /// The requests for each judge, expected as its verdicts by the same instructions went so far.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn plans(
        &self,
        battle_judging: BattleJudging<'_>,
        judges: &[ModelClient],
    ) -> Result<Vec<RequestPlan>, StoreError> {
        let mut plans = Vec::with_capacity(judges.len());
        for (at, judge) in judges.iter().enumerate() {
            let effort = effort(judge);
            let mut planned = PlannedRequests::after(self.settled[at]);
            for (battle, tokens) in self.open.iter().filter_map(|battle| Some((battle, battle.tokens?))) {
                battle.games[at].iter().for_each(|_| planned.add(tokens, judge.max_tokens(Some(MAX_TOKENS)), effort));
            }
            let past = battle_judging.store.past_verdicts(&judge.id, battle_judging.prompt.sha256()).await?;
            plans.push(planned.plan(judge.id.clone(), past, effort, judge.prices));
        }
        Ok(plans)
    }

    /// Sorts battles into those that can be judged and those that cannot.
    async fn look_into(
        &mut self,
        battle_judging: BattleJudging<'_>,
        left: Vec<(Drawn, Vec<Vec<Game>>)>,
    ) -> Result<(), StoreError> {
        for some in left.chunks(AT_ONCE) {
            for look in try_join_all(some.iter().map(|(drawn, games)| look(battle_judging, drawn, games))).await? {
                match look {
                    BattleCheck::Open(battle) => {
                        self.battles += 1;
                        self.open.push(battle);
                    }
                    BattleCheck::WithoutText => self.skipped.without_text += 1,
                    BattleCheck::WithImages => self.skipped.with_images += 1,
                    BattleCheck::TooLong => self.skipped.too_long += 1,
                }
            }
        }
        Ok(())
    }
}

async fn look(
    battle_judging: BattleJudging<'_>,
    drawn: &Drawn,
    games: &[Vec<Game>],
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
    if tokens.is_some_and(|tokens| tokens > MOST_TOKENS) {
        return Ok(BattleCheck::TooLong);
    }
    let (subject, games) = (drawn.subject.clone(), games.to_vec());
    Ok(BattleCheck::Open(OpenPair { subject, language: drawn.language, games, tokens }))
}
