//! The battles of this process: start, next turn, stop, regenerate, resume.
//!
//! [`crate::domain::battle::progress`] decides which actions are allowed; this module applies the decision to the database, the models and
//! the visitor's sockets. A battle is in memory while it is watched or being answered, and is read back from the database otherwise.

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

/// Battles of this process.
pub struct Battles {
    dependencies: Arc<BattleDependencies>,
    live: Arc<RunningBattles>,
    remote_battles: RemoteBattles,
}

/// Error of a battle action; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BattleError {
    /// The prompt is invalid or refused.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The label is not a short word.
    #[error("{0} must be at most 64 letters, digits, _ or -")]
    BadLabel(&'static str),
    /// No such battle, or it is another visitor's.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// The action is not allowed at this stage.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The limit of battles is reached.
    #[error("the arena is full at the moment: try again in a minute")]
    Busy,
    /// The connection shows another battle before this one's replies had ended.
    #[error("this connection has moved on to another battle: resume this one to see the rest of it")]
    Superseded,
    /// The process is shutting down.
    #[error("the arena restarts: come back in a moment")]
    Draining,
    /// The images cannot be used.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// No pair of models is available, or not the chosen one.
    #[error(transparent)]
    NoPair(#[from] ChoiceError),
    /// A model of the battle has left the arena, or is unknown to this instance.
    #[error("one of the two models cannot be asked any more: vote on what was answered, or start a new battle")]
    ModelGone,
    /// The replies have ended, and the database does not take them.
    #[error(
        "the replies cannot be saved at the moment: you can vote as soon as they are, so keep this connection open"
    )]
    RepliesUnsaved,
    /// The database failed.
    #[error("this could not be stored: try again in a minute")]
    Store(#[from] StoreError),
}

/// The first message of a battle.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// Text of the prompt.
    pub prompt: String,
    /// Attached images.
    pub images: Vec<ImageId>,
    /// URS intent, if the client names one.
    pub intent: Option<String>,
    /// Category, if the client names one.
    pub category: Option<String>,
    /// The visitor's choice of models.
    pub choice: ModelChoice,
}

impl Battles {
    /// Handles messages of other instances until shutdown: sends them the events of battles that they follow.
    pub async fn handle_messages(self: Arc<Self>) {
        remote_battles::handle_messages(self).await;
    }

    /// Creates the service without battles.
    #[must_use]
    pub fn new(dependencies: BattleDependencies) -> Self {
        Self { dependencies: Arc::new(dependencies), live: Arc::default(), remote_battles: RemoteBattles::default() }
    }

    /// Starts a battle and watches it from its first event. The `permit` is held until the turn is answered, as for other turns.
    ///
    /// # Errors
    /// [`BattleError`]; nothing is stored then.
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
        // Checked after steps that may take seconds.
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

    /// Sends the next prompt of a battle, and watches it from that turn on.
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
        let asked = self.ask(&battle, Action::Message, Some(prompt), permit).await;
        self.with_reason(id, asked).await
    }

    /// Regenerates both replies of the latest turn, with a changed prompt if given, and watches the battle from that turn on.
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
        let asked = self.ask(&battle, Action::Regenerate, prompt, permit).await;
        self.with_reason(id, asked).await
    }

    /// Stops both replies and keeps the text so far.
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

    /// Returns why an action on this battle is refused: it may have been ended in order to delete its texts.
    pub async fn reason_for(&self, id: &BattleId, refusal: Refusal) -> Refusal {
        let may_be_deleted = refusal == Refusal::Abandoned;
        let is_deleted = may_be_deleted && matches!(self.dependencies.store.has_texts(id).await, Ok(false));
        if is_deleted { Refusal::TextsDeleted } else { refusal }
    }

    async fn with_reason<T>(&self, id: &BattleId, done: Result<T, BattleError>) -> Result<T, BattleError> {
        match done {
            Err(BattleError::Refused(refusal)) => Err(self.reason_for(id, refusal).await.into()),
            done => done,
        }
    }

    /// Checks and moderates a prompt that is not stored.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn admit_prompt(&self, prompt: &str) -> Result<(), BattleError> {
        self.refuse_while_draining()?;
        self.dependencies.prompts.check(prompt)?;
        self.dependencies.prompts.moderate(prompt).await?;
        Ok(())
    }

    /// Removes battles from memory that have no watchers and are not being answered.
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

    /// Returns the number of battles in memory.
    #[must_use]
    pub fn in_memory(&self) -> usize {
        self.live.len()
    }

    /// Whether the battle is in memory rather than in the database alone.
    #[must_use]
    pub fn is_in_memory(&self, id: &BattleId) -> bool {
        self.live.get(id).is_some()
    }

    /// Returns the number of battles that this process is answering.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.live.answering()
    }

    /// Returns a battle that awaits its vote, with prompts and replies; `None` if the database must be read, since another instance may
    /// have continued the battle.
    pub(super) fn awaiting_vote(&self, visitor: &VisitorId, id: &BattleId) -> Option<BattleRecord> {
        let battle =
            self.live.get(id).filter(|battle| battle.visitor == *visitor && self.dependencies.instances.is_alone())?;
        battle.state().active.awaiting_vote()
    }

    /// Closes a battle whose vote was committed: it accepts no more prompts.
    pub fn close(&self, id: &BattleId) {
        if let Some(battle) = self.live.remove(id) {
            battle.state().active.row.progress.stage = Stage::Voted;
        }
    }

    /// Begins a turn after the moderation service has checked its prompt.
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

    /// Marks a battle as being answered before the database is updated, so that a simultaneous second message is refused. Returns the
    /// previous state.
    fn reserve_turn(&self, battle: &Arc<LiveBattle>, action: Action) -> Result<BattleRow, BattleError> {
        let former = {
            let mut state = battle.state();
            let row = state.active.row.clone();
            row.progress.allows(action, self.dependencies.settings.now().battle.max_turns)?;
            self.check_models(&row.models)?;
            state.active.row.progress.stage = Stage::Answering;
            row
        };
        // A sweep may have removed the battle from memory since it was found, and another request may have read it back.
        if !Arc::ptr_eq(&self.live.add(battle), battle) {
            return Err(Refusal::StillAnswering.into());
        }
        Ok(former)
    }

    /// Returns the battle's stored state after the database refused to begin a turn. If another run owns the battle, its watchers reconnect;
    /// otherwise the battle in memory is set to this state.
    async fn stored_instead(&self, battle: &Arc<LiveBattle>, former: BattleRow) -> Result<BattleRow, BattleError> {
        let (run, turn, progress) = (former.answered_by, former.progress.turn, former.progress);
        let stored = self.dependencies.store.battle(&battle.id).await;
        match &stored {
            Ok(Some(stored)) if stored.answered_by != run || stored.progress.turn != turn => self.unload(battle),
            Ok(Some(stored)) => battle.state().active.row = stored.clone(),
            Ok(None) | Err(_) => battle.state().active.row.progress = progress,
        }
        stored?.ok_or(BattleError::UnknownBattle)
    }

    /// Announces the latest turn and spawns the task that answers it, which holds the permit to its end. A turn that is taken over needs
    /// none: another instance has counted it.
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
                battle.mark_moved();
            }
        });
    }

    fn refuse_while_draining(&self) -> Result<(), BattleError> {
        if self.dependencies.tasks.is_draining() { Err(BattleError::Draining) } else { Ok(()) }
    }

    /// Checks before a turn that its models can be queried: one that cannot would void the battle, and the vote on the earlier answers with
    /// it.
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
