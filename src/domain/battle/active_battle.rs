//! In-memory state of a battle: its row, its texts, and the log of its events.
//!
//! A battle that another instance answers is *followed*: its log is a copy of that instance's log.

use std::sync::Arc;

use super::event_log::{BattleEvent, EventEntry, EventLog, Exchange, Incoming};
use super::message::Message;
use super::progress::{Progress, Stage};
use super::record::{BattleRecord, BattleRow, NewReply, ReplyRow, TurnRow};
use super::{ImageId, RunId, Side};

/// A battle with its texts and events.
#[derive(Debug)]
pub struct ActiveBattle {
    /// Current row of the battle.
    pub row: BattleRow,
    /// Prompts with the replies that the visitor sees.
    pub exchanges: Vec<Exchange>,
    /// Stored replies of finished turns.
    pub replies: Vec<ReplyRow>,
    /// Images of the first prompt.
    pub images: Vec<ImageId>,
    /// Follow state, if another instance answers the battle.
    followed: Option<FollowState>,
    log: EventLog,
}

/// Follow state of a battle that another instance answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowState {
    /// Events of the other instance are applied as they arrive.
    Listening,
    /// The events did not arrive in time, and viewers were sent the database's state. Later events are ignored: their numbers would
    /// mean other events.
    Unreachable,
}

