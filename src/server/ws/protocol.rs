//! The wire of `/ws/battle`: how messages are spelt, and the one map from reasons to close codes.
//!
//! No I/O. [`ClientMessage::parse`] is total: any text gives a message or a [`ProtocolError`] that says what to send.

use std::io::{self, ErrorKind};
use std::str::Utf8Error;

use actix_web::error::PayloadError;
use actix_ws::{CloseCode, CloseReason};
use serde::{Deserialize, Serialize};

use super::chosen_models::ChosenModels;
use super::flood::WARN_AFTER;
use super::prompts::Prompts;
use super::rendered_view::{ReplyForm, ShownChanges};
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::domain::battle::mode::{BattleMode, ModelChoice};
use crate::domain::battle::progress::Refusal;
use crate::domain::battle::vote_reasons::{Reason, ReasonSet, UnknownReason};
use crate::domain::battle::vote_receipt::Receipt;
use crate::domain::battle::{BattleId, ImageId, ModelId, Outcome, Side};
use crate::infra::config::AccessMode;
use crate::infra::limits::proof_of_work::{Challenge, Solution};
use crate::services::arena::battles::Opening;

/// Bytes of one message at most.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Close code of a socket whose visitor has signed out; 4000 to 4999 are for applications.
const SIGNED_OUT: u16 = 4401;

/// No battle has this many events; a greater number in a `resume` means this one.
const MAX_SEQ: u64 = 1 << 53;

/// What a client asks for. `battle` left out means the socket's latest battle.
#[derive(Debug, Clone)]
pub enum ClientMessage {
    /// A new battle.
    Start {
        /// Prompt and labels.
        opening: Opening,
        /// What was computed, where the arena asked for it.
        proof: Option<Solution>,
        /// The version of the text that the visitor agreed to.
        consent: Option<String>,
        /// In which form the client wants replies.
        form: ReplyForm,
    },
    /// The next turn.
    Message {
        /// Which battle.
        battle: Option<BattleId>,
        /// The next question.
        prompt: String,
    },
    /// Go on asking both models after the vote.
    PostVoteMessage {
        /// Which battle.
        battle: Option<BattleId>,
        /// The next question.
        prompt: String,
        /// In which form the client wants replies.
        form: ReplyForm,
    },
    /// End both replies.
    Stop {
        /// Which battle.
        battle: Option<BattleId>,
    },
    /// Answer the turn again.
    Regenerate {
        /// Which battle.
        battle: Option<BattleId>,
        /// The question in other words, where it was edited.
        prompt: Option<String>,
    },
    /// Say which reply is better.
    Vote {
        /// Which battle.
        battle: Option<BattleId>,
        /// The turn that the vote is about; `None` where the client does not say, which means the latest.
        turn: Option<u32>,
        /// Which answering of the turn it is about, as its `battle` frame said; `None` where the client does not say.
        answer: Option<String>,
        /// Which reply.
        outcome: Outcome,
        /// 1 to 5.
        satisfaction: Option<i64>,
        /// Why, for sides A and B.
        reasons: [ReasonSet; 2],
    },
    /// Send a reply as the model wrote it, for a client that has HTML alone.
    Text {
        /// The turn.
        turn: u32,
        /// The side.
        side: Side,
    },
    /// Come back after a lost connection.
    Resume {
        /// Which battle.
        battle: Option<BattleId>,
        /// The last event that the client has.
        after: u64,
        /// In which form the client wants replies.
        form: ReplyForm,
    },
}

