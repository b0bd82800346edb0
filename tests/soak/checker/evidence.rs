//! Evidence after a run from three independent sources: the visitors' histories, the database, and the models' records; plus the arena's
//! exported log and leaderboards.

use std::fmt;

use langya::domain::battle::Side;
use serde_json::Value;

/// Input of the checker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    pub(crate) visitors: Vec<VisitorHistory>,
    pub(crate) stored: Stored,
    pub(crate) written: Vec<Written>,
    /// Lines of the exported vote log.
    pub(crate) log: Vec<Value>,
    /// Leaderboards with their sources; all of them must be fits of all votes.
    pub(crate) leaderboards: Vec<(String, Value)>,
}

/// History of one visitor. `asked` has every prompt ever sent, whether or not an answer was received.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitorHistory {
    pub(crate) asked: Vec<String>,
    pub(crate) battles: Vec<BattleHistory>,
}

/// History of a visitor's announced battle: sent and received events.
#[derive(Debug, Clone, Default)]
pub(crate) struct BattleHistory {
    pub(crate) id: String,
    pub(crate) events: Vec<Event>,
}

impl BattleHistory {
    /// Returns whether a vote was acknowledged.
    pub(crate) fn has_receipt(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Receipt { .. }))
    }

    /// Returns whether a further question was sent more than once: if two of them reach the arena, an unexpected turn is answered after the
    /// one that the visitor reads.
    pub(crate) fn asked_twice(&self) -> bool {
        self.events.iter().filter(|event| **event == Event::Asked).count() > 1
    }

    /// Returns the codes of refused votes. If a question was sent twice, the arena may have refused the second one, which the visitor takes
    /// for an answer to its vote, or it answers that one and accepts no vote yet.
    pub(crate) fn refused_votes(&self) -> Vec<&str> {
        let refused = self.events.iter().filter_map(|event| match event {
            Event::Refused { asked: "vote", code } => Some(code.as_str()),
            _ => None,
        });
        refused.filter(|code| !(self.asked_twice() && ["not_ready", "draining"].contains(code))).collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// Sent a further question.
    Asked,
    /// Reconnected, having received the events up to this one; `note` describes time and place for readers.
    Resumed { after: u64, note: String },
    /// Lost the connection.
    Lost { note: String },
    /// Received a numbered event of the battle.
    Heard(Numbered),
    /// Sent a vote.
    Voted { outcome: String },
    /// Received a `revealed` frame with this text.
    Receipt { text: String },
    /// Received an `error` frame in answer to a message of this type.
    Refused { asked: &'static str, code: String },
    /// Gave up after all retries.
    GaveUp { why: String },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => write!(f, "asked on"),
            Self::Resumed { after, note } => write!(f, "resumed after {after}, {note}"),
            Self::Lost { note } => write!(f, "lost: {note}"),
            Self::Heard(Numbered { seq, turn, told }) => write!(f, "{seq:5} turn {turn} {told:?}"),
            Self::Voted { outcome } => write!(f, "voted {outcome}"),
            Self::Receipt { text } => write!(f, "{text}"),
            Self::Refused { asked, code } => write!(f, "{asked} refused: {code}"),
            Self::GaveUp { why } => write!(f, "gave up: {why}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbered {
    pub(crate) seq: u64,
    pub(crate) turn: u32,
    pub(crate) told: Told,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Turn,
    Text { side: Side, text: String },
    Done { side: Side },
    Ready,
    Voided,
}

/// Rows of the database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    pub(crate) battles: Vec<StoredBattle>,
    pub(crate) turns: Vec<StoredTurn>,
    pub(crate) replies: Vec<StoredReply>,
    pub(crate) failures: Vec<StoredFailure>,
    /// Votes in log order.
    pub(crate) votes: Vec<StoredVote>,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredBattle {
    pub(crate) id: String,
    pub(crate) visitor: String,
    pub(crate) stage: String,
    pub(crate) turn: u32,
    pub(crate) models: [String; 2],
}

#[derive(Debug, Clone)]
pub(crate) struct StoredTurn {
    pub(crate) battle: String,
    pub(crate) turn: u32,
    pub(crate) prompt: String,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredReply {
    pub(crate) battle: String,
    pub(crate) turn: u32,
    pub(crate) side: Side,
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) ending: String,
}

/// Failure of a model on a side, which was replaced or voided the battle.
#[derive(Debug, Clone)]
pub(crate) struct StoredFailure {
    pub(crate) battle: String,
    pub(crate) side: Side,
    pub(crate) model: String,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredVote {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) battle: String,
    pub(crate) visitor: String,
    pub(crate) models: [String; 2],
    pub(crate) outcome: String,
    pub(crate) turn: u32,
    pub(crate) receipt: String,
}

/// Request received by a model's server, with its whole reply, sent or not.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) model: String,
    /// Alternating messages of user and assistant; the last one is the question.
    pub(crate) conversation: Vec<String>,
    pub(crate) text: String,
}

impl Written {
    /// Returns the last question. Questions without a reply on this side precede it in the same message.
    pub(crate) fn question(&self) -> &str {
        self.conversation.last().and_then(|message| message.split(BETWEEN_QUESTIONS).last()).unwrap_or("")
    }

    /// Returns the turn of the request: the number of questions in the user's messages.
    pub(crate) fn turn(&self) -> u32 {
        let questions = self.conversation.iter().step_by(2).map(|message| message.split(BETWEEN_QUESTIONS).count());
        u32::try_from(questions.sum::<usize>()).unwrap_or(u32::MAX)
    }
}

/// Separator of a question without a reply and the next one in the same message. No visitor's question contains it.
pub(crate) const BETWEEN_QUESTIONS: &str = "\n\n";
