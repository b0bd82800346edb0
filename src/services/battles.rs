//! Battles: begin, ask on, stop, answer anew, come back.
//!
//! What may happen when is decided by [`crate::battle::state`]; here the decision meets the database, the models and
//! the visitor's sockets. A battle lives in memory while somebody watches it or it is being answered, and is read back
//! from the database otherwise.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::language;
use super::live::{BattleEvent, Exchange, LiveBattle, Watcher};
use super::matchmaking::Matchmaker;
use super::models::Models;
use super::tasks::Tasks;
use super::turn;
use crate::battle::pairing::PairingError;
use crate::battle::state::{Action, Progress, Refusal, Stage};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::CurrentSettings;
use crate::storage::{BattleRow, Store, StoreError};

/// What battles are made of.
pub struct BattleParts {
    /// Where they are kept.
    pub store: Store,
    /// Who can be asked.
    pub models: Arc<Models>,
    /// Who meets whom.
    pub matchmaker: Arc<Matchmaker>,
    /// Ids.
    pub chance: Arc<Chance>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Owner of the running turns.
    pub tasks: Tasks,
    /// Limits and pace.
    pub settings: CurrentSettings,
}

/// All battles of this process.
pub struct Battles {
    parts: Arc<BattleParts>,
    live: Mutex<HashMap<String, Arc<LiveBattle>>>,
}

/// Why a battle does not go on; the message tells the visitor what to do.
#[derive(Debug, thiserror::Error)]
pub enum BattleError {
    /// Nothing was asked.
    #[error("the prompt is empty: write a question")]
    PromptEmpty,
    /// Too much was asked.
    #[error("the prompt has {bytes} bytes and {limit} are allowed: shorten it")]
    PromptTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The prompt holds a NUL character.
    #[error("the prompt holds a NUL character: remove it")]
    PromptHasNul,
    /// A label that is not a short word.
    #[error("{0} is a word of at most 64 letters, digits, _ or -")]
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
    /// Fewer than two models can answer.
    #[error("fewer than two models can answer at the moment: try again in a minute")]
    NoModels(#[source] PairingError),
    /// The database failed.
    #[error("the arena could not keep this: try again in a minute")]
    Store(#[from] StoreError),
}

/// The first message of a battle.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// What is asked.
    pub prompt: String,
    /// URS intent, if the client names one.
    pub intent: Option<String>,
    /// Category, if the client names one.
    pub category: Option<String>,
}

impl Battles {
    /// No battles yet.
    #[must_use]
    pub fn new(parts: BattleParts) -> Self {
        Self { parts: Arc::new(parts), live: Mutex::default() }
    }

    /// Begins a battle between two hidden models and watches it from its first event.
    ///
    /// # Errors
    /// [`BattleError`]; nothing is kept then.
    pub async fn start(&self, visitor: &str, opening: Opening) -> Result<Watcher, BattleError> {
        self.check_prompt(&opening.prompt)?;
        check_label("intent", opening.intent.as_deref())?;
        check_label("category", opening.category.as_deref())?;
        if self.lock().len() >= self.parts.settings.now().battle.max_live {
            return Err(BattleError::Busy);
        }
        let pair = self.parts.matchmaker.draw().map_err(BattleError::NoModels)?;
        let row = BattleRow {
            id: self.parts.chance.id(self.parts.clock.as_ref()),
            visitor: visitor.to_owned(),
            progress: Progress { stage: Stage::Answering, turn: 1 },
            models: [pair.a, pair.b],
            pairing_policy: pair.policy.as_str().to_owned(),
            policy_version: pair.policy_version,
            pair_probability: pair.probability,
            language: language::detect(&opening.prompt).to_owned(),
            category: opening.category,
            intent: opening.intent,
            answered_by: Some(self.parts.chance.token()),
        };
        self.parts.store.insert_battle(&row, &opening.prompt, self.parts.clock.now()).await?;
        let battle = Arc::new(LiveBattle::begin(row, &opening.prompt));
        self.lock().insert(battle.id.clone(), Arc::clone(&battle));
        let watcher = battle.watch(0);
        self.answer(&battle);
        Ok(watcher)
    }

    /// Asks the next question of a battle.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn message(&self, visitor: &str, id: &str, prompt: &str) -> Result<(), BattleError> {
        self.check_prompt(prompt)?;
        let battle = self.find(visitor, id).await?;
        self.begin_turn(&battle, Action::Message, Some(prompt)).await
    }

