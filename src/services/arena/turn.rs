//! Runs one turn of a battle: queries two models, paces their text, publishes and stores it.
//!
//! One side's failure never affects the other. Before its first token a side of the first turn is replaced by another model; a side that
//! breaks off voids the battle while the other continues to its end. The battle is ready only after both replies are in the database.

mod one_sided_failures;
mod reply_speeds;
mod side;
mod store_replies;
#[cfg(test)]
mod tests;
mod turn_metrics;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::arena::battle_dependencies::BattleDependencies;
use crate::domain::battle::event_log::BattleEvent;
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::pacing::{Ending, MIN_STEP_INTERVAL, Pacer, Release};
use crate::domain::battle::pairing::starting_pair::PromptKind;
use crate::domain::battle::progress::{Progress, Stage};
use crate::domain::battle::{ImageId, ModelId, RunId, Side};
use crate::infra::config::{BattleSettings, PacingMode};
use crate::infra::events::BusState;
use crate::infra::live_battles::LiveBattle;
use crate::infra::llm::resilient_model::VisitorQuestion;
use crate::infra::llm::{ChatError, ReplyPart};
use crate::infra::metrics;
use crate::infra::storage::{NewReply, ReplyEnding, SideFailure, StoreError};
use side::{SideRun, without_nul};
use turn_metrics::count;

/// Maximum number of reply parts read in a row before the turn handles other events.
const MAX_PARTS: usize = 256;
/// Unshown bytes of a side above which its provider is not read.
const MAX_BACKLOG_BYTES: usize = 64 * 1024;
/// Maximum number of replacements in one turn.
const MAX_REPLACEMENTS: usize = 4;

/// Result of running a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Both replies are stored, or could not be and the battle is voided.
    Finished,
    /// Another instance considered this one gone and answers the turn: the result here is discarded.
    Superseded,
}

/// Runs the battle's latest turn to its end; returns when both replies are stored.
pub(super) async fn run(
    dependencies: Arc<BattleDependencies>,
    battle: Arc<LiveBattle>,
    run: RunId,
    stop: oneshot::Receiver<()>,
) -> TurnEnd {
    dependencies.models.searched().await;
    let mut turn = Turn::begin(&dependencies, &battle, run).await;
    turn.relay_replies(stop).await;
    turn.note_one_sided_failures();
    let speeds = turn.reply_speeds();
    let end = turn.finish().await.unwrap_or_else(|error| {
        tracing::error!(battle.id = %battle.id, error = ?error, "the replies of a turn could not be stored");
        battle.state().stopper = None;
        battle.move_on(Stage::Voided, BattleEvent::Voided);
        TurnEnd::Finished
    });
    // A superseded instance was halted, so its measured speeds are too slow.
    if end == TurnEnd::Finished {
        dependencies.models.note_speeds(&speeds);
    }
    end
}

/// Voids the battle of a turn that panicked, so that its watchers do not wait forever.
pub(super) async fn void(dependencies: &BattleDependencies, battle: &LiveBattle, run: &RunId) -> TurnEnd {
    let row = battle.state().active.row.clone();
    battle.state().stopper = None;
    if row.progress.stage != Stage::Voided {
        battle.move_on(Stage::Voided, BattleEvent::Voided);
    }
    let failed = |side: Side| {
        let mut failed = SideRun::new(row.models[side.index()].clone());
        failed.end(ReplyEnding::Failed);
        failed.into_new_reply(side)
    };
    let progress = Progress { stage: Stage::Voided, ..row.progress };
    let replies: Vec<NewReply> = row.mode.sides().iter().map(|side| failed(*side)).collect();
    match dependencies.keep_replies(battle, run, progress, &replies).await {
        Ok(true) => {
            metrics::battle_voided();
            TurnEnd::Finished
        }
        Ok(false) => TurnEnd::Superseded,
        Err(error) => {
            tracing::error!(battle.id = %battle.id, error = ?error, "the end of a turn could not be stored");
            TurnEnd::Finished
        }
    }
}

struct Turn<'a> {
    dependencies: &'a BattleDependencies,
    /// Settings at the start of the turn: a reload does not affect it.
    settings: BattleSettings,
    mode: BattleMode,
    battle: &'a LiveBattle,
    /// Run id of this turn in the battle's row.
    run: RunId,
    number: u32,
    /// Images attached to the first prompt.
    images: Vec<ImageId>,
    sides: [SideRun; 2],
    began: Instant,
    pacer: Pacer,
    ticker: Interval,
    /// Time of the next tick.
    alarm: Option<Instant>,
    /// End of the read pause, after which all text received meanwhile is read at once. Without pacing nothing is released before it,
    /// either.
    paused_until: Option<Instant>,
    /// Models that failed before their first token.
    failed: Vec<ModelId>,
    voided: bool,
    superseded: bool,
}

