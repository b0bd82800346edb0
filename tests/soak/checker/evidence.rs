//! What is known after a run, from three independent sources: what the visitors did and received, what the database
//! holds, and what the models wrote. Plus what the arena made of its votes: the exported log and the leaderboards.

use std::fmt;

use langya::domain::battle::Side;
use serde_json::Value;

/// Everything that the checker compares.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    pub(crate) visitors: Vec<VisitorHistory>,
    pub(crate) stored: Stored,
    pub(crate) written: Vec<Written>,
    /// The exported vote log, line by line.
    pub(crate) log: Vec<Value>,
    /// Leaderboards with where each came from; all of them are to be fits of all votes.
    pub(crate) leaderboards: Vec<(String, Value)>,
}

/// One visitor. `asked` holds every prompt ever sent, whether or not an answer came.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitorHistory {
    pub(crate) asked: Vec<String>,
    pub(crate) battles: Vec<BattleHistory>,
}

/// What a visitor did in a battle that the arena had announced to it, and received about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct BattleHistory {
    pub(crate) id: String,
    pub(crate) events: Vec<Event>,
}

impl BattleHistory {
    /// Whether a vote was acknowledged.
    pub(crate) fn has_receipt(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Receipt { .. }))
    }

    /// Whether a further question was sent more than once: where two of them reach the arena, a turn that the visitor does not
    /// expect is being answered after the one that it reads.
    pub(crate) fn asked_twice(&self) -> bool {
        self.events.iter().filter(|event| **event == Event::Asked).count() > 1
    }

    /// The codes with which votes were refused. Where a question was sent twice, the arena may have refused the second one, which
    /// the visitor takes for an answer to its vote, or it answers that one and takes no vote yet.
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
    /// A further question was handed to the network.
    Asked,
    /// Came back on a new connection, knowing the events up to this one; `note` says when and where, for people.
    Resumed { after: u64, note: String },
    /// Lost the connection.
    Lost { note: String },
    /// A numbered event of the battle.
    Heard(Numbered),
    /// A vote was handed to the network.
    Voted { outcome: String },
    /// A `revealed` frame, to the letter.
    Receipt { text: String },
    /// An `error` frame in answer to a message of this type.
    Refused { asked: &'static str, code: String },
    /// The visitor had nothing left to try.
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

/// The rows of the database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    pub(crate) battles: Vec<StoredBattle>,
    pub(crate) turns: Vec<StoredTurn>,
    pub(crate) replies: Vec<StoredReply>,
    pub(crate) failures: Vec<StoredFailure>,
    /// In log order.
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

/// A model that failed on a side and was replaced, or voided the battle.
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

/// A request as a model's server saw it, and the whole reply that it wrote or would have written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) model: String,
    /// User and assistant in turns; the last one is the question.
    pub(crate) conversation: Vec<String>,
    pub(crate) text: String,
}

impl Written {
    /// What was asked last. Questions that got no reply on this side stand before it in the same message.
    pub(crate) fn question(&self) -> &str {
        self.conversation.last().and_then(|message| message.split(BETWEEN_QUESTIONS).last()).unwrap_or("")
    }

    /// The turn that it was asked in: how many questions the user's messages hold.
    pub(crate) fn turn(&self) -> u32 {
        let questions = self.conversation.iter().step_by(2).map(|message| message.split(BETWEEN_QUESTIONS).count());
        u32::try_from(questions.sum::<usize>()).unwrap_or(u32::MAX)
    }
}

/// What stands between a question without a reply and the next one, in one message. No visitor's question holds it.
pub(crate) const BETWEEN_QUESTIONS: &str = "\n\n";
