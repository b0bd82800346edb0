//! The battles of this process: start, next turn, stop, regenerate, resume.
//!
//! What may happen when is decided by [`crate::domain::battle::progress`]; here the decision meets the database, the models and
//! the visitor's sockets. A battle lives in memory while somebody watches it or it is being answered, and is read back
//! from the database otherwise.

mod resuming;

use super::battle_dependencies::BattleDependencies;
use super::prompt_images::ImageError;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::remote_battles::{self, LocalBattles, RemoteBattles};
use super::turn::{self, TurnEnd};
use crate::domain::battle::active_battle::{ActiveBattle, TurnStart};
use crate::domain::battle::event_log::BattleEvent;
use crate::domain::battle::mode::ModelChoice;
use crate::domain::battle::pairing::starting_pair::{ChoiceError, PromptKind, StartingPair};
use crate::domain::battle::progress::{Action, Progress, Refusal, Stage};
use crate::domain::battle::prompt_check::PromptError;
use crate::domain::battle::prompt_language;
use crate::domain::battle::{BattleId, ImageId, ModelId, RunId, VisitorId};
use crate::infra::limits::TurnPermit;
use crate::infra::live_battles::{LiveBattle, RunningBattles, Watcher};
use crate::infra::metrics;
use crate::infra::storage::{BattleRecord, BattleRow, EditedTurn, StoreError};
use crate::infra::tasks::{Panicked, contain};

/// All battles of this process.
pub struct Battles {
    dependencies: Arc<BattleDependencies>,
    live: Arc<RunningBattles>,
    remote_battles: RemoteBattles,
}

