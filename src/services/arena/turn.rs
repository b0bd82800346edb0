//! Runs one turn of a battle: asks two models, paces their text, publishes and stores it.
//!
//! One side's failure never touches the other. Before its first token a side of the first turn is replaced by another
//! model; a side that breaks off voids the battle while the other goes on to its end. The battle is ready only after
//! both replies are in the database.

mod keep_replies;
mod lone_failures;
mod reply_speeds;
mod side;
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
use crate::domain::battle::pacing::{Ending, Pacer, Release, TICK};
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

/// Parts of both replies that are taken at once at most, before the turn looks at what else happens.
const MAX_PARTS: usize = 256;
/// Bytes of a side that have come and were not shown, from which on its provider is not read.
const MAX_BACKLOG: usize = 64 * 1024;
/// Replacements in one turn at most.
const MAX_REPLACEMENTS: usize = 4;

/// What became of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Both replies are kept, or could not be and the battle is voided.
    Finished,
    /// Another instance took this one for gone and answers the turn: what was seen here does not count.
    Superseded,
}

/// Runs the battle's latest turn to its end; returns when both replies are kept.
pub(super) async fn run(
    dependencies: Arc<BattleDependencies>,
    battle: Arc<LiveBattle>,
    run: RunId,
    stop: oneshot::Receiver<()>,
) -> TurnEnd {
    dependencies.models.searched().await;
    let mut turn = Turn::begin(&dependencies, &battle, run).await;
    turn.play(stop).await;
    turn.note_lone_failures();
    let speeds = turn.reply_speeds();
    let end = turn.finish().await.unwrap_or_else(|error| {
        tracing::error!(battle.id = %battle.id, error = ?error, "the replies of a turn could not be stored");
        battle.state().stopper = None;
        battle.move_on(Stage::Voided, BattleEvent::Voided);
        TurnEnd::Finished
    });
    // An instance that was halted, and then taken for gone, saw its models write slowly.
    if end == TurnEnd::Finished {
        dependencies.models.note_speeds(&speeds);
    }
    end
}