impl<'a> Turn<'a> {
    async fn begin(dependencies: &'a BattleDependencies, battle: &'a LiveBattle, run: RunId) -> Self {
        let (row, images) = {
            let active = &battle.state().active;
            (active.row.clone(), active.images.clone())
        };
        let mut settings = dependencies.settings.now().battle.clone();
        if row.mode == BattleMode::Direct {
            // A single reply has no other to be paced with, and its model is known.
            settings.pacing = PacingMode::Raw;
        }
        let pace = settings.pace(dependencies.class_draws.of_battle(&battle.id));
        let pacer = Pacer::new(pace, settings.quantum(), dependencies.rng.seed());
        let mut ticker = tokio::time::interval(MIN_STEP_INTERVAL);
        // After a pause the next text is released at once.
        ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut turn = Self {
            dependencies,
            settings,
            mode: row.mode,
            battle,
            run,
            number: row.progress.turn,
            images,
            sides: row.models.map(SideRun::new),
            began: Instant::now(),
            pacer,
            ticker,
            alarm: None,
            paused_until: None,
            failed: Vec::new(),
            voided: false,
            superseded: false,
        };
        for side in Side::BOTH {
            if row.mode.sides().contains(&side) {
                turn.ask(side).await;
            } else {
                turn.mark_absent_side(side);
            }
        }
        turn
    }

    /// Marks a side without a model as ended, so that nothing of it is sent or stored.
    fn mark_absent_side(&mut self, side: Side) {
        self.sides[side.index()].end(ReplyEnding::Complete);
        self.pacer.end(side, Ending::Complete, self.began.elapsed());
    }

    /// Starts the side's reply; a model that left the roster continues, an unknown one counts as failed.
    async fn ask(&mut self, side: Side) {
        self.set_usual_speed(side);
        let mut messages = self.battle.state().active.conversation(self.number, side);
        let question = VisitorQuestion {
            visitor: self.battle.state().active.row.visitor.clone(),
            run: Some(self.run.clone()),
            max_bytes: self.settings.max_reply_bytes,
        };
        let shown = self.dependencies.images.show(&self.battle.id, &self.images, &mut messages).await;
        let shown = shown.map_err(|error| ChatError::Unreached(format!("the images could not be read: {error}")));
        let model = self.dependencies.models.of_battle(&self.sides[side.index()].model);
        let asked = self.sides[side.index()].ask(model.as_deref(), question, shown.map(|()| messages.as_slice()));
        if let Err(error) = asked {
            Box::pin(self.fail(side, error)).await;
        }
    }

    /// Reads both replies and shows the text that is due, until all is shown or the visitor stops or leaves.
    async fn relay_replies(&mut self, stop: oneshot::Receiver<()>) {
        let grace = Duration::from_millis(self.settings.resume_grace_ms);
        let shutdown = self.dependencies.tasks.shutdown();
        // Registered once a turn, not once a token, because waiters are kept in a list.
        let mut ended = pin!(shutdown.cancelled());
        let mut left = pin!(wait_until_abandoned(self.battle, self.dependencies, grace));
        // A dropped sender does not stop a turn: only a message does.
        let mut stop = pin!(async {
            if stop.await.is_err() {
                std::future::pending::<()>().await;
            }
        });
        while !self.pacer.finished() && !self.superseded {
            // Backpressure: unread text stays at the providers.
            let behind = self.battle.readers_lag();
            if self.is_raw() && self.paused_until.is_none() && !behind && self.is_due() {
                self.read_and_show().await;
                continue;
            }
            let tick = self.set_alarm(behind);
            // The first token is taken when it comes, so that its time is right.
            let [read_a, read_b] = Side::BOTH.map(|side| {
                self.reads(side) && (self.paused_until.is_none() || self.sides[side.index()].first_token_at.is_none())
            });
            let [a, b] = &mut self.sides;
            tokio::select! {
                biased;
                () = &mut stop => return self.cut(),
                () = &mut left => return self.cut(),
                () = &mut ended => return self.cut(),
                at = self.ticker.tick(), if tick => self.tick(at).await,
                () = self.battle.readers_catch_up(), if behind => {}
                part = a.next_part(), if read_a => self.handle_part_and_pause(Side::A, part).await,
                part = b.next_part(), if read_b => self.handle_part_and_pause(Side::B, part).await,
            }
        }
    }

    fn is_raw(&self) -> bool {
        self.settings.pacing == PacingMode::Raw
    }