/// Why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Not JSON, or fields of the wrong kind.
    #[error("the message cannot be read ({0}): send a JSON object such as {{\"type\":\"start\",\"prompt\":\"…\"}}")]
    Invalid(String),
    /// A type that does not exist.
    #[error("unknown message type {0:?}: send start, message, stop, regenerate, vote, resume or text")]
    UnknownType(String),
    /// A binary frame.
    #[error("binary messages are not supported: send JSON as text")]
    Binary,
    /// Too long.
    #[error(
        "the message is longer than {MAX_MESSAGE_BYTES} bytes: send a shorter one; the connection is closed, and the battle can be resumed"
    )]
    TooLarge,
    /// An outcome that does not exist.
    #[error(transparent)]
    UnknownOutcome(#[from] crate::domain::battle::UnknownOutcome),
    /// A reason that does not exist.
    #[error(transparent)]
    UnknownReason(#[from] UnknownReason),
    /// A mode that does not exist.
    #[error("unknown mode {0:?}: send anonymous, named, direct or one_hidden, or leave it out")]
    UnsupportedMode(String),
    /// More messages than anybody needs.
    #[error("more than {WARN_AFTER} messages within seconds: slow down, or the connection is closed")]
    Flooding,
    /// The text that names the battle is no battle's id.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// The text that names an image is no image's id.
    #[error("no image of yours has this id: add it again")]
    UnknownImage,
    /// No battle is named and the socket has none.
    #[error("the message names no battle and this connection has none: add \"battle\", or send \"start\" first")]
    NoBattle,
}

#[derive(Deserialize)]
struct RawMessage {
    #[serde(rename = "type")]
    kind: String,
    battle: Option<String>,
    prompt: Option<String>,
    #[serde(default)]
    images: Vec<String>,
    intent: Option<String>,
    category: Option<String>,
    mode: Option<String>,
    models: Option<Vec<String>>,
    model: Option<String>,
    render: Option<String>,
    #[serde(default)]
    unrated: bool,
    outcome: Option<String>,
    satisfaction: Option<i64>,
    reasons: Option<RawReasons>,
    after: Option<u64>,
    turn: Option<u32>,
    answer: Option<String>,
    side: Option<Side>,
    proof: Option<Solution>,
    consent: Option<String>,
}

impl RawMessage {
    /// The models that the visitor asks for.
    fn choice(&self) -> Result<ModelChoice, ProtocolError> {
        let mode = self.mode.as_deref().unwrap_or(BattleMode::Anonymous.as_str());
        let mode =
            BattleMode::parse(mode).ok_or_else(|| ProtocolError::UnsupportedMode(mode.chars().take(40).collect()))?;
        let one = || {
            let model = self.model.as_deref().map(ModelId::new);
            model.ok_or_else(|| ProtocolError::Invalid(format!("the mode \"{}\" needs \"model\"", mode.as_str())))
        };
        match mode {
            BattleMode::Anonymous => Ok(ModelChoice::Drawn),
            BattleMode::Direct => one().map(ModelChoice::Alone),
            BattleMode::OneHidden => one().map(ModelChoice::OneOfTwo),
            BattleMode::Named => match self.models.as_deref() {
                Some([a, b]) if a != b => Ok(ModelChoice::Both([a, b].map(|model| ModelId::new(model.as_str())))),
                _ => Err(ProtocolError::Invalid(
                    "the mode \"named\" needs \"models\", a list of two different ids".into(),
                )),
            },
        }
    }
}

/// Reasons by side; either may be left out.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RawReasons {
    a: Vec<String>,
    b: Vec<String>,
}

impl RawReasons {
    fn parse(&self) -> Result<[ReasonSet; 2], UnknownReason> {
        let side = |words: &[String]| words.iter().map(|word| Reason::parse(word)).collect::<Result<ReasonSet, _>>();
        Ok([side(&self.a)?, side(&self.b)?])
    }
}