/// Ends a turn that panicked: its battle takes no vote, so that nobody waits for one forever.
pub(super) async fn void(dependencies: &BattleDependencies, battle: &LiveBattle, run: &RunId) -> TurnEnd {
    let row = battle.state().active.row.clone();
    battle.state().stopper = None;
    if row.progress.stage != Stage::Voided {
        battle.move_on(Stage::Voided, BattleEvent::Voided);
    }
    let failed = |side: Side| {
        let mut failed = SideRun::new(row.models[side.index()].clone());
        failed.end(ReplyEnding::Failed);
        failed.keep(side)
    };
    let progress = Progress { stage: Stage::Voided, ..row.progress };
    let replies: Vec<NewReply> = row.mode.sides().iter().map(|side| failed(*side)).collect();
    match dependencies.keep_replies(&battle.id, run, progress, &replies).await {
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
    /// The settings as they were when the turn began: an edited file does not disturb it.
    settings: BattleSettings,
    mode: BattleMode,
    battle: &'a LiveBattle,
    /// The name of this answering in the battle's row.
    run: RunId,
    number: u32,
    /// The images beside the first question.
    images: Vec<ImageId>,
    sides: [SideRun; 2],
    began: Instant,
    pacer: Pacer,
    ticker: Interval,
    /// When the ticker ticks next.
    alarm: Option<Instant>,
    /// Until when replies are not read, so that what comes meanwhile is read at once. Without pacing nothing is released
    /// before that, either.
    rests_until: Option<Instant>,
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
            // One reply alone is paced with no other, and its model is known.
            settings.pacing = PacingMode::Raw;
        }
        let pace = settings.pace(dependencies.class_draws.of_battle(&battle.id));
        let pacer = Pacer::new(pace, settings.quantum(), dependencies.rng.seed());
        let mut ticker = tokio::time::interval(TICK);
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
            rests_until: None,
            failed: Vec::new(),
            voided: false,
            superseded: false,
        };
        for side in Side::BOTH {
            if row.mode.sides().contains(&side) {
                turn.ask(side).await;
            } else {
                turn.leave_out(side);
            }
        }
        turn
    }

    /// A side that does not answer has ended, and nothing of it is sent or kept.
    fn leave_out(&mut self, side: Side) {
        self.sides[side.index()].end(ReplyEnding::Complete);
        self.pacer.end(side, Ending::Complete, self.began.elapsed());
    }

    /// Starts the side's reply; a model that left the roster goes on, one that is not known any more counts as failed.
    async fn ask(&mut self, side: Side) {
        self.expect_usual_speed(side);
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

    /// Takes what comes in and shows what is due, until everything is shown or the visitor stops it or leaves.
    async fn play(&mut self, stop: oneshot::Receiver<()>) {
        let grace = Duration::from_millis(self.settings.resume_grace_ms);
        let shutdown = self.dependencies.tasks.shutdown();
        // Those who wait for the end stand in a list: once a turn, not once a token.
        let mut ended = pin!(shutdown.cancelled());
        let mut left = pin!(nobody_is_there(self.battle, self.dependencies, grace));
        // A dropped sender never stops a turn: only a message does.
        let mut stop = pin!(async {
            if stop.await.is_err() {
                std::future::pending::<()>().await;
            }
        });
        while !self.pacer.finished() && !self.superseded {
            // Text waits for readers, and providers for text: what is not read stays with them.
            let behind = self.battle.readers_are_behind();
            if self.is_raw() && self.rests_until.is_none() && !behind && self.is_due() {
                self.read_and_show().await;
                continue;
            }
            let tick = self.set_alarm(behind);
            // The first token is taken when it comes, so that its time is right.
            let [read_a, read_b] = Side::BOTH.map(|side| {
                self.reads(side) && (self.rests_until.is_none() || self.sides[side.index()].first_token_at.is_none())
            });
            let [a, b] = &mut self.sides;
            tokio::select! {
                biased;
                () = &mut stop => return self.cut(),
                () = &mut left => return self.cut(),
                () = &mut ended => return self.cut(),
                at = self.ticker.tick(), if tick => self.tick(at).await,
                () = self.battle.readers_catch_up(), if behind => {}
                part = a.next_part(), if read_a => self.take_and_rest(Side::A, part).await,
                part = b.next_part(), if read_b => self.take_and_rest(Side::B, part).await,
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

    /// Sets the ticker to the end of the rest or, with pacing, to the next step, whichever comes first; `false` without both.
    fn set_alarm(&mut self, behind: bool) -> bool {
        let paced = !self.is_raw() && !behind;
        let due = if paced { self.pacer.due(self.began.elapsed()).map(|at| self.began + at) } else { None };
        let alarm = [due, self.rests_until].into_iter().flatten().min();
        if let Some(at) = alarm.filter(|_| alarm != self.alarm) {
            self.ticker.reset_at(at);
        }
        self.alarm = alarm;
        alarm.is_some()
    }

    /// Whether to read more of this side's reply now. A whole reply is read whatever its length.
    fn reads(&self, side: Side) -> bool {
        let room = self.settings.pacing == PacingMode::Whole || self.pacer.backlog(side) < MAX_BACKLOG;
        self.sides[side.index()].stream.is_some() && room
    }

    /// Takes all that has come of both replies, shows what is due, and rests.
    async fn read_and_show(&mut self) {
        let mut left = MAX_PARTS;
        while self.take_what_came(&mut left).await && left > 0 {
            // What is taken makes room for what a connection has read meanwhile.
            tokio::task::yield_now().await;
        }
        let due = !self.battle.readers_are_behind() && self.is_due();
        if self.is_raw() {
            self.rests_until = (due && left > 0).then(|| self.dependencies.raw_pacing_ticks.next());
        } else if left < MAX_PARTS {
            self.rest();
        }
        if due {
            self.publish_due();
        }
    }

    /// With pacing: reads no more for a while.
    fn rest(&mut self) {
        if !self.is_raw() {
            self.rests_until = self.pacer.read_every().map(|rest| Instant::now() + rest);
        }
    }

    async fn take_and_rest(&mut self, side: Side, part: Option<Result<ReplyPart, ChatError>>) {
        self.take(side, part).await;
        self.rest();
    }

    /// Takes the parts that have come, `left` at most; `true` if there were any.
    async fn take_what_came(&mut self, left: &mut usize) -> bool {
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
            // What a provider counts is for benchmarks.
            Some(Ok(ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded)) => {}
            Some(Err(error)) => self.fail(side, error).await,
            None => {
                run.end(ReplyEnding::Complete);
                self.pacer.end(side, Ending::Complete, self.began.elapsed());
            }
        }
    }

    /// Replaces the side by another model where nothing of it was seen, and breaks it off otherwise.
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
            (None, Ok(true)) => self.break_off(side),
            (_, Err(error)) => {
                tracing::error!(battle.id = %self.battle.id, error = ?error, "a failed side could not be recorded");
                self.break_off(side);
            }
        }
    }

    /// Another model for a side of which nothing was seen, in the first turn; `None` where there is none, and for a model that
    /// the visitor chose. Where the other side has broken off the battle is lost, and nobody else is asked for it.
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

    fn break_off(&mut self, side: Side) {
        self.sides[side.index()].end(ReplyEnding::Failed);
        self.pacer.end(side, Ending::Broken, self.began.elapsed());
    }

    async fn tick(&mut self, at: Instant) {
        (self.alarm, self.rests_until) = (None, None);
        if self.is_raw() {
            self.dependencies.raw_pacing_ticks.came(at);
        }
        self.read_and_show().await;
    }

    fn publish_due(&mut self) {
        let released = self.pacer.step(self.began.elapsed());
        self.publish(released);
    }

    /// Ends both replies where the visitor sees them, and closes both upstreams.
    fn cut(&mut self) {
        for run in &mut self.sides {
            if run.ended_at.is_none() || !run.shown_whole() {
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

    /// Keeps both replies, then lets the vote in.
    async fn finish(self) -> Result<TurnEnd, StoreError> {
        let stage = if self.voided { Stage::Voided } else { Stage::Ready };
        let progress = Progress { stage, turn: self.number };
        let answered = Side::BOTH.into_iter().zip(self.sides).filter(|(side, _)| self.mode.sides().contains(side));
        let replies: Vec<NewReply> = answered.map(|(side, run)| run.keep(side)).collect();
        let kept = self.dependencies.keep_replies(&self.battle.id, &self.run, progress, &replies).await?;
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

/// Waits until nobody has watched for `grace`. While other instances cannot be reached, one of them may have the
/// visitor, so the turn goes on to its end.
async fn nobody_is_there(battle: &LiveBattle, dependencies: &BattleDependencies, grace: Duration) {
    let mut bus = dependencies.events.state();
    loop {
        battle.left_alone(grace).await;
        if *bus.borrow_and_update() != BusState::Lost {
            return;
        }
        if bus.wait_for(|state| *state != BusState::Lost).await.is_err() {
            return; // The bus is gone with the arena.
        }
    }
}