    fn is_due(&mut self) -> bool {
        let now = self.began.elapsed();
        self.pacer.due(now).is_some_and(|due| due <= now)
    }

    /// Sets the ticker to the end of the pause or, with pacing, to the next step, whichever comes first; `false` without both.
    fn set_alarm(&mut self, behind: bool) -> bool {
        let paced = !self.is_raw() && !behind;
        let due = if paced { self.pacer.due(self.began.elapsed()).map(|at| self.began + at) } else { None };
        let alarm = [due, self.paused_until].into_iter().flatten().min();
        if let Some(at) = alarm.filter(|_| alarm != self.alarm) {
            self.ticker.reset_at(at);
        }
        self.alarm = alarm;
        alarm.is_some()
    }

    /// Whether to read more of this side's reply now. With `PacingMode::Whole` there is no backlog limit.
    fn reads(&self, side: Side) -> bool {
        let room = self.settings.pacing == PacingMode::Whole || self.pacer.backlog(side) < MAX_BACKLOG_BYTES;
        self.sides[side.index()].stream.is_some() && room
    }

    /// Reads all received parts of both replies, shows the text that is due, and pauses.
    async fn read_and_show(&mut self) {
        let mut left = MAX_PARTS;
        while self.handle_received_parts(&mut left).await && left > 0 {
            // Reading makes room for data that a connection has received meanwhile.
            tokio::task::yield_now().await;
        }
        let due = !self.battle.readers_lag() && self.is_due();
        if self.is_raw() {
            self.paused_until = (due && left > 0).then(|| self.dependencies.raw_pacing_ticks.next());
        } else if left < MAX_PARTS {
            self.pause_reading();
        }
        if due {
            self.publish_due();
        }
    }

    /// Pauses reading, if the turn is paced.
    fn pause_reading(&mut self) {
        if !self.is_raw() {
            self.paused_until = self.pacer.read_every().map(|rest| Instant::now() + rest);
        }
    }

    async fn handle_part_and_pause(&mut self, side: Side, part: Option<Result<ReplyPart, ChatError>>) {
        self.take(side, part).await;
        self.pause_reading();
    }

    /// Reads the received parts, at most `left`; `true` if there were any.
    async fn handle_received_parts(&mut self, left: &mut usize) -> bool {
        let before = *left;
        for side in Side::BOTH {
            while *left > 0
                && self.reads(side)
                && let Some(part) = self.sides[side.index()].next_part().now_or_never()
            {
                *left -= 1;
                self.take(side, part).await;
            }
        }
        *left < before
    }

    async fn take(&mut self, side: Side, part: Option<Result<ReplyPart, ChatError>>) {
        let limit = self.settings.max_reply_bytes;
        let run = &mut self.sides[side.index()];
        match part {
            Some(Ok(ReplyPart::Text(text))) => {
                let (text, is_full) = run.receive(text, limit);
                self.pacer.push(side, &text, self.began.elapsed());
                if is_full {
                    run.end(ReplyEnding::Cut);
                    self.pacer.end(side, Ending::Complete, self.began.elapsed());
                }
            }
            Some(Ok(ReplyPart::Reasoning(text))) => {
                let text = without_nul(text);
                if run.reasoning.len() + text.len() <= limit {
                    run.reasoning.push_str(&text);
                }
            }
            // Usage counts are for benchmarks only.
            Some(Ok(ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded)) => {}
            Some(Err(error)) => self.fail(side, error).await,
            None => {
                run.end(ReplyEnding::Complete);
                self.pacer.end(side, Ending::Complete, self.began.elapsed());
            }
        }
    }

    /// Replaces the side by another model if none of its text was shown, and breaks it off otherwise.
    async fn fail(&mut self, side: Side, error: ChatError) {
        self.sides[side.index()].stream = None;
        let replacement = self.find_replacement(side);
        let failure = SideFailure {
            turn: self.number,
            side,
            model: self.sides[side.index()].model.clone(),
            reason: error.to_string(),
            replacement: replacement.clone(),
        };
        tracing::warn!(
            battle.id = %self.battle.id, battle.side = side.as_str(), model = %failure.model, error = %error,
            replaced_by = replacement.as_ref().map(|(model, _)| model.as_str()), "a side failed"
        );
        let now = self.dependencies.clock.now();
        let recorded = self.dependencies.store.record_side_failure(&self.battle.id, &self.run, &failure, now).await;
        match (replacement, recorded) {
            (_, Ok(false)) => self.superseded = true,
            (Some((model, probability)), Ok(true)) => self.replace(side, model, probability).await,
            (None, Ok(true)) => self.end_failed_side(side),
            (_, Err(error)) => {
                tracing::error!(battle.id = %self.battle.id, error = ?error, "a failed side could not be recorded");
                self.end_failed_side(side);
            }
        }
    }

