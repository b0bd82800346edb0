//! The protocol of `/ws/battle`: message format, and mapping from reasons to close codes.
//!
//! No I/O. [`ClientMessage::parse`] is total: any text gives a message or a [`ProtocolError`] that says what to send instead.

use std::io::{self, ErrorKind};
use std::str::Utf8Error;

use actix_web::error::PayloadError;
use actix_ws::{CloseCode, CloseReason};
use serde::{Deserialize, Serialize};

use super::chosen_models::ChosenModels;
use super::message_rate_limit::MAX_MESSAGES_PER_WINDOW;
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

/// Maximum size of a message in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Close code of a socket whose visitor has signed out; 4000 to 4999 are reserved for applications.
const SIGNED_OUT: u16 = 4401;

/// Event number that no battle reaches; a greater number in a `resume` means this one.
const MAX_SEQ: u64 = 1 << 53;

/// Message from a client. Without `battle` it refers to the socket's latest battle.
#[derive(Debug, Clone)]
pub enum ClientMessage {
    /// Starts a battle.
    Start {
        /// Prompt, mode and labels.
        opening: Opening,
        /// Solution of a proof-of-work challenge, if the arena demanded one.
        proof: Option<Solution>,
        /// Version of the consent text that the visitor agreed to.
        consent: Option<String>,
        /// Requested form of replies.
        form: ReplyForm,
    },
    /// Sends the prompt of the next turn.
    Message {
        /// Id of the battle.
        battle: Option<BattleId>,
        /// Next prompt.
        prompt: String,
    },
    /// Sends a further prompt to both models after the vote.
    PostVoteMessage {
        /// Id of the battle.
        battle: Option<BattleId>,
        /// Next prompt.
        prompt: String,
        /// Requested form of replies.
        form: ReplyForm,
    },
    /// Stops both replies.
    Stop {
        /// Id of the battle.
        battle: Option<BattleId>,
    },
    /// Regenerates the replies of the turn.
    Regenerate {
        /// Id of the battle.
        battle: Option<BattleId>,
        /// Edited prompt; `None` to keep it.
        prompt: Option<String>,
    },
    /// Votes for the better reply.
    Vote {
        /// Id of the battle.
        battle: Option<BattleId>,
        /// Turn that the vote is about; `None` for the latest.
        turn: Option<u32>,
        /// Id of the turn's generation that the vote is about, from its `battle` frame; `None` if the client does not send it.
        answer: Option<String>,
        /// Outcome of the vote.
        outcome: Outcome,
        /// Satisfaction rating, 1 to 5.
        satisfaction: Option<i64>,
        /// Reasons for sides A and B.
        reasons: [ReasonSet; 2],
    },
    /// Requests the raw text of a reply, for a client that only has HTML.
    Text {
        /// Turn of the reply.
        turn: u32,
        /// Side of the reply.
        side: Side,
    },
    /// Resumes a battle after a lost connection.
    Resume {
        /// Id of the battle.
        battle: Option<BattleId>,
        /// Number of the last event received.
        after: u64,
        /// Requested form of replies.
        form: ReplyForm,
    },
}

