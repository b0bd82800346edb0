//! The numbered events of a battle, as its visitor sees them.
//!
//! Events are numbered without gaps from the first one. A number means the same event on every instance. A battle that is loaded
//! from the database or taken over has a new log: its numbers start [`EPOCH_GAP`] or more above all former ones, with a `Turn`
//! event, so that no client resumes in the middle of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Side;

/// Least distance between the numbers of two logs of one battle; more than a battle has events.
pub const EPOCH_GAP: u64 = 1 << 20;
/// Bytes of an event besides its text.
const EVENT_OVERHEAD_BYTES: u64 = 64;

/// Event of a battle as its visitor may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BattleEvent {
    /// A turn begins; a repeated turn is regenerated.
    Turn {
        /// The visitor's question.
        prompt: Arc<str>,
        /// Public id of the run that answers the turn ([`crate::battle::RunId::public`]), where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// Next text of a reply.
    Delta {
        /// The side of the reply.
        side: Side,
        /// The new text.
        text: String,
    },
    /// A side has ended.
    Done {
        /// The side.
        side: Side,
    },
    /// A vote may be cast.
    Ready,
    /// A side failed permanently: the battle takes no vote.
    Voided,
}

/// A numbered event with the turn to which it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventEntry {
    /// Sequence number within the battle, from 1.
    pub seq: u64,
    /// The turn.
    pub turn: u32,
    /// The event.
    pub event: BattleEvent,
}

/// A prompt with the replies of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The visitor's question.
    pub prompt: Arc<str>,
    /// The replies of sides A and B.
    pub replies: [String; 2],
}

impl Exchange {
    /// Creates an exchange without replies.
    #[must_use]
    pub fn unanswered(prompt: impl Into<Arc<str>>) -> Self {
        Self { prompt: prompt.into(), replies: Default::default() }
    }
}

/// The events of a battle in order.
#[derive(Debug)]
pub struct EventLog {
    entries: Vec<EventEntry>,
    bytes: u64,
    next_seq: u64,
}

/// Result of applying an event of another instance's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming {
    /// It was added.
    Added,
    /// It was in the log already.
    Known,
    /// Events before it are missing; it was not added.
    Gap,
}

impl EventLog {
    /// Creates an empty log whose first event will have this number.
    #[must_use]
    pub fn starting_at(first: u64) -> Self {
        Self { entries: Vec::new(), bytes: 0, next_seq: first }
    }

    /// Adds an event.
    pub fn append(&mut self, turn: u32, event: BattleEvent) {
        self.push(EventEntry { seq: self.next_seq, turn, event });
    }

    /// Adds a finished turn with the replies of these sides; `answer` is the public id of their run.
    pub fn append_turn(&mut self, turn: u32, exchange: Exchange, answer: Option<String>, sides: &[Side]) {
        self.append(turn, BattleEvent::Turn { prompt: exchange.prompt, answer });
        let replies = Side::BOTH.into_iter().zip(exchange.replies);
        for (side, text) in replies.filter(|(side, _)| sides.contains(side)) {
            if !text.is_empty() {
                self.append(turn, BattleEvent::Delta { side, text });
            }
            self.append(turn, BattleEvent::Done { side });
        }
    }

    /// Whether this log is empty and the event is the first one of a log that begins with the number `first`.
    #[must_use]
    pub fn begins_with(&self, first: u64, entry: &EventEntry) -> bool {
        self.entries.is_empty() && entry.seq == first
    }

    /// Adds an event of another instance, whose log begins with the number `first`, unless it is known or leaves a gap.
    pub fn apply_event(&mut self, first: u64, entry: EventEntry) -> Incoming {
        if self.begins_with(first, &entry) {
            self.next_seq = first;
        }
        let begins_epoch = matches!(entry.event, BattleEvent::Turn { .. }) && entry.seq >= self.next_seq + EPOCH_GAP;
        if !begins_epoch && entry.seq > self.next_seq || self.entries.is_empty() && entry.seq != first {
            return Incoming::Gap;
        }
        if !begins_epoch && entry.seq < self.next_seq {
            return Incoming::Known;
        }
        self.push(entry);
        Incoming::Added
    }

    /// Skips `distance` numbers: later events are a new epoch.
    pub fn skip(&mut self, distance: u64) {
        self.next_seq += distance;
    }

    /// The number of the first event.
    #[must_use]
    pub fn first_seq(&self) -> u64 {
        self.entries.first().map_or(self.next_seq, |entry| entry.seq)
    }

