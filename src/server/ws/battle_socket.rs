//! The loop between one websocket and the battle services.
//!
//! It reads frames, calls one service for each message, and writes the events of the watched battle. When it ends, for whatever reason, the
//! watcher is dropped, and a battle without watchers stops its upstream requests.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, Closed, Session};
use futures_util::{FutureExt, StreamExt};
use tokio::time::{Instant, MissedTickBehavior};

use super::chosen_models::ChosenModels;
use super::error_codes::{ErrorCode, error_message};
use super::message_rate_limit::{FloodVerdict, MessageCounter};
use super::outbox::Outbox;
use super::ping_timeout::{ClientSilence, PING_INTERVAL};
use super::prompts::Prompts;
use super::protocol::{ClientMessage, Closing, MAX_MESSAGE_BYTES, ProtocolError, ServerMessage};
use super::rendered_view::{ClientEvent, RenderedReplies, ReplyForm, ShownBlock, show};
use super::watching::{OpenChat, Watching, next_in_chat, next_update};
use crate::domain::battle::event_log::EventEntry;
use crate::domain::battle::progress::Refusal;
use crate::domain::battle::{BattleId, Side};
use crate::infra::limits::proof_of_work::{Proofs, Solution};
use crate::infra::limits::{Caller, LimitedAction, RateLimits, TurnPermit};
use crate::infra::live_battles::{BattleUpdate, Watcher};
use crate::infra::sessions;
use crate::infra::tasks::Tasks;
use crate::services::arena::access::SignedIn;
use crate::services::arena::battles::{BattleError, Battles, Opening};
use crate::services::arena::consent_version::Consents;
use crate::services::arena::post_vote_chat::{PostVoteChat, PostVoteChatError};
use crate::services::arena::voting::{self, NewVote, Voting};

/// Poll interval during the drain: whether the socket's battle has ended.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Services behind one socket.
pub struct Connection {
    /// Pseudonyms of the visitor and the visitor's network.
    pub caller: Caller,
    /// Session of the visitor.
    pub session: sessions::Session,
    /// Rate limits.
    pub limits: Arc<RateLimits>,
    /// Proofs of work before a battle.
    pub proofs: Arc<Proofs>,
    /// Consents of visitors.
    pub consents: Arc<Consents>,
    /// Battles of this process.
    pub battles: Arc<Battles>,
    /// Casting of votes.
    pub voting: Arc<Voting>,
    /// Signals of the drain and the shutdown.
    pub tasks: Tasks,
    /// Admission of the visitor, with its expiry.
    pub signed_in: SignedIn,
}

struct BattleSocketDriver {
    connection: Connection,
    outbox: Outbox,
    watching: Option<Watching>,
    chat: Option<OpenChat>,
    silence: ClientSilence,
    flood: MessageCounter,
}

/// Reason for the end of the loop.
enum LoopEnd {
    /// The client is gone: nothing can be sent.
    Disconnected,
    /// The socket is closed with this reason.
    Close(CloseReason),
}

impl From<Closed> for LoopEnd {
    fn from(_: Closed) -> Self {
        Self::Disconnected
    }
}

/// Serves one socket until it ends.
pub async fn drive(connection: Connection, session: Session, mut inbox: AggregatedMessageStream) {
    let mut driver = BattleSocketDriver {
        connection,
        outbox: Outbox::new(session),
        watching: None,
        chat: None,
        silence: ClientSilence::new(Instant::now()),
        flood: MessageCounter::new(Instant::now()),
    };
    let end = driver.run(&mut inbox).await;
    if let Err(LoopEnd::Close(reason)) = end {
        // The client may be gone already, which has the same result.
        let _ = driver.outbox.close(reason).await;
    }
}