/// Why a battle does not go on; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BattleError {
    /// The prompt may not be asked.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// A label that is not a short word.
    #[error("{0} must be at most 64 letters, digits, _ or -")]
    BadLabel(&'static str),
    /// No such battle, or it is another visitor's.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// Not now.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The limit of battles is reached.
    #[error("the arena is full at the moment: try again in a minute")]
    Busy,
    /// The connection shows another battle before this one's replies had ended.
    #[error("this connection has moved on to another battle: resume this one to see the rest of it")]
    Superseded,
    /// The process is about to end.
    #[error("the arena restarts: come back in a moment")]
    Draining,
    /// The images may not be asked about.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// No models for a battle, or not those that the visitor asks for.
    #[error(transparent)]
    NoPair(#[from] ChoiceError),
    /// A model of the battle has left the arena, or is not known to this instance.
    #[error("one of the two models cannot be asked any more: vote on what was answered, or start a new battle")]
    ModelGone,
    /// The database failed.
    #[error("this could not be stored: try again in a minute")]
    Store(#[from] StoreError),
}

/// The first message of a battle.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The prompt.
    pub prompt: String,
    /// The images beside it.
    pub images: Vec<ImageId>,
    /// URS intent, if the client names one.
    pub intent: Option<String>,
    /// Category, if the client names one.
    pub category: Option<String>,
    /// The models that the visitor asks for.
    pub choice: ModelChoice,
}

impl Battles {
    /// Answers messages of other instances until shutdown: it sends them the events of battles that they follow.
    pub async fn handle_messages(self: Arc<Self>) {
        remote_battles::handle_messages(self).await;
    }

    /// No battles yet.
    #[must_use]
    pub fn new(dependencies: BattleDependencies) -> Self {
        Self { dependencies: Arc::new(dependencies), live: Arc::default(), remote_battles: RemoteBattles::default() }
    }

    /// Begins a battle and watches it from its first event. `permit` is held while the turn is
    /// being answered, here as for the other turns.
    ///
    /// # Errors
    /// [`BattleError`]; nothing is kept then.
    pub async fn start(
        &self,
        visitor: &VisitorId,
        opening: Opening,
        permit: TurnPermit,
    ) -> Result<Watcher, BattleError> {
        self.dependencies.prompts.check(&opening.prompt)?;
        check_label("intent", opening.intent.as_deref())?;
        check_label("category", opening.category.as_deref())?;
        self.dependencies.models.searched().await;
        let flagged = self.dependencies.prompts.moderate(&opening.prompt).await?;
        // Asked after what may take seconds.
        self.refuse_while_draining()?;
        if !self.has_room() {
            return Err(BattleError::Busy);
        }
        self.dependencies.images.check(visitor, &opening.images).await?;
        let pair = self.dependencies.matchmaker.pair(&opening.choice, PromptKind::of(&opening.images))?;
        let run = self.dependencies.instances.new_run();
        let row = self.new_row(visitor, &opening, pair, &run);
        let now = self.dependencies.clock.now();
        self.dependencies.store.insert_battle_with_images(&row, &opening.prompt, &opening.images, now).await?;
        self.dependencies.prompts.flag_prompt(&row.id, 1, flagged).await;
        let battle = Arc::new(LiveBattle::new(ActiveBattle::begin(row, &opening.prompt, opening.images)));
        metrics::battle_started();
        self.live.add(&battle);
        let watcher = battle.watch(0);
        self.answer(&battle, run, Some(permit));
        Ok(watcher)
    }

    fn new_row(&self, visitor: &VisitorId, opening: &Opening, pair: StartingPair, run: &RunId) -> BattleRow {
        BattleRow {
            id: BattleId::new(self.dependencies.rng.id(self.dependencies.clock.as_ref())),
            visitor: visitor.clone(),
            mode: opening.choice.mode(),
            progress: Progress { stage: Stage::Answering, turn: 1 },
            models: pair.models,
            pairing_policy: pair.policy.to_owned(),
            policy_version: pair.policy_version,
            pair_probability: pair.probability,
            language: prompt_language::detect(&opening.prompt).to_owned(),
            category: opening.category.clone(),
            intent: opening.intent.clone(),
            answered_by: Some(run.clone()),
        }
    }

    /// Asks the next question of a battle, and watches it from that turn on.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn message(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
        prompt: &str,
        permit: TurnPermit,
    ) -> Result<Watcher, BattleError> {
        self.refuse_while_draining()?;
        self.dependencies.prompts.check(prompt)?;
        let battle = self.find(visitor, id).await?;
        self.ask(&battle, Action::Message, Some(prompt), permit).await
    }

    /// Has both sides answer the latest turn again, in other words where there is a prompt, and watches the battle from there on.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn regenerate(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
        prompt: Option<&str>,
        permit: TurnPermit,
    ) -> Result<Watcher, BattleError> {
        self.refuse_while_draining()?;
        prompt.map_or(Ok(()), |prompt| self.dependencies.prompts.check(prompt))?;
        let battle = self.find(visitor, id).await?;
        self.ask(&battle, Action::Regenerate, prompt, permit).await
    }

    /// Ends both replies as they stand.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn stop(self: &Arc<Self>, visitor: &VisitorId, id: &BattleId) -> Result<(), BattleError> {
        let battle = self.find(visitor, id).await?;
        battle.progress().allows_stop(battle.is_under_way())?;
        if battle.is_followed() {
            remote_battles::stop(&self.dependencies, &battle);
        } else {
            battle.stop();
        }
        Ok(())
    }

    /// Whether a question may be asked of which nothing is kept.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn admit_prompt(&self, prompt: &str) -> Result<(), BattleError> {
        self.refuse_while_draining()?;
        self.dependencies.prompts.check(prompt)?;
        self.dependencies.prompts.moderate(prompt).await?;
        Ok(())
    }

    /// Removes from memory the battles that nobody watches and that are not being answered.
    pub fn sweep(&self) {
        self.live.sweep();
    }

    /// Whether memory has room for one more battle, after idle ones are removed.
    fn has_room(&self) -> bool {
        let most = self.dependencies.settings.now().battle.max_live_battles;
        if self.live.len() >= most {
            self.live.sweep();
        }
        self.live.len() < most
    }

    /// Battles in memory.
    #[must_use]
    pub fn in_memory(&self) -> usize {
        self.live.len()
    }

    /// Whether the battle is in memory rather than in the database alone.
    #[must_use]
    pub fn is_in_memory(&self, id: &BattleId) -> bool {
        self.live.get(id).is_some()
    }

    /// Battles of this process that are being answered.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.live.answering()
    }

    /// A battle that waits for its vote, with its prompts and replies; `None` where the database has to be asked, since another
    /// instance may have taken the battle on.
    pub(super) fn awaiting_vote(&self, visitor: &VisitorId, id: &BattleId) -> Option<BattleRecord> {
        let battle =
            self.live.get(id).filter(|battle| battle.visitor == *visitor && self.dependencies.instances.is_alone())?;
        battle.state().active.awaiting_vote()
    }

    /// The vote on a battle was committed: it takes no more questions.
    pub fn close(&self, id: &BattleId) {
        if let Some(battle) = self.live.remove(id) {
            battle.state().active.row.progress.stage = Stage::Voted;
        }
    }

    /// Begins a turn once the moderation service has looked at its question.
    async fn ask(
        &self,
        battle: &Arc<LiveBattle>,
        action: Action,
        prompt: Option<&str>,
        permit: TurnPermit,
    ) -> Result<Watcher, BattleError> {
        battle.progress().allows(action, self.dependencies.settings.now().battle.max_turns)?;
        let flagged = match prompt {
            Some(prompt) => self.dependencies.prompts.moderate(prompt).await?,
            None => Vec::new(),
        };
        self.dependencies.models.searched().await;
        self.refuse_while_draining()?;
        let watcher = self.begin_turn(battle, action, prompt, permit).await?;
        self.dependencies.prompts.flag_prompt(&battle.id, battle.progress().turn, flagged).await;
        Ok(watcher)
    }

    async fn begin_turn(
        &self,
        battle: &Arc<LiveBattle>,
        action: Action,
        prompt: Option<&str>,
        permit: TurnPermit,
    ) -> Result<Watcher, BattleError> {
        let former = self.reserve_turn(battle, action)?;
        let turn = former.progress.turn + u32::from(action == Action::Message);
        let edited = prompt.filter(|_| action == Action::Regenerate);
        let language = edited.filter(|_| turn == 1).map(prompt_language::detect);
        let (run, from) = (self.dependencies.instances.new_run(), former.answered_by.as_ref());
        let (store, now) = (&self.dependencies.store, self.dependencies.clock.now());
        let begun = match edited {
            Some(prompt) => store.edit_turn(&battle.id, EditedTurn { turn, prompt, language }, from, &run, now).await,
            None => store.begin_turn(&battle.id, turn, prompt, from, &run, now).await,
        };
        if !matches!(begun, Ok(true)) {
            let stored = self.stored_instead(battle, former).await?;
            begun?;
            stored.progress.allows(action, self.dependencies.settings.now().battle.max_turns)?;
            return Err(Refusal::StillAnswering.into());
        }
        let begun = match prompt.filter(|_| action == Action::Message) {
            Some(prompt) => TurnStart::Message(prompt),
            None => TurnStart::Regenerate(edited),
        };
        battle.state().active.begin_turn(turn, begun, &run, language);
        let watcher = battle.watch(battle.last_seq());
        self.answer(battle, run, Some(permit));
        Ok(watcher)
    }

    /// Marks a battle as being answered before the database is asked, so that a second message in the same moment is refused. Returns how
    /// it stood.
    fn reserve_turn(&self, battle: &Arc<LiveBattle>, action: Action) -> Result<BattleRow, BattleError> {
        let former = {
            let mut state = battle.state();
            let row = state.active.row.clone();
            row.progress.allows(action, self.dependencies.settings.now().battle.max_turns)?;
            self.check_models(&row.models)?;
            state.active.row.progress.stage = Stage::Answering;
            row
        };
        // A sweep may have taken the battle out of memory since it was found, and somebody may have read it back.
        if !Arc::ptr_eq(&self.live.add(battle), battle) {
            return Err(Refusal::StillAnswering.into());
        }
        Ok(former)
    }

    /// How the battle stands in the database, which did not begin a turn. Where another run has it, those who watch come
    /// back for it; otherwise this one stands as it does there.
    async fn stored_instead(&self, battle: &Arc<LiveBattle>, former: BattleRow) -> Result<BattleRow, BattleError> {
        let (run, turn, progress) = (former.answered_by, former.progress.turn, former.progress);
        let stored = self.dependencies.store.battle(&battle.id).await;
        match &stored {
            Ok(Some(stored)) if stored.answered_by != run || stored.progress.turn != turn => self.let_go(battle),
            Ok(Some(stored)) => battle.state().active.row = stored.clone(),
            Ok(None) | Err(_) => battle.state().active.row.progress = progress,
        }
        stored?.ok_or(BattleError::UnknownBattle)
    }

    /// Announces the latest turn and has it answered by a task of its own, which holds the permit to its end. A turn that
    /// is taken over needs none: another instance has counted it.
    fn answer(&self, battle: &Arc<LiveBattle>, run: RunId, permit: Option<TurnPermit>) {
        let (stopper, stop) = oneshot::channel();
        let prompt = {
            let mut state = battle.state();
            state.stopper = Some(stopper);
            state.active.exchanges.last().map(|exchange| Arc::clone(&exchange.prompt))
        };
        battle.publish(prompt.map(|prompt| BattleEvent::Turn { prompt, answer: Some(run.public()) }));
        let (dependencies, live, battle) = (Arc::clone(&self.dependencies), Arc::clone(&self.live), Arc::clone(battle));
        self.dependencies.tasks.spawn_turn(async move {
            let _permit = permit;
            let ran =
                contain("turn", turn::run(Arc::clone(&dependencies), Arc::clone(&battle), run.clone(), stop)).await;
            let end = match ran {
                Ok(end) => end,
                Err(Panicked) => turn::void(&dependencies, &battle, &run).await,
            };
            if end == TurnEnd::Superseded {
                live.forget(&battle);
                battle.move_away();
            }
        });
    }

    fn refuse_while_draining(&self) -> Result<(), BattleError> {
        if self.dependencies.tasks.is_draining() { Err(BattleError::Draining) } else { Ok(()) }
    }

    /// Before a turn begins: a model that this instance cannot ask would void the battle, and the vote on what was
    /// answered so far with it.
    fn check_models(&self, models: &[ModelId; 2]) -> Result<(), BattleError> {
        let known = models.iter().all(|model| self.dependencies.models.of_battle(model).is_some());
        if known { Ok(()) } else { Err(BattleError::ModelGone) }
    }
}

fn check_label(name: &'static str, label: Option<&str>) -> Result<(), BattleError> {
    let fits = |text: &str| {
        (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    if label.is_none_or(fits) { Ok(()) } else { Err(BattleError::BadLabel(name)) }
}