    /// The number before the one that the next event gets.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.next_seq - 1
    }

    /// The number of the latest event; `None` before there is one.
    #[must_use]
    pub fn last_seq(&self) -> Option<u64> {
        self.entries.last().map(|entry| entry.seq)
    }

    /// Bytes of all events so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The events up to and including the one numbered `seq`.
    #[must_use]
    pub fn up_to(&self, seq: u64) -> &[EventEntry] {
        &self.entries[..self.place_after(seq)]
    }

    /// The events after the one numbered `seq`.
    #[must_use]
    pub fn after(&self, seq: u64) -> &[EventEntry] {
        &self.entries[self.place_after(seq)..]
    }

    /// Returns the logged state of this turn since it last began; empty where another turn is the latest.
    #[must_use]
    pub fn latest_turn(&self, turn: u32) -> LoggedTurn {
        let begin = self.entries.iter().rposition(|entry| matches!(entry.event, BattleEvent::Turn { .. }));
        let Some(begin) = begin.filter(|at| self.entries[*at].turn == turn) else { return LoggedTurn::default() };
        let mut told = LoggedTurn { begun: true, ..LoggedTurn::default() };
        for entry in &self.entries[begin..] {
            match &entry.event {
                BattleEvent::Turn { answer, .. } => told.answer.clone_from(answer),
                BattleEvent::Done { side } => told.done[side.index()] = true,
                BattleEvent::Delta { side, text } => told.replies[side.index()].push_str(text),
                BattleEvent::Ready | BattleEvent::Voided => told.over = true,
            }
        }
        told
    }

    fn place_after(&self, seq: u64) -> usize {
        self.entries.partition_point(|entry| entry.seq <= seq)
    }

    fn push(&mut self, entry: EventEntry) {
        let text = if let BattleEvent::Delta { text, .. } = &entry.event { text.len() as u64 } else { 0 };
        self.bytes += EVENT_OVERHEAD_BYTES + text;
        self.next_seq = entry.seq + 1;
        self.entries.push(entry);
    }
}

/// Logged state of a turn since it last began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggedTurn {
    /// Whether its `Turn` event is in the log.
    pub begun: bool,
    /// Public id of the announced run, where known.
    pub answer: Option<String>,
    /// The replies of sides A and B so far.
    pub replies: [String; 2],
    /// Whether the end of each side is in the log.
    pub done: [bool; 2],
    /// Whether the turn ended: `Ready` or `Voided` is in the log.
    pub over: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(prompt: &str) -> BattleEvent {
        BattleEvent::Turn { prompt: prompt.into(), answer: None }
    }

    fn entry(seq: u64, event: BattleEvent) -> EventEntry {
        EventEntry { seq, turn: 1, event }
    }

    #[test]
    fn events_of_another_instance_come_without_gaps_and_once() {
        let mut log = EventLog::starting_at(EPOCH_GAP);
        assert_eq!(log.apply_event(1, entry(2, BattleEvent::Ready)), Incoming::Gap, "the first one is missing");
        assert!(log.begins_with(1, &entry(1, turn("Which?"))));
        assert_eq!(log.apply_event(1, entry(1, turn("Which?"))), Incoming::Added);
        assert_eq!(log.apply_event(1, entry(1, turn("Which?"))), Incoming::Known);
        assert_eq!(log.apply_event(1, entry(3, BattleEvent::Ready)), Incoming::Gap);
        assert_eq!(log.apply_event(1, entry(2, BattleEvent::Done { side: Side::A })), Incoming::Added);
        let far = 3 + EPOCH_GAP;
        assert_eq!(log.apply_event(1, entry(far, BattleEvent::Ready)), Incoming::Gap, "an epoch begins with a turn");
        assert_eq!(log.apply_event(1, entry(far, turn("Again?"))), Incoming::Added);
        assert_eq!((log.first_seq(), log.last_seq(), log.head()), (1, Some(far), far));
        assert_eq!((log.up_to(2).len(), log.after(2).len()), (2, 1));
    }

    #[test]
    fn a_turn_is_sent_since_it_last_began() {
        let mut log = EventLog::starting_at(1);
        let exchange = Exchange { replies: ["first".into(), String::new()], ..Exchange::unanswered("Which?") };
        log.append_turn(1, exchange, Some("first".into()), &Side::BOTH);
        log.append(1, BattleEvent::Ready);
        assert_eq!(log.latest_turn(2), LoggedTurn::default());
        let told = log.latest_turn(1);
        assert_eq!((told.replies[0].as_str(), told.done, told.over), ("first", [true; 2], true));
        assert_eq!(told.answer.as_deref(), Some("first"));
        log.append(1, turn("Which?"));
        assert_eq!(log.latest_turn(1), LoggedTurn { begun: true, ..LoggedTurn::default() });
    }
}
