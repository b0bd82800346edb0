//! A battle as an instance holds it in memory: where it stands, its texts, and the log of its events.
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
    /// Where it stands.
    pub row: BattleRow,
    /// Its questions, and what was answered as the visitor sees it.
    pub exchanges: Vec<Exchange>,
    /// The replies of finished turns as they are stored.
    pub replies: Vec<ReplyRow>,
    /// The images beside its first question.
    pub images: Vec<ImageId>,
    /// How it is followed, if another instance answers it.
    followed: Option<FollowState>,
    log: EventLog,
}

/// How a battle that another instance answers is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowState {
    /// Its events are taken in as they come.
    Listening,
    /// Its events did not come in time, and those who watch got what the database holds. Numbers that came now
    /// would mean other events.
    Deaf,
}

/// How a turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStart<'p> {
    /// With another question.
    Message(&'p str),
    /// The latest turn is answered again, in other words where there is a prompt.
    Regenerate(Option<&'p str>),
}

impl ActiveBattle {
    /// A battle that begins now with its first prompt and the images beside it.
    #[must_use]
    pub fn begin(row: BattleRow, prompt: &str, images: Vec<ImageId>) -> Self {
        Self { images, ..Self::new(row, vec![Exchange::unanswered(prompt)], Vec::new(), 1) }
    }

    /// A battle loaded from the database: the log holds all its turns, numbered from `first`.
    #[must_use]
    pub fn restore(record: BattleRecord, first: u64) -> Self {
        let exchanges = record.exchanges();
        let mut active = Self::new(record.battle, exchanges, record.replies, first);
        active.images = record.images;
        active.forget_former_replies();
        active.log_turns();
        active
    }

    /// A battle that another instance answers. Nothing is sent until its events come; if they do not, what the database
    /// holds is sent, numbered from `first`.
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

    /// The events so far.
    #[must_use]
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Adds an event of the latest turn.
    pub fn append(&mut self, event: BattleEvent) {
        self.log.append(self.row.progress.turn, event);
    }

    /// Moves the battle on and adds the event of it.
    pub fn move_on(&mut self, stage: Stage, event: BattleEvent) {
        self.row.progress.stage = stage;
        self.append(event);
    }

    /// A turn is answered by `run` from now on; `language` is that of the first prompt where it has changed.
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

    /// The latest turn is being answered again: the database has its former replies until the new ones are whole.
    fn forget_former_replies(&mut self) {
        let Progress { stage, turn } = self.row.progress;
        if stage != Stage::Answering {
            return;
        }
        self.replies.retain(|kept| kept.turn < turn);
        let before = usize::try_from(turn).unwrap_or(usize::MAX).saturating_sub(1);
        self.exchanges.iter_mut().skip(before).for_each(|exchange| exchange.replies = Default::default());
    }

    /// The replies of a turn are in the database.
    pub fn keep_replies(&mut self, turn: u32, replies: Vec<NewReply>) {
        if let Some(exchange) = self.exchanges.last_mut() {
            for reply in &replies {
                exchange.replies[reply.side.index()].clone_from(&reply.text);
            }
        }
        self.replies.extend(replies.into_iter().map(|reply| ReplyRow { turn, reply }));
    }

    /// What a side's model is given for a turn: the questions up to it, with the side's own earlier replies.
    #[must_use]
    pub fn conversation(&self, turn: u32, side: Side) -> Vec<Message> {
        let turns = usize::try_from(turn).unwrap_or(usize::MAX);
        Message::of_exchanges(self.exchanges.iter().enumerate().take(turns).map(|(at, exchange)| {
            let reply = if at + 1 < turns { exchange.replies[side.index()].as_str() } else { "" };
            (&*exchange.prompt, reply)
        }))
    }

    /// The battle with its stored replies where it waits for its vote.
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

    /// Whether events of another instance are taken in.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.followed == Some(FollowState::Listening)
    }

    /// Takes in events of the instance that answers, whose log begins with the event numbered `first`; `true` if some
    /// are missing. That a turn is ready is left to [`ActiveBattle::catch_up`]: until then this instance could take neither
    /// a vote nor a question.
    pub fn take_in(&mut self, first: u64, mut entries: Vec<EventEntry>) -> bool {
        entries.pop_if(|last| last.event == BattleEvent::Ready);
        for entry in entries {
            if self.log.begins_with(first, &entry) {
                // The log over there begins with the battle's first turn: this is all of it.
                self.exchanges.clear();
            }
            match self.log.take_in(first, entry.clone()) {
                Incoming::Added => self.note(&entry),
                Incoming::Known => {}
                Incoming::Gap => return true,
            }
        }
        false
    }

    /// Keeps the texts beside the log of a battle that is followed.
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

    /// The other instance cannot be reached: the log gets what the database holds, and the rest comes by
    /// [`ActiveBattle::catch_up`].
    pub fn mark_unreachable(&mut self) {
        if self.listens() && self.log.is_empty() {
            self.followed = Some(FollowState::Deaf);
            self.log_turns();
        }
    }

    /// The turn has ended elsewhere: sends its end, and all of it again where not all of it was sent, with numbers that are
    /// `apart` from those so far. From now on the battle is one of this instance.
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
            // Its replies may still be on their way into the database, and nobody compares them any more.
            if !told.over {
                self.append(BattleEvent::Voided);
            }
            return;
        }
        self.exchanges = exchanges;
        let Some(last) = self.exchanges.last().cloned() else { return };
        let sides = self.row.mode.sides();
        // Votes name the answering, so the same text of another one is sent again.
        let is_same = told.answer.is_none() || told.answer == self.row.answer();
        let is_told = is_same && sides.iter().all(|side| told.done[side.index()]) && told.replies == last.replies;
        if !is_told {
            self.log.skip(apart);
            self.log.append_turn(progress.turn, last, self.row.answer(), sides);
        }
        match progress.stage {
            _ if is_told && told.over => {}
            // A second vote on a battle gets the receipt of that one.
            Stage::Ready | Stage::Voted => self.append(BattleEvent::Ready),
            Stage::Voided => self.append(BattleEvent::Voided),
            Stage::Answering | Stage::Abandoned => {}
        }
    }

    /// The instance that answered is gone, and this one takes its place, with numbers that are `apart` from those so far:
    /// the other one may have sent more, and may come back. `record` is how it left the battle: its models are not always those
    /// that it began with, and what it sent may end before this turn.
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

    /// Adds the turn before the latest one, where the log ends in the middle of it.
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