/// Error of an invalid message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The message is not JSON, or a field has the wrong type.
    #[error("the message cannot be read ({0}): send a JSON object such as {{\"type\":\"start\",\"prompt\":\"…\"}}")]
    Invalid(String),
    /// The message type is unknown.
    #[error("unknown message type {0:?}: send start, message, stop, regenerate, vote, resume or text")]
    UnknownType(String),
    /// The frame is binary.
    #[error("binary messages are not supported: send JSON as text")]
    Binary,
    /// The message is too long.
    #[error(
        "the message is longer than {MAX_MESSAGE_BYTES} bytes: send a shorter one; the connection is closed, and the battle can be resumed"
    )]
    TooLarge,
    /// The outcome is unknown.
    #[error(transparent)]
    UnknownOutcome(#[from] crate::domain::battle::UnknownOutcome),
    /// The reason is unknown.
    #[error(transparent)]
    UnknownReason(#[from] UnknownReason),
    /// The mode is unknown.
    #[error("unknown mode {0:?}: send anonymous, named, direct or one_hidden, or leave it out")]
    UnsupportedMode(String),
    /// The client sends too many messages.
    #[error("more than {MAX_MESSAGES_PER_WINDOW} messages within seconds: slow down, or the connection is closed")]
    Flooding,
    /// The battle id is malformed.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// The image id is malformed.
    #[error("no image of yours has this id: add it again")]
    UnknownImage,
    /// No battle is named, and the socket has none.
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
    /// Parses the models that the visitor chose.
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

/// Reasons by side; either may be missing.
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
    /// Parses a text frame.
    ///
    /// # Errors
    /// [`ProtocolError`] says what to send instead.
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let raw: RawMessage = serde_json::from_str(text)
            // The parser's message may repeat the input.
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

/// Message from the server. Before `revealed`, nothing but the text of the replies depends on the models' identities.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ServerMessage<'a> {
    /// Start of a turn; a repeated turn is being regenerated.
    Battle {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Number of the turn.
        turn: u32,
        /// Event number.
        seq: u64,
        /// Id of this generation of the turn; a vote that repeats it applies to no other.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<&'a str>,
        /// Prompt, only for a client that may lack it.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<&'a str>,
        /// Images beside the first prompt, with it.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        images: &'a [ImageId],
        /// Mode and chosen models; `None` for an anonymous battle.
        #[serde(flatten)]
        chosen: Option<&'a ChosenModels>,
    },
    /// Further text of a reply.
    Delta {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Number of the turn.
        turn: u32,
        /// Side of the reply.
        side: Side,
        /// New text.
        text: &'a str,
        /// Event number.
        seq: u64,
    },
    /// Block of a reply as safe HTML, new or changed; empty if removed.
    Html {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Number of the turn.
        turn: u32,
        /// Side of the reply.
        side: Side,
        /// Position of the block in the reply.
        block: usize,
        /// Safe HTML.
        html: &'a str,
    },
    /// Changed blocks of the watched battle, on both sides.
    Blocks(&'a ShownChanges),
    /// Raw text of a reply.
    Text {
        /// Number of the turn.
        turn: u32,
        /// Side of the reply.
        side: Side,
        /// Text; `null` if this socket has not shown the turn.
        text: Option<&'a str>,
    },
    /// End of a side's reply.
    Done {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Number of the turn.
        turn: u32,
        /// Side of the reply.
        side: Side,
        /// Event number.
        seq: u64,
    },
    /// Voting is possible.
    Ready {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Number of the turn.
        turn: u32,
        /// Event number.
        seq: u64,
    },
    /// Identities of the models after the vote.
    Revealed {
        /// Id of the battle.
        battle: &'a BattleId,
        /// Receipt: vote, names, rating changes, speeds.
        #[serde(flatten)]
        receipt: &'a Receipt,
    },
    /// Error with its remedy.
    Error {
        /// Machine-readable code.
        code: &'static str,
        /// Reason, where one code has several.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
        /// Message for the visitor.
        message: String,
        /// Id of the battle, if the error concerns one.
        #[serde(skip_serializing_if = "Option::is_none")]
        battle: Option<&'a BattleId>,
        /// Event number, if the error is an event of the battle.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// Seconds after which the same request may be granted.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// Proof-of-work challenge to solve first.
        #[serde(skip_serializing_if = "Option::is_none")]
        proof: Option<&'a Challenge>,
    },
}

impl<'a> ServerMessage<'a> {
    /// Converts an event of a battle to a message.
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
                reason: None,
                message: chosen.map_or(Refusal::Voided, ChosenModels::failure).to_string(),
                battle: Some(battle),
                seq: Some(seq),
                retry_after: None,
                proof: None,
            },
        }
    }

    /// Serialises the message as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("messages are plain text and finite numbers")
    }
}

/// Reason why the server closes a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// A message exceeds the limit.
    TooLarge,
    /// A frame is malformed.
    Malformed,
    /// Text that is not UTF-8.
    NotText,
    /// The client sends too many messages.
    Flooding,
    /// The client does not answer pings.
    Silent,
    /// The visitor has signed out, or has to sign in again.
    SignedOut,
    /// The visitor's texts are deleted and the session has ended, in an open arena: the next connection begins another one.
    SessionEnded,
    /// The process is shutting down.
    Restart,
    /// Another instance has taken over the battle.
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
    /// Returns the reason for a socket whose session has ended: in an arena with sign-in, the visitor has to sign in again.
    pub(super) fn of_ended_session(mode: AccessMode) -> Self {
        if mode == AccessMode::Open { Self::SessionEnded } else { Self::SignedOut }
    }

    /// Returns the reason for a frame that could not be read; `None` if the client is gone. The websocket crate reports most cases as an
    /// I/O error: of the payload, of the text, or of a message in too many fragments.
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

/// Whether bytes were not UTF-8. For a fragmented message the websocket crate keeps only the error's text.
fn is_not_utf8(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Utf8Error>() || inner.to_string().contains("utf-8"))
}