impl BattleSocketDriver {
    async fn run(&mut self, inbox: &mut AggregatedMessageStream) -> Result<(), LoopEnd> {
        let (draining, shutdown) = (self.connection.tasks.draining(), self.connection.tasks.shutdown());
        // Each wait for a cancellation takes an entry in a shared list: once per socket, not once per token.
        let (mut drained, mut ended) = (pin!(draining.cancelled()), pin!(shutdown.cancelled()));
        let SignedIn { ended: signed_out, left } = self.connection.signed_in.clone();
        let mut signed_out = pin!(async move {
            match left {
                Some(left) => drop(tokio::time::timeout(left, signed_out.cancelled()).await),
                None => signed_out.cancelled().await,
            }
        });
        let mut leaving = false;
        let mut heartbeat = tokio::time::interval(PING_INTERVAL);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks = tokio::time::interval(DRAIN_POLL_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                update = next_update(&mut self.watching) => match update {
                    BattleUpdate::Events(entries) => self.send_events(&entries).await?,
                    BattleUpdate::RepliesUnsaved => self.send_replies_unsaved().await?,
                    BattleUpdate::Moved => return Err(close(Closing::Moved)),
                },
                entries = next_in_chat(&mut self.chat) => self.send_chat(&entries).await?,
                frame = inbox.next() => self.take(frame).await?,
                () = &mut drained, if !leaving => leaving = true,
                _ = looks.tick(), if leaving => self.close_if_drained(inbox).await?,
                due = heartbeat.tick() => {
                    if self.silence.check_at_ping(due) {
                        return Err(close(Closing::Silent));
                    }
                    self.outbox.ping().await?;
                }
                () = &mut signed_out => return Err(close(self.ended_session())),
                () = &mut ended => return Err(close(Closing::Restart)),
            }
        }
    }

    fn ended_session(&self) -> Closing {
        Closing::of_ended_session(self.connection.voting.settings.now().access.mode)
    }

    async fn take(&mut self, frame: Option<Result<AggregatedMessage, actix_ws::ProtocolError>>) -> Result<(), LoopEnd> {
        match frame {
            Some(Ok(frame)) => self.on_frame(frame).await,
            Some(Err(error)) => self.refuse_frame(&error).await,
            None => Err(LoopEnd::Disconnected),
        }
    }

    /// During the drain: ends a socket whose battle is not being answered, after handling its received messages and sending all events. So
    /// a vote sent in time is accepted.
    async fn close_if_drained(&mut self, inbox: &mut AggregatedMessageStream) -> Result<(), LoopEnd> {
        let under_way = |watching: &Watching| watching.watcher.battle().is_under_way();
        if self.watching.as_ref().is_some_and(under_way) {
            return Ok(());
        }
        if let Some(frame) = inbox.next().now_or_never() {
            return self.take(frame).await;
        }
        let untold = self.watching.as_mut().map(|watching| watching.watcher.missed()).unwrap_or_default();
        self.send_events(&untold).await?;
        Err(close(Closing::Restart))
    }

    async fn on_frame(&mut self, frame: AggregatedMessage) -> Result<(), LoopEnd> {
        let now = Instant::now();
        self.silence = ClientSilence::new(now);
        match self.flood.judge(now) {
            _ if matches!(frame, AggregatedMessage::Close(_)) => {}
            FloodVerdict::Accept => {}
            FloodVerdict::Refuse => return self.send_error(&ProtocolError::Flooding, None).await,
            FloodVerdict::Close => return Err(close(Closing::Flooding)),
        }
        match frame {
            AggregatedMessage::Text(text) if text.len() > MAX_MESSAGE_BYTES => {
                self.send_error(&ProtocolError::TooLarge, None).await?;
                Err(close(Closing::TooLarge))
            }
            AggregatedMessage::Text(text) => match ClientMessage::parse(&text) {
                Ok(message) => self.handle(message).await,
                Err(error) => self.send_error(&error, None).await,
            },
            AggregatedMessage::Binary(_) => self.send_error(&ProtocolError::Binary, None).await,
            AggregatedMessage::Ping(payload) => Ok(self.outbox.pong(&payload).await?),
            AggregatedMessage::Pong(_) => Ok(()),
            AggregatedMessage::Close(reason) => Err(LoopEnd::Close(reason.unwrap_or_else(|| CloseCode::Normal.into()))),
        }
    }

    /// Closes the socket after a frame that breaks the websocket protocol or its limits.
    async fn refuse_frame(&mut self, error: &actix_ws::ProtocolError) -> Result<(), LoopEnd> {
        let Some(why) = Closing::for_error(error) else { return Err(LoopEnd::Disconnected) };
        if why == Closing::TooLarge {
            self.send_error(&ProtocolError::TooLarge, None).await?;
        }
        Err(close(why))
    }

    async fn handle(&mut self, message: ClientMessage) -> Result<(), LoopEnd> {
        let battles = Arc::clone(&self.connection.battles);
        let visitor = self.connection.caller.visitor.clone();
        match message {
            ClientMessage::Start { opening, form, proof, consent } => {
                let Some(permit) = self.start_permit(proof.as_ref()).await? else { return Ok(()) };
                let begun = self.start(opening, consent.as_deref(), permit).await;
                self.on_start(begun, form).await
            }
            ClientMessage::Resume { battle, after, form } => self.resume(battle, after, form).await,
            ClientMessage::Message { battle, prompt } => {
                let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
                let Some(permit) = self.turn_permit(Some(&id)).await? else { return Ok(()) };
                let begun = battles.message(&visitor, &id, &prompt, permit).await;
                self.show_turn(begun, &id).await
            }
            ClientMessage::PostVoteMessage { battle, prompt, form } => self.continue_chat(battle, &prompt, form).await,
            ClientMessage::Regenerate { battle, prompt } => {
                let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
                let Some(permit) = self.turn_permit(Some(&id)).await? else { return Ok(()) };
                let begun = battles.regenerate(&visitor, &id, prompt.as_deref(), permit).await;
                self.show_turn(begun, &id).await
            }
            ClientMessage::Stop { battle } => {
                let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
                if let Some(open) = self.chat.as_mut().filter(|open| open.chat.battle == id) {
                    let ended = open.chat.stop();
                    return self.send_chat(&ended).await;
                }
                let done = battles.stop(&visitor, &id).await;
                self.send_if_error(done, &id).await
            }
            ClientMessage::Text { turn, side } => self.send_text(turn, side).await,
            ClientMessage::Vote { battle, turn, answer, outcome, satisfaction, reasons } => {
                let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
                if let Err(limited) = self.connection.limits.take(LimitedAction::Vote, &self.connection.caller).await {
                    return self.send_error(&limited, Some(&id)).await;
                }
                self.vote(NewVote { visitor, battle: id, turn, answer, outcome, satisfaction, reasons }).await
            }
        }
    }

    /// Watches the battle that the visitor has started.
    async fn on_start(&mut self, begun: Result<Watcher, BattleError>, form: ReplyForm) -> Result<(), LoopEnd> {
        match begun {
            Ok(watcher) => {
                let prompts = Prompts::all_except_next_turn(&watcher);
                let watching = self.watching(watcher, RenderedReplies::new(form), prompts);
                self.watch(watching).await
            }
            Err(error) => self.send_error(&error, None).await,
        }
    }

    /// Starts a battle; the visitor's consent is stored before.
    async fn start(&self, opening: Opening, consent: Option<&str>, permit: TurnPermit) -> Result<Watcher, BattleError> {
        let visitor = &self.connection.caller.visitor;
        if let Some(version) = consent {
            self.connection.consents.give(&self.connection.session, version).await?;
        }
        self.connection.battles.start(visitor, opening, permit).await
    }

    /// Watches the battle of a turn requested on this socket, from that turn on, unless the socket watches it already.
    async fn show_turn(&mut self, begun: Result<Watcher, BattleError>, id: &BattleId) -> Result<(), LoopEnd> {
        let watcher = match begun {
            Ok(watcher) => watcher,
            Err(error) => return self.send_error(&error, Some(id)).await,
        };
        if let Some(shown) = self.watching.as_mut().filter(|shown| shown.watcher.battle().id == *id) {
            shown.prompts = Prompts::all_except_next_turn(&watcher);
            return Ok(());
        }
        let prompts = Prompts::all(&watcher);
        let watching = self.watching(watcher, None, prompts);
        self.watch(watching).await
    }

    async fn vote(&mut self, vote: NewVote) -> Result<(), LoopEnd> {
        let battle = vote.battle.clone();
        match voting::record_vote(&self.connection.voting, vote).await {
            Ok(receipt) => {
                self.connection.battles.close(&battle);
                self.send(&ServerMessage::Revealed { battle: &battle, receipt: &receipt }).await
            }
            Err(error) => self.send_error(&error, Some(&battle)).await,
        }
    }

    /// Sends a prompt to both models of a voted battle; nothing of it is stored.
    async fn continue_chat(&mut self, battle: Option<BattleId>, prompt: &str, form: ReplyForm) -> Result<(), LoopEnd> {
        let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
        let Some(permit) = self.turn_permit(Some(&id)).await? else { return Ok(()) };
        match self.ask_after_vote(&id, prompt, form, permit).await {
            Ok(asked) => self.send_chat(&[asked]).await,
            Err(error) => self.send_error(&error, Some(&id)).await,
        }
    }

    async fn ask_after_vote(
        &mut self,
        id: &BattleId,
        prompt: &str,
        form: ReplyForm,
        permit: TurnPermit,
    ) -> Result<EventEntry, PostVoteChatError> {
        let Connection { voting, battles, caller, .. } = &self.connection;
        let opened = match self.chat.as_ref().filter(|open| open.chat.battle == *id) {
            Some(OpenChat { chat, .. }) if !chat.has_lost_its_texts(voting).await? => {
                chat.takes_question(voting.settings.now().battle.max_turns)?;
                None
            }
            _ => Some(PostVoteChat::open(voting, &caller.visitor, id).await?),
        };
        // The moderation service only receives prompts that pass all other checks.
        battles.admit_prompt(prompt).await?;
        if let Some(chat) = opened {
            self.chat = Some(OpenChat { chat, screen: RenderedReplies::new(form) });
        }
        let open = self.chat.as_mut().expect("there was one, or it was opened just now");
        Ok(open.chat.ask(prompt, permit))
    }

    /// Sends the events of a chat in the same way as those of a battle.
    async fn send_chat(&mut self, entries: &[EventEntry]) -> Result<(), LoopEnd> {
        let Some(OpenChat { chat, screen }) = &mut self.chat else { return Ok(()) };
        let battle = chat.battle.clone();
        let shown = show(screen.as_mut(), entries).await;
        self.send_shown(&battle, &shown, &Prompts::Known, None).await
    }

    /// Watches a battle again: sends missed events first, then new ones.
    async fn resume(&mut self, battle: Option<BattleId>, after: u64, form: ReplyForm) -> Result<(), LoopEnd> {
        let Some(id) = self.resolve_battle(battle).await? else { return Ok(()) };
        if let Err(limited) = self.connection.limits.take_resume(&self.connection.caller) {
            return self.send_error(&limited, Some(&id)).await;
        }
        let visitor = self.connection.caller.visitor.clone();
        let watcher = match self.connection.battles.resume(&visitor, &id, after).await {
            Ok(watcher) => watcher,
            Err(error) => return self.send_error(&error, Some(&id)).await,
        };
        let mut screen = RenderedReplies::new(form);
        let mut shown = Vec::new();
        if let Some(screen) = &mut screen {
            watcher.known().iter().for_each(|entry| screen.apply_known_event(entry));
            shown = screen.all_blocks().await;
        }
        let prompts = Prompts::all(&watcher);
        let watching = self.watching(watcher, screen, prompts);
        self.watch(watching).await?;
        self.send_shown(&id, &shown, &Prompts::Known, None).await?;
        let missed = self.watching.as_mut().map(|watching| watching.watcher.missed()).unwrap_or_default();
        self.send_events(&missed).await?;
        let is_abandoned = self.watching.as_ref().is_some_and(Watching::is_abandoned);
        match voting::receipt(&self.connection.voting, &visitor, &id).await {
            Ok(Some(receipt)) => self.send(&ServerMessage::Revealed { battle: &id, receipt: &receipt }).await,
            Ok(None) if is_abandoned => {
                let refusal = self.connection.battles.reason_for(&id, Refusal::Abandoned).await;
                self.send_error(&refusal, Some(&id)).await
            }
            Ok(None) => Ok(()),
            Err(error) => self.send_error(&error, Some(&id)).await,
        }
    }

    /// Returns the battle of a message: the named one, or the socket's latest.
    async fn resolve_battle(&mut self, battle: Option<BattleId>) -> Result<Option<BattleId>, LoopEnd> {
        let latest = || self.watching.as_ref().map(|watching| watching.watcher.battle().id.clone());
        match battle.or_else(latest) {
            Some(id) => Ok(Some(id)),
            None => self.send_error(&ProtocolError::NoBattle, None).await.map(|()| None),
        }
    }

    /// Takes a permit for one more battle from the rate limits, with a proof of work under load. The proof is used up after the limits have
    /// granted the battle, so that a refusal costs the visitor no work.
    async fn start_permit(&mut self, proof: Option<&Solution>) -> Result<Option<TurnPermit>, LoopEnd> {
        let (proofs, caller) = (Arc::clone(&self.connection.proofs), self.connection.caller.clone());
        let checked = match proofs.check(&caller, proof) {
            Ok(checked) => checked,
            Err(required) => return self.send_error(&required, None).await.map(|()| None),
        };
        let Some(permit) = self.turn_permit(None).await? else { return Ok(None) };
        match proofs.spend(&caller, checked).await {
            Ok(()) => Ok(Some(permit)),
            Err(required) => self.send_error(&required, None).await.map(|()| None),
        }
    }

    /// Takes a permit for one more turn from the rate limits; otherwise sends an error to the visitor.
    async fn turn_permit(&mut self, battle: Option<&BattleId>) -> Result<Option<TurnPermit>, LoopEnd> {
        match self.connection.limits.begin_turn(&self.connection.caller).await {
            Ok(permit) => Ok(Some(permit)),
            Err(refused) => self.send_error(&refused, battle).await.map(|()| None),
        }
    }

    fn watching(&self, watcher: Watcher, screen: Option<RenderedReplies>, prompts: Prompts) -> Watching {
        let row = watcher.battle().state().active.row.clone();
        let models = &self.connection.voting.models;
        let chosen = ChosenModels::new(&row, |side| models.card(&row.models[side.index()]));
        Watching { watcher, screen, prompts, chosen }
    }

    /// Watches this battle from now on. Sends an error if the previous one is left before its replies have ended.
    async fn watch(&mut self, next: Watching) -> Result<(), LoopEnd> {
        self.chat = None;
        let next_id = next.watcher.battle().id.clone();
        let Some(former) = self.watching.replace(next) else { return Ok(()) };
        let battle = former.watcher.battle();
        if battle.id == next_id || !battle.is_under_way() {
            return Ok(());
        }
        self.send_error(&BattleError::Superseded, Some(&battle.id)).await
    }

    async fn send_events(&mut self, entries: &[EventEntry]) -> Result<(), LoopEnd> {
        let Some(watching) = &mut self.watching else { return Ok(()) };
        let battle = watching.watcher.battle().id.clone();
        let (prompts, chosen) = (watching.prompts.clone(), watching.chosen.clone());
        let shown = show(watching.screen.as_mut(), entries).await;
        self.send_shown(&battle, &shown, &prompts, chosen.as_ref()).await
    }

    async fn send_replies_unsaved(&mut self) -> Result<(), LoopEnd> {
        let battle = self.watching.as_ref().map(|watching| watching.watcher.battle().id.clone());
        self.send_error(&BattleError::RepliesUnsaved, battle.as_ref()).await
    }

    async fn send_shown(
        &mut self,
        battle: &BattleId,
        shown: &[ClientEvent<'_>],
        prompts: &Prompts,
        chosen: Option<&ChosenModels>,
    ) -> Result<(), LoopEnd> {
        for one in shown {
            let message = match one {
                ClientEvent::Event(entry) => ServerMessage::of_entry(battle, entry, prompts, chosen),
                ClientEvent::Block(ShownBlock { turn, side, block, html, .. }) => {
                    ServerMessage::Html { battle, turn: *turn, side: *side, block: *block, html }
                }
                ClientEvent::Changes(changes) => ServerMessage::Blocks(changes),
            };
            self.send(&message).await?;
        }
        Ok(())
    }

    /// Sends the reply of a side so far, in a turn that the client shows.
    async fn send_text(&mut self, turn: u32, side: Side) -> Result<(), LoopEnd> {
        if let Err(limited) = self.connection.limits.count_text_request(&self.connection.caller) {
            return self.send_error(&limited, None).await;
        }
        let chatted = self.chat.as_ref().and_then(|open| open.screen.as_ref());
        let watched = self.watching.as_ref().and_then(|watching| watching.screen.as_ref());
        let text = chatted.into_iter().chain(watched).find_map(|screen| screen.text(turn, side)).map(str::to_owned);
        self.send(&ServerMessage::Text { turn, side, text: text.as_deref() }).await
    }

    async fn send_if_error<E>(&mut self, done: Result<(), E>, battle: &BattleId) -> Result<(), LoopEnd>
    where
        E: ErrorCode + std::error::Error,
    {
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.send_error(&error, Some(battle)).await,
        }
    }

    async fn send_error<E>(&mut self, error: &E, battle: Option<&BattleId>) -> Result<(), LoopEnd>
    where
        E: ErrorCode + std::error::Error,
    {
        let is_logged = |source: &(dyn std::error::Error + 'static)| {
            source.downcast_ref().is_some_and(crate::infra::storage::StoreError::is_outage)
        };
        if let Some(source) = error.source().filter(|source| !is_logged(*source)) {
            tracing::warn!(code = error.code(), error = ?source, "a message failed");
        }
        self.send(&error_message(error, battle)).await
    }

    async fn send(&mut self, message: &ServerMessage<'_>) -> Result<(), LoopEnd> {
        Ok(self.outbox.text(message.to_json()).await?)
    }
}

fn close(why: Closing) -> LoopEnd {
    LoopEnd::Close(why.into())
}
