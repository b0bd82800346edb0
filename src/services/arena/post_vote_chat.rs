//! Chat of a visitor with both models of a battle after the vote, when their names are known.
//!
//! It is not stored, voted on or rated, so a chat belongs to one socket and ends with it. The models are no longer hidden, so text is sent
//! without pacing.

use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;

use super::battles::BattleError;
use super::voting::Voting;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::domain::battle::message::{Message, PromptImage};
use crate::domain::battle::progress::{Refusal, Stage};
use crate::domain::battle::{BattleId, Side, VisitorId};
use crate::domain::visible_text::has_visible_text;
use crate::infra::limits::TurnPermit;
use crate::infra::llm::resilient_model::{ResilientModel, VisitorQuestion};
use crate::infra::llm::{ChatError, ReplyPart, ReplyStream};
use crate::infra::storage::{BattleRecord, StoreError};

/// Error of a chat after the vote.
#[derive(Debug, thiserror::Error)]
pub enum PostVoteChatError {
    /// No such battle, or it is another visitor's.
    #[error("no battle of yours has this id: start a new battle")]
    UnknownBattle,
    /// The battle has no vote yet.
    #[error("this battle has no vote yet: vote first, or send the message without \"unrated\"")]
    NotVoted,
    /// The action is not allowed at this stage.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A model has left the arena, or is unknown to this instance.
    #[error("one of the two models cannot be asked any more: start a new battle")]
    ModelGone,
    /// The prompt is invalid or refused.
    #[error(transparent)]
    Question(#[from] BattleError),
    /// The database failed.
    #[error("the battle could not be read: try again in a minute")]
    Store(#[from] StoreError),
}

/// Conversation with both models of a battle that continues after the vote.
pub struct PostVoteChat {
    /// Id of the battle.
    pub battle: BattleId,
    visitor: VisitorId,
    turn: u32,
    seq: u64,
    /// Maximum length of a reply in bytes, as in a battle.
    max_reply_bytes: usize,
    /// Whether the battle's texts existed when the chat began.
    has_texts: bool,
    /// Both sides; only the first where one model answers alone.
    sides: Vec<ChatSide>,
    /// Held while the models answer.
    permit: Option<TurnPermit>,
}

struct ChatSide {
    model: Arc<ResilientModel>,
    messages: Vec<Message>,
    reply: String,
    stream: Option<ReplyStream>,
}

impl PostVoteChat {
    /// Opens a chat on the visitor's own battle that has its vote and allows another turn.
    ///
    /// # Errors
    /// [`PostVoteChatError`].
    pub async fn open(voting: &Voting, visitor: &VisitorId, battle: &BattleId) -> Result<Self, PostVoteChatError> {
        let record = voting.store.battle_record(battle).await?.filter(|record| record.battle.visitor == *visitor);
        let record = record.ok_or(PostVoteChatError::UnknownBattle)?;
        if record.battle.progress.stage != Stage::Voted {
            return Err(PostVoteChatError::NotVoted);
        }
        let images = if record.images.is_empty() { Vec::new() } else { voting.store.battle_images(battle).await? };
        voting.models.searched().await;
        let side = |side: Side| {
            let model =
                voting.models.of_battle(&record.battle.models[side.index()]).ok_or(PostVoteChatError::ModelGone)?;
            Ok::<_, PostVoteChatError>(ChatSide {
                model,
                messages: messages(&record, &images, side),
                reply: String::new(),
                stream: None,
            })
        };
        let sides = record.battle.mode.sides().iter().map(|at| side(*at)).collect::<Result<_, _>>()?;
        let settings = voting.settings.now();
        let (battle, turn) = (battle.clone(), record.battle.progress.turn);
        let max_reply_bytes = settings.battle.max_reply_bytes;
        let has_texts = !record.turns.is_empty();
        let visitor = visitor.clone();
        let chat = Self { battle, visitor, turn, seq: 0, max_reply_bytes, has_texts, sides, permit: None };
        chat.takes_question(settings.battle.max_turns)?;
        Ok(chat)
    }

    /// Whether the battle's texts were deleted since the chat began: they must not be sent to a model again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_lost_its_texts(&self, voting: &Voting) -> Result<bool, StoreError> {
        Ok(self.has_texts && !voting.store.has_texts(&self.battle).await?)
    }

    /// Checks that the next prompt is allowed.
    ///
    /// # Errors
    /// [`Refusal`] while the models answer, and after `max_turns` turns.
    pub fn takes_question(&self, max_turns: u32) -> Result<(), Refusal> {
        if self.is_answering() {
            Err(Refusal::StillAnswering)
        } else if self.turn >= max_turns {
            Err(Refusal::TooManyTurns { max: max_turns })
        } else {
            Ok(())
        }
    }

    /// Sends both models a prompt that is [allowed](Self::takes_question).
    pub fn ask(&mut self, prompt: &str, permit: TurnPermit) -> EventEntry {
        self.turn += 1;
        self.permit = Some(permit);
        for side in &mut self.sides {
            side.ask(&self.visitor, self.max_reply_bytes, prompt);
        }
        self.entry(BattleEvent::Turn { prompt: prompt.into(), answer: None })
    }

    /// Stops both replies and keeps the text so far; no-op if none is in progress.
    pub fn stop(&mut self) -> Vec<EventEntry> {
        let answering = Side::BOTH.into_iter().zip(&self.sides).filter(|(_, side)| side.stream.is_some());
        let answering: Vec<Side> = answering.map(|(side, _)| side).collect();
        answering.into_iter().flat_map(|side| self.end(side)).collect()
    }

    /// Waits for the next part of either reply; forever if none is in progress. Cancel-safe.
    pub async fn next(&mut self) -> Vec<EventEntry> {
        let mut sides = self.sides.iter_mut();
        let (a, b) = (sides.next(), sides.next());
        let (side, part) = tokio::select! {
            part = next_part(a) => (Side::A, part),
            part = next_part(b) => (Side::B, part),
        };
        match part {
            Some(Ok(ReplyPart::Text(mut text))) => {
                let reply = &mut self.sides[side.index()].reply;
                let room = self.max_reply_bytes.saturating_sub(reply.len());
                let is_full = text.len() >= room;
                text.truncate(text.floor_char_boundary(room));
                reply.push_str(&text);
                let mut entries = vec![self.entry(BattleEvent::Delta { side, text })];
                if is_full {
                    entries.extend(self.end(side));
                }
                entries
            }
            Some(Ok(ReplyPart::Reasoning(_) | ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded)) => {
                Vec::new()
            }
            // `ResilientModel` has counted and logged the failure; the visitor sees the partial reply.
            Some(Err(_)) | None => self.end(side),
        }
    }

    fn end(&mut self, side: Side) -> Vec<EventEntry> {
        self.sides[side.index()].end();
        let mut entries = vec![self.entry(BattleEvent::Done { side })];
        if !self.is_answering() {
            self.permit = None;
            entries.push(self.entry(BattleEvent::Ready));
        }
        entries
    }

    fn is_answering(&self) -> bool {
        self.sides.iter().any(|side| side.stream.is_some())
    }

    fn entry(&mut self, event: BattleEvent) -> EventEntry {
        self.seq += 1;
        EventEntry { seq: self.seq, turn: self.turn, event }
    }
}

impl ChatSide {
    fn ask(&mut self, visitor: &VisitorId, max_bytes: usize, prompt: &str) {
        self.messages.push(Message::user(prompt));
        self.reply.clear();
        let question = VisitorQuestion { visitor: visitor.clone(), run: None, max_bytes };
        self.stream = Some(self.model.reply_to(question, &self.messages));
    }

    /// Ends the side's reply. If it has no visible text, the turn is dropped from the conversation.
    fn end(&mut self) {
        self.stream = None;
        let reply = std::mem::take(&mut self.reply);
        if has_visible_text(&reply) {
            self.messages.push(Message::assistant(reply));
        } else {
            self.messages.pop();
        }
    }
}

/// Waits for the next part of a side's reply; forever if none is in progress.
async fn next_part(side: Option<&mut ChatSide>) -> Option<Result<ReplyPart, ChatError>> {
    match side.and_then(|side| side.stream.as_mut()) {
        Some(stream) => stream.next().await,
        None => pending().await,
    }
}

/// Builds the conversation of one side up to the vote.
fn messages(record: &BattleRecord, images: &[PromptImage], side: Side) -> Vec<Message> {
    let exchanges = record.turns.iter().map(|turn| {
        let reply = record.reply(turn.turn, side).map_or("", |reply| reply.text.as_str());
        (turn.prompt.as_str(), reply)
    });
    let mut messages = Message::of_exchanges(exchanges);
    if let Some(first) = messages.first_mut() {
        first.images = images.to_vec();
    }
    messages
}