    /// Has both sides answer the latest turn anew.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn regenerate(&self, visitor: &str, id: &str) -> Result<(), BattleError> {
        let battle = self.find(visitor, id).await?;
        self.begin_turn(&battle, Action::Regenerate, None).await
    }

    /// Ends both replies as they stand.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn stop(&self, visitor: &str, id: &str) -> Result<(), BattleError> {
        let battle = self.find(visitor, id).await?;
        let mut state = battle.state();
        state.row.progress.allows(Action::Stop, self.parts.settings.now().battle.max_turns)?;
        if let Some(stopper) = state.stopper.take() {
            // The turn may just have ended by itself, which is what was asked for.
            let _ = stopper.send(());
        }
        Ok(())
    }

    /// Watches a battle again after the event numbered `after`.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn resume(&self, visitor: &str, id: &str, after: u64) -> Result<Watcher, BattleError> {
        let battle = self.find_after(visitor, id, after).await?;
        // A number that this battle never had belongs to an earlier telling of it: tell all of it.
        let known = if after <= battle.last_seq() { after } else { 0 };
        Ok(battle.watch(known))
    }

    /// Takes battles out of memory that nobody watches and that wait for nothing.
    pub fn sweep(&self) {
        self.lock().retain(|_, battle| battle.is_watched() || battle.is_answering());
    }

    /// Whether the battle is in memory rather than in the database alone.
    #[must_use]
    pub fn is_in_memory(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// The vote on a battle was committed: it takes no more questions.
    pub fn close(&self, id: &str) {
        if let Some(battle) = self.lock().remove(id) {
            battle.state().row.progress.stage = Stage::Voted;
        }
    }

    async fn begin_turn(
        &self,
        battle: &Arc<LiveBattle>,
        action: Action,
        prompt: Option<&str>,
    ) -> Result<(), BattleError> {
        let turn = {
            let mut state = battle.state();
            let progress = state.row.progress;
            progress.allows(action, self.parts.settings.now().battle.max_turns)?;
            // Taken before the database is asked, so that a second message in the same moment is refused.
            state.row.progress.stage = Stage::Answering;
            progress.turn + u32::from(prompt.is_some())
        };
        let run = self.parts.chance.token();
        let begun = self.parts.store.begin_turn(&battle.id, turn, prompt, &run, self.parts.clock.now()).await;
        if !matches!(begun, Ok(true)) {
            self.reread(battle).await?;
            begun?;
            battle.progress().allows(action, self.parts.settings.now().battle.max_turns)?;
            return Err(Refusal::StillAnswering.into());
        }
        {
            let mut state = battle.state();
            state.row.progress.turn = turn;
            state.row.answered_by = Some(run);
            match prompt {
                Some(prompt) => state.exchanges.push(Exchange { prompt: prompt.into(), replies: Default::default() }),
                None => state
                    .exchanges
                    .iter_mut()
                    .skip(turn as usize - 1)
                    .for_each(|last| last.replies = Default::default()),
            }
        }
        self.answer(battle);
        Ok(())
    }

    /// Takes the stage from the database after it refused to move on.
    async fn reread(&self, battle: &LiveBattle) -> Result<(), BattleError> {
        let row = self.parts.store.battle(&battle.id).await?.ok_or(BattleError::UnknownBattle)?;
        battle.state().row.progress = row.progress;
        Ok(())
    }

    /// Announces the latest turn and has it answered by a task of its own.
    fn answer(&self, battle: &Arc<LiveBattle>) {
        let (stopper, stop) = oneshot::channel();
        let prompt = {
            let mut state = battle.state();
            state.stopper = Some(stopper);
            state.exchanges.last().map(|exchange| Arc::clone(&exchange.prompt))
        };
        battle.publish(prompt.map(|prompt| BattleEvent::Turn { prompt }));
        self.parts.tasks.spawn(turn::run(Arc::clone(&self.parts), Arc::clone(battle), stop));
    }

    async fn find(&self, visitor: &str, id: &str) -> Result<Arc<LiveBattle>, BattleError> {
        self.find_after(visitor, id, 0).await
    }

    /// The battle from memory, or read back from the database with its events numbered after `after`.
    async fn find_after(&self, visitor: &str, id: &str, after: u64) -> Result<Arc<LiveBattle>, BattleError> {
        let found = self.lock().get(id).cloned();
        let battle = match found {
            Some(battle) => battle,
            None => self.read_back(visitor, id, after).await?,
        };
        if battle.visitor == visitor { Ok(battle) } else { Err(BattleError::UnknownBattle) }
    }

    async fn read_back(&self, visitor: &str, id: &str, after: u64) -> Result<Arc<LiveBattle>, BattleError> {
        let store = &self.parts.store;
        let row = store.battle(id).await?.filter(|row| row.visitor == visitor).ok_or(BattleError::UnknownBattle)?;
        let interrupted = row.progress.stage == Stage::Answering;
        let restored = Arc::new(LiveBattle::restore(row, store.turns(id).await?, &store.replies(id).await?, after));
        // Two sockets may come back at once: the first one's battle is everybody's.
        let battle = Arc::clone(self.lock().entry(id.to_owned()).or_insert_with(|| Arc::clone(&restored)));
        if interrupted && Arc::ptr_eq(&battle, &restored) {
            // No task of this process answers the turn, so the process that did is gone: answer it anew.
            self.take_over(&battle).await?;
        }
        Ok(battle)
    }

    async fn take_over(&self, battle: &Arc<LiveBattle>) -> Result<(), BattleError> {
        let (run, from) = (self.parts.chance.token(), battle.state().row.answered_by.clone());
        let now = self.parts.clock.now();
        if !self.parts.store.take_over_turn(&battle.id, from.as_deref(), &run, now).await? {
            return self.reread(battle).await;
        }
        battle.state().row.answered_by = Some(run);
        self.answer(battle);
        Ok(())
    }

    fn check_prompt(&self, prompt: &str) -> Result<(), BattleError> {
        let limit = self.parts.settings.now().battle.max_prompt_bytes;
        match prompt {
            _ if prompt.len() > limit => Err(BattleError::PromptTooLong { bytes: prompt.len(), limit }),
            _ if prompt.contains('\0') => Err(BattleError::PromptHasNul),
            _ if prompt.trim().is_empty() => Err(BattleError::PromptEmpty),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<LiveBattle>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_label(name: &'static str, label: Option<&str>) -> Result<(), BattleError> {
    let fits = |text: &str| {
        (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    if label.is_none_or(fits) { Ok(()) } else { Err(BattleError::BadLabel(name)) }
}