impl ClientMessage {
    /// Reads a text frame.
    ///
    /// # Errors
    /// [`ProtocolError`] says what to send instead.
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let raw: RawMessage = serde_json::from_str(text)
            // The parser's message may repeat what was sent.
            .map_err(|error| ProtocolError::Invalid(error.to_string().chars().take(200).collect()))?;
        let missing = |field: &str| ProtocolError::Invalid(format!("{} needs \"{field}\"", raw.kind));
        let battle = || {
            let parse = |text| BattleId::parse(text).ok_or(ProtocolError::UnknownBattle);
            raw.battle.as_deref().map(parse).transpose()
        };
        let form = ReplyForm::parse(raw.render.as_deref());
        match raw.kind.as_str() {
            "start" => {
                let choice = raw.choice()?;
                let prompt = raw.prompt.clone().ok_or_else(|| missing("prompt"))?;
                let images = raw.images.iter().map(|id| ImageId::parse(id).ok_or(ProtocolError::UnknownImage));
                let images = images.collect::<Result<_, _>>()?;
                let opening = Opening { prompt, images, intent: raw.intent, category: raw.category, choice };
                Ok(Self::Start { opening, proof: raw.proof, consent: raw.consent, form })
            }
            "message" => {
                let prompt = raw.prompt.clone().ok_or_else(|| missing("prompt"))?;
                let battle = battle()?;
                Ok(if raw.unrated {
                    Self::PostVoteMessage { battle, prompt, form }
                } else {
                    Self::Message { battle, prompt }
                })
            }
            "stop" => Ok(Self::Stop { battle: battle()? }),
            "regenerate" => Ok(Self::Regenerate { battle: battle()?, prompt: raw.prompt.clone() }),
            "vote" => {
                let outcome = Outcome::parse(raw.outcome.as_deref().ok_or_else(|| missing("outcome"))?)?;
                let reasons = raw.reasons.as_ref().map_or(Ok(Default::default()), RawReasons::parse)?;
                let (battle, turn, answer) = (battle()?, raw.turn, raw.answer.clone());
                Ok(Self::Vote { battle, turn, answer, outcome, satisfaction: raw.satisfaction, reasons })
            }
            "resume" => Ok(Self::Resume { battle: battle()?, after: raw.after.unwrap_or(0).min(MAX_SEQ), form }),
            "text" => {
                let (turn, side) = (raw.turn.ok_or_else(|| missing("turn"))?, raw.side.ok_or_else(|| missing("side"))?);
                Ok(Self::Text { turn, side })
            }
            other => Err(ProtocolError::UnknownType(other.chars().take(40).collect())),
        }
    }
}

/// What the server says. Before `revealed` nothing in it depends on who the models are, other than their text.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ServerMessage<'a> {
    /// A turn begins; the same turn again means that it is answered again.
    Battle {
        /// The battle.
        battle: &'a BattleId,
        /// The turn.
        turn: u32,
        /// Event number.
        seq: u64,
        /// Names this answering of the turn; a vote that repeats it is about no other.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<&'a str>,
        /// The question: only for a client that may not have it.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<&'a str>,
        /// The images beside the first question, with it.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        images: &'a [ImageId],
        /// The mode and the models of the visitor's choice, where it is not anonymous.
        #[serde(flatten)]
        chosen: Option<&'a ChosenModels>,
    },
    /// More of a reply.
    Delta {
        /// The battle.
        battle: &'a BattleId,
        /// The turn.
        turn: u32,
        /// The side.
        side: Side,
        /// The new text.
        text: &'a str,
        /// Event number.
        seq: u64,
    },
    /// A block of a reply as safe HTML, new or written again; empty where it is gone.
    Html {
        /// The battle.
        battle: &'a BattleId,
        /// The turn.
        turn: u32,
        /// The side.
        side: Side,
        /// Position of the block in the reply.
        block: usize,
        /// Safe HTML.
        html: &'a str,
    },
    /// What changes in the blocks of the battle that the client watches, on both sides.
    Blocks(&'a ShownChanges),
    /// A reply as the model wrote it.
    Text {
        /// The turn.
        turn: u32,
        /// The side.
        side: Side,
        /// The text; `null` where this socket has not shown such a turn.
        text: Option<&'a str>,
    },
    /// A side has ended.
    Done {
        /// The battle.
        battle: &'a BattleId,
        /// The turn.
        turn: u32,
        /// The side.
        side: Side,
        /// Event number.
        seq: u64,
    },
    /// A vote may be cast.
    Ready {
        /// The battle.
        battle: &'a BattleId,
        /// The turn.
        turn: u32,
        /// Event number.
        seq: u64,
    },
    /// The model that answered.
    Revealed {
        /// The battle.
        battle: &'a BattleId,
        /// Vote, names, rating changes, speeds.
        #[serde(flatten)]
        receipt: &'a Receipt,
    },
    /// What went wrong and what to do.
    Error {
        /// A word for programs.
        code: &'static str,
        /// A sentence for people.
        message: String,
        /// The battle, where one is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        battle: Option<&'a BattleId>,
        /// Event number, where it is an event of the battle.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// Seconds after which the same may be granted.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// What to compute first.
        #[serde(skip_serializing_if = "Option::is_none")]
        proof: Option<&'a Challenge>,
    },
}