    /// Selects a replacement for a side without shown text, in the first turn; `None` if no model is available, and for a model that the
    /// visitor chose. If the other side has broken off the battle is void, and no replacement is queried.
    fn find_replacement(&self, side: Side) -> Option<(ModelId, f64)> {
        let (run, other) = (&self.sides[side.index()], &self.sides[side.other().index()]);
        if self.mode.names(side)
            || other.ending == ReplyEnding::Failed
            || self.number > 1
            || run.first_token_at.is_some()
            || self.failed.len() >= MAX_REPLACEMENTS
        {
            return None;
        }
        let mut excluded = self.failed.clone();
        excluded.push(run.model.clone());
        let kind = PromptKind::of(&self.images);
        self.dependencies.matchmaker.replace(&other.model, &excluded, kind)
    }

    async fn replace(&mut self, side: Side, model: ModelId, probability: f64) {
        {
            let mut state = self.battle.state();
            state.active.row.models[side.index()] = model.clone();
            state.active.row.pair_probability = probability;
        }
        self.failed.push(std::mem::replace(&mut self.sides[side.index()].model, model));
        Box::pin(self.ask(side)).await;
    }

    fn end_failed_side(&mut self, side: Side) {
        self.sides[side.index()].end(ReplyEnding::Failed);
        self.pacer.end(side, Ending::Broken, self.began.elapsed());
    }

    async fn tick(&mut self, at: Instant) {
        (self.alarm, self.paused_until) = (None, None);
        if self.is_raw() {
            self.dependencies.raw_pacing_ticks.record_tick(at);
        }
        self.read_and_show().await;
    }

    fn publish_due(&mut self) {
        let released = self.pacer.step(self.began.elapsed());
        self.publish(released);
    }

    /// Cuts both replies at the text shown, and closes both upstreams.
    fn cut(&mut self) {
        for run in &mut self.sides {
            if run.ended_at.is_none() || !run.is_fully_shown() {
                run.end(ReplyEnding::Stopped);
            }
        }
        let released = self.pacer.cut();
        self.publish(released);
    }

    fn publish(&mut self, released: Vec<Release>) {
        let mut events = Vec::with_capacity(released.len());
        for release in released {
            match release {
                Release::Text(side, text) => {
                    self.sides[side.index()].shown.push_str(&text);
                    events.push(BattleEvent::Delta { side, text });
                }
                Release::Done(side) if !self.mode.sides().contains(&side) => {}
                Release::Done(side) => events.push(BattleEvent::Done { side }),
                Release::Broken(_) if !self.voided => {
                    self.voided = true;
                    self.battle.publish(std::mem::take(&mut events));
                    self.battle.move_on(Stage::Voided, BattleEvent::Voided);
                }
                Release::Broken(_) => {}
            }
        }
        if !events.is_empty() {
            self.battle.publish(events);
        }
    }

    /// Stores both replies, then opens the battle for its vote.
    async fn finish(self) -> Result<TurnEnd, StoreError> {
        let stage = if self.voided { Stage::Voided } else { Stage::Ready };
        let progress = Progress { stage, turn: self.number };
        let answered = Side::BOTH.into_iter().zip(self.sides).filter(|(side, _)| self.mode.sides().contains(side));
        let replies: Vec<NewReply> = answered.map(|(side, run)| run.into_new_reply(side)).collect();
        let kept = self.dependencies.keep_replies(self.battle, &self.run, progress, &replies).await?;
        {
            let mut state = self.battle.state();
            state.stopper = None;
            if !kept {
                return Ok(TurnEnd::Superseded);
            }
            count(stage, self.mode, &replies);
            state.active.keep_replies(self.number, replies);
        }
        if stage == Stage::Ready {
            self.battle.move_on(stage, BattleEvent::Ready);
        }
        Ok(TurnEnd::Finished)
    }
}

/// Waits until the battle has had no watchers for `grace`. While other instances are unreachable, one of them may have the visitor, so the
/// turn continues to its end.
async fn wait_until_abandoned(battle: &LiveBattle, dependencies: &BattleDependencies, grace: Duration) {
    let mut bus = dependencies.events.state();
    loop {
        battle.wait_until_unwatched(grace).await;
        if *bus.borrow_and_update() != BusState::Lost {
            return;
        }
        if bus.wait_for(|state| *state != BusState::Lost).await.is_err() {
            return; // The bus is gone with the arena.
        }
    }
}