/// Action that starts a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStart<'p> {
    /// A new prompt.
    Message(&'p str),
    /// Regeneration of the latest turn, with an edited prompt if there is one.
    Regenerate(Option<&'p str>),
}

impl ActiveBattle {
    /// Creates a battle with its first prompt and its images.
    #[must_use]
    pub fn begin(row: BattleRow, prompt: &str, images: Vec<ImageId>) -> Self {
        Self { images, ..Self::new(row, vec![Exchange::unanswered(prompt)], Vec::new(), 1) }
    }

    /// Restores a battle from the database: the log holds all its turns, numbered from `first`.
    #[must_use]
    pub fn restore(record: BattleRecord, first: u64) -> Self {
        let exchanges = record.exchanges();
        let mut active = Self::new(record.battle, exchanges, record.replies, first);
        active.images = record.images;
        active.forget_former_replies();
        active.log_turns();
        active
    }

    /// Creates a battle that another instance answers. Nothing is sent until its events arrive; if they do not, the database's state
    /// is sent, numbered from `first`.
    #[must_use]
    pub fn follow(record: BattleRecord, first: u64) -> Self {
        let exchanges = record.exchanges();
        let (images, followed) = (record.images, Some(FollowState::Listening));
        Self { images, followed, ..Self::new(record.battle, exchanges, Vec::new(), first) }
    }

    fn new(row: BattleRow, exchanges: Vec<Exchange>, replies: Vec<ReplyRow>, first: u64) -> Self {
        Self { row, exchanges, replies, images: Vec::new(), followed: None, log: EventLog::starting_at(first) }
    }

    fn log_turns(&mut self) {
        let progress = self.row.progress;
        for (turn, exchange) in (1..).zip(self.exchanges.clone()) {
            if progress.stage == Stage::Answering && turn == progress.turn {
                break; // The interrupted turn is announced when it is answered again.
            }
            let answer = self.row.answer().filter(|_| turn == progress.turn);
            self.log.append_turn(turn, exchange, answer, self.row.mode.sides());
        }
        match progress.stage {
            Stage::Ready => self.append(BattleEvent::Ready),
            Stage::Voided => self.append(BattleEvent::Voided),
            Stage::Answering | Stage::Voted | Stage::Abandoned => {}
        }
    }

    /// Log of the events so far.
    #[must_use]
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Adds an event of the latest turn.
    pub fn append(&mut self, event: BattleEvent) {
        self.log.append(self.row.progress.turn, event);
    }

    /// Sets the stage and adds its event.
    pub fn move_on(&mut self, stage: Stage, event: BattleEvent) {
        self.row.progress.stage = stage;
        self.append(event);
    }

    /// Starts a turn that `run` answers; `language` is that of the first prompt where it has changed.
    pub fn begin_turn(&mut self, turn: u32, begun: TurnStart<'_>, run: &RunId, language: Option<&str>) {
        self.row.progress.turn = turn;
        self.row.answered_by = Some(run.clone());
        if let Some(language) = language {
            language.clone_into(&mut self.row.language);
        }
        match begun {
            TurnStart::Message(prompt) => self.exchanges.push(Exchange::unanswered(prompt)),
            TurnStart::Regenerate(edited) => {
                self.row.progress.stage = Stage::Answering;
                self.forget_former_replies();
                if let (Some(exchange), Some(prompt)) = (self.exchanges.last_mut(), edited) {
                    exchange.prompt = prompt.into();
                }
            }
        }
    }

    /// Drops the former replies of a turn that is being regenerated: the database keeps them until the new ones are complete.
    fn forget_former_replies(&mut self) {
        let Progress { stage, turn } = self.row.progress;
        if stage != Stage::Answering {
            return;
        }
        self.replies.retain(|kept| kept.turn < turn);
        let before = usize::try_from(turn).unwrap_or(usize::MAX).saturating_sub(1);
        self.exchanges.iter_mut().skip(before).for_each(|exchange| exchange.replies = Default::default());
    }

    /// Records the stored replies of a turn.
    pub fn keep_replies(&mut self, turn: u32, replies: Vec<NewReply>) {
        if let Some(exchange) = self.exchanges.last_mut() {
            for reply in &replies {
                exchange.replies[reply.side.index()].clone_from(&reply.text);
            }
        }
        self.replies.extend(replies.into_iter().map(|reply| ReplyRow { turn, reply }));
    }

    /// Messages for a side's model in a turn: the prompts up to it, with the side's own earlier replies.
    #[must_use]
    pub fn conversation(&self, turn: u32, side: Side) -> Vec<Message> {
        let turns = usize::try_from(turn).unwrap_or(usize::MAX);
        Message::of_exchanges(self.exchanges.iter().enumerate().take(turns).map(|(at, exchange)| {
            let reply = if at + 1 < turns { exchange.replies[side.index()].as_str() } else { "" };
            (&*exchange.prompt, reply)
        }))
    }

    /// Returns the battle with its stored replies if it awaits its vote.
    #[must_use]
    pub fn awaiting_vote(&self) -> Option<BattleRecord> {
        let turn = |(turn, exchange): (u32, &Exchange)| TurnRow { turn, prompt: exchange.prompt.to_string() };
        (self.row.progress.stage == Stage::Ready).then(|| BattleRecord {
            battle: self.row.clone(),
            turns: (1..).zip(&self.exchanges).map(turn).collect(),
            replies: self.replies.clone(),
            images: self.images.clone(),
        })
    }

    /// Whether another instance answers it.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.followed.is_some()
    }

    /// Whether events of another instance are applied.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.followed == Some(FollowState::Listening)
    }

    /// Applies events of the answering instance, whose log begins with the event numbered `first`; returns `true` if some are missing.
    /// `Ready` is left to [`ActiveBattle::catch_up`]: until then this instance could accept neither a vote nor a prompt.
    pub fn apply_events(&mut self, first: u64, mut entries: Vec<EventEntry>) -> bool {
        entries.pop_if(|last| last.event == BattleEvent::Ready);
        for entry in entries {
            if self.log.begins_with(first, &entry) {
                // The log of the other instance begins with the battle's first turn and is complete.
                self.exchanges.clear();
            }
            match self.log.apply_event(first, entry.clone()) {
                Incoming::Added => self.note(&entry),
                Incoming::Known => {}
                Incoming::Gap => return true,
            }
        }
        false
    }

    /// Updates the texts of a followed battle from an event.
    fn note(&mut self, entry: &EventEntry) {
        let before = usize::try_from(entry.turn).unwrap_or(usize::MAX).saturating_sub(1);
        match &entry.event {
            BattleEvent::Turn { prompt, .. } => {
                self.row.progress.turn = entry.turn;
                self.exchanges.truncate(before);
                self.exchanges.push(Exchange::unanswered(Arc::clone(prompt)));
            }
            BattleEvent::Delta { side, text } => {
                if let Some(exchange) = self.exchanges.get_mut(before) {
                    exchange.replies[side.index()].push_str(text);
                }
            }
            BattleEvent::Done { .. } | BattleEvent::Ready | BattleEvent::Voided => {}
        }
    }

    /// Marks the other instance as unreachable: the log gets the database's state, and [`ActiveBattle::catch_up`] adds the rest.
    pub fn mark_unreachable(&mut self) {
        if self.listens() && self.log.is_empty() {
            self.followed = Some(FollowState::Unreachable);
            self.log_turns();
        }
    }

    /// Takes over a battle whose turn ended on another instance: sends its end, or the whole turn again where the log is incomplete, with
    /// numbers that skip `apart` from those so far.
    pub fn catch_up(&mut self, record: BattleRecord, apart: u64) {
        let exchanges = record.exchanges();
        self.followed = None;
        self.row = record.battle;
        let progress = self.row.progress;
        if self.log.is_empty() {
            self.exchanges = exchanges;
            return self.log_turns();
        }
        let told = self.log.latest_turn(progress.turn);
        if progress.stage == Stage::Voided && told.begun {
            // Its replies may not be stored yet, and no vote compares them any more.
            if !told.over {
                self.append(BattleEvent::Voided);
            }
            return;
        }
        self.exchanges = exchanges;
        let Some(last) = self.exchanges.last().cloned() else { return };
        let sides = self.row.mode.sides();
        // Votes name the run, so the same text of another run is sent again.
        let is_same = told.answer.is_none() || told.answer == self.row.answer();
        let is_told = is_same && sides.iter().all(|side| told.done[side.index()]) && told.replies == last.replies;
        if !is_told {
            self.log.skip(apart);
            self.log.append_turn(progress.turn, last, self.row.answer(), sides);
        }
        match progress.stage {
            _ if is_told && told.over => {}
            // A second vote on a battle gets the first vote's receipt.
            Stage::Ready | Stage::Voted => self.append(BattleEvent::Ready),
            Stage::Voided => self.append(BattleEvent::Voided),
            Stage::Answering | Stage::Abandoned => {}
        }
    }

    /// Takes over a battle from a failed instance, with numbers that skip `apart` from those so far: the other instance may have sent more,
    /// and may come back. `record` is its last stored state: its models may differ from the first ones, and the events received may end
    /// before this turn.
    pub fn adopt(&mut self, record: BattleRecord, apart: u64) {
        self.exchanges = record.exchanges();
        (self.row, self.replies, self.images) = (record.battle, record.replies, record.images);
        self.forget_former_replies();
        if self.followed.take().is_none() {
            return;
        }
        self.log.skip(apart);
        if self.log.is_empty() { self.log_turns() } else { self.log_turn_before() }
    }

    /// Adds the turn before the latest one if the log ends in the middle of it.
    fn log_turn_before(&mut self) {
        let latest = self.row.progress.turn;
        let before = latest.saturating_sub(1);
        let at = usize::try_from(before).unwrap_or(usize::MAX).saturating_sub(1);
        if before == 0 || self.log.latest_turn(latest).begun {
            return;
        }
        let (sent, sides) = (self.log.latest_turn(before), self.row.mode.sides());
        let Some(exchange) = self.exchanges.get(at).cloned() else { return };
        let is_sent = sent.replies == exchange.replies && sides.iter().all(|side| sent.done[side.index()]);
        if !is_sent {
            self.log.append_turn(before, exchange, None, sides);
        }
    }
}

#[cfg(test)]
mod tests;