impl<'a> ServerMessage<'a> {
    /// An event of a battle as the wire says it.
    #[must_use]
    pub fn of_entry(
        battle: &'a BattleId,
        entry: &'a EventEntry,
        prompts: &'a Prompts,
        chosen: Option<&'a ChosenModels>,
    ) -> Self {
        let (turn, seq) = (entry.turn, entry.seq);
        match &entry.event {
            BattleEvent::Turn { prompt, answer } => {
                let answer = answer.as_deref();
                let (prompt, images) = prompts.of_turn(turn, seq, prompt);
                Self::Battle { battle, turn, seq, answer, prompt, images, chosen }
            }
            BattleEvent::Delta { side, text } => Self::Delta { battle, turn, side: *side, text, seq },
            BattleEvent::Done { side } => Self::Done { battle, turn, side: *side, seq },
            BattleEvent::Ready => Self::Ready { battle, turn, seq },
            BattleEvent::Voided => Self::Error {
                code: "voided",
                message: chosen.map_or(Refusal::Voided, ChosenModels::failure).to_string(),
                battle: Some(battle),
                seq: Some(seq),
                retry_after: None,
                proof: None,
            },
        }
    }

    /// The JSON text of the frame.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("messages are plain text and finite numbers")
    }
}

/// Why the server ends a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// A message over the limit.
    TooLarge,
    /// A frame that is no websocket frame.
    Malformed,
    /// Text that is not UTF-8.
    NotText,
    /// Messages without end.
    Flooding,
    /// No answer to pings.
    Silent,
    /// The visitor has signed out, or has to sign in again.
    SignedOut,
    /// The visitor's texts are deleted and the session has ended, in an open arena: the next connection begins another one.
    SessionEnded,
    /// The process ends.
    Restart,
    /// Another instance has taken the battle on.
    Moved,
}

impl From<Closing> for CloseReason {
    fn from(closing: Closing) -> Self {
        let (code, why) = match closing {
            Closing::TooLarge => (CloseCode::Size, "message too large"),
            Closing::Malformed => (CloseCode::Protocol, "malformed frame"),
            Closing::NotText => (CloseCode::Invalid, "text that is not UTF-8"),
            Closing::Flooding => (CloseCode::Policy, "too many messages"),
            Closing::Silent => (CloseCode::Normal, "no answer to pings"),
            Closing::SignedOut => (CloseCode::Other(SIGNED_OUT), "signed out: sign in again"),
            Closing::SessionEnded => (CloseCode::Restart, "the session has ended: come back"),
            Closing::Restart => (CloseCode::Restart, "the arena restarts: come back"),
            Closing::Moved => (CloseCode::Restart, "the battle goes on elsewhere: come back"),
        };
        Self { code, description: Some(why.to_owned()) }
    }
}

impl Closing {
    /// Why a socket ends whose session has ended: where people sign in, they have to sign in again.
    pub(super) fn of_ended_session(mode: AccessMode) -> Self {
        if mode == AccessMode::Open { Self::SessionEnded } else { Self::SignedOut }
    }

    /// Why a frame that could not be read ends the socket; `None` where the client is gone. The websocket crate reports
    /// most of it as an I/O error: of the payload, of the text, or of a message in too many pieces.
    pub(super) fn for_error(error: &actix_ws::ProtocolError) -> Option<Self> {
        let actix_ws::ProtocolError::Io(io) = error else {
            let is_overflow = matches!(error, actix_ws::ProtocolError::Overflow);
            return Some(if is_overflow { Self::TooLarge } else { Self::Malformed });
        };
        match (io.get_ref().and_then(|inner| inner.downcast_ref::<PayloadError>()), io.kind()) {
            (Some(PayloadError::Overflow), _) => Some(Self::TooLarge),
            (Some(_), _) => None,
            (None, ErrorKind::InvalidData) if is_not_utf8(io) => Some(Self::NotText),
            (None, ErrorKind::InvalidData) => Some(Self::Malformed),
            (None, ErrorKind::Other) => Some(Self::TooLarge),
            (None, _) => None,
        }
    }
}

/// Whether bytes were no text. Of a message in several frames the websocket crate keeps the error's words only.
fn is_not_utf8(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Utf8Error>() || inner.to_string().contains("utf-8"))
}
