//! A visitor: starts battles, reads, votes, and comes back after whatever happens, writing down all of it.
//!
//! A visitor wants one thing at a time (a [`Goal`]) and pursues it over as many connections as it takes. What the arena
//! says goes into the history whether or not it was wanted.

use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::{SinkExt, StreamExt};
use langya::domain::battle::Side;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::checker::evidence::{BattleHistory, Event, Numbered, Told, VisitorHistory};
use crate::measurements::Measurements;

/// Nothing heard for so long while something is due: the visitor asks whether anybody is there.
const QUIET: Duration = Duration::from_secs(1);
/// Nothing heard for so long after that: the connection is given up.
const PONG: Duration = Duration::from_millis(500);
/// So often in a row an arena may be there and have nothing to say.
const QUIET_LIMIT: usize = 5;
/// What a visitor notes who waited in vain since its last progress: the arena answers pings, or not even these.
const SILENCE: &str = "nothing but pongs";
const NO_PONG: &str = "no answer to a ping";

/// Whether the visitor left a connection on which it had waited in vain.
pub(crate) fn waited_in_vain(why: &str) -> bool {
    [SILENCE, NO_PONG].contains(&why)
}

/// A connection that is not there after so long is tried anew: the next one may reach the other instance. nginx goes on
/// sending visitors to an instance that hangs, since the kernel still takes its connections.
const CONNECT: Duration = Duration::from_millis(400);
/// A message that cannot be handed to the network for so long means that the connection is lost.
const SEND: Duration = Duration::from_secs(1);
/// Visitors may take so long to bring their last battle to its end.
const LAST_BATTLES: Duration = Duration::from_secs(90);
/// How long a visitor waits before it tries again, in milliseconds.
const PAUSE_MS: std::ops::Range<u64> = 20..150;
/// A goal that is not reached after so long is a violation.
const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const OUTCOMES: [&str; 4] = ["a", "b", "tie", "both_bad"];

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct Visitor {
    number: usize,
    /// `ws://…/ws/battle`
    url: String,
    rng: ChaCha8Rng,
    measurements: Measurements,
    cookie: Option<String>,
    socket: Option<Socket>,
    history: VisitorHistory,
    screen: Screen,
    /// Since when it is without its battle, and how it noticed.
    trouble: Option<(Instant, String)>,
    /// When it last said or heard something that matters.
    last_progress: Instant,
    /// It leaves in mid-stream once it has seen this event.
    leave_at: Option<u64>,
}

/// Many visitors at once, who battle until they are told to stop.
pub(crate) struct VisitorGroup {
    visitors: JoinSet<VisitorHistory>,
    stop: watch::Sender<bool>,
}

impl VisitorGroup {
    /// Visitors come one after the other, each with a course of its own.
    pub(crate) fn gather(
        visitors: usize,
        port: u16,
        rng: impl Fn(usize) -> ChaCha8Rng,
        measurements: &Measurements,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut set = JoinSet::new();
        for number in 0..visitors {
            let visitor = Visitor::new(number, port, rng(number + 1), measurements.clone());
            let stopped = stopped.clone();
            set.spawn(async move {
                // Not all at the same moment.
                sleep(Duration::from_millis(10) * u32::try_from(number).unwrap_or(u32::MAX)).await;
                visitor.visit(stopped).await
            });
        }
        Self { visitors: set, stop }
    }

    /// They bring their last battles to an end, and tell.
    pub(crate) async fn disperse(self) -> anyhow::Result<Vec<VisitorHistory>> {
        self.stop.send_replace(true);
        timeout(LAST_BATTLES, self.visitors.join_all()).await.context("visitors do not come to an end")
    }
}

/// What stands on the visitor's screen.
#[derive(Debug, Default)]
struct Screen {
    battle: Option<String>,
    seq: u64,
    turn: u32,
    ready: bool,
    receipts: usize,
}

/// What a visitor wants next.
#[derive(Debug, Clone)]
enum Goal {
    /// A battle on this prompt.
    Battle { prompt: String },
    /// The turn after this one.
    Turn { after: u32, prompt: String },
    /// Both replies of this turn; earlier ones may be told again.
    Ready { turn: u32 },
    /// One more receipt than this, voting for the outcome or only coming back for it.
    Receipt { beyond: usize, outcome: Option<&'static str> },
}

/// Why a goal is out of reach.
struct GaveUp(String);

/// What came of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// What was wanted is there.
    Reached,
    /// An `error` frame with this code.
    Refused(String),
    /// No connection, or no answer.
    Lost(String),
}

/// What came off the socket.
enum Heard {
    Frame(Value, String),
    Lost(String),
}

impl Visitor {
    pub(crate) fn new(number: usize, port: u16, rng: ChaCha8Rng, measurements: Measurements) -> Self {
        Self {
            number,
            url: format!("ws://127.0.0.1:{port}/ws/battle"),
            rng,
            measurements,
            cookie: None,
            socket: None,
            history: VisitorHistory::default(),
            screen: Screen::default(),
            trouble: None,
            last_progress: Instant::now(),
            leave_at: None,
        }
    }

    /// Battles until it is told to stop; the one under way is brought to its end.
    pub(crate) async fn visit(mut self, stop: watch::Receiver<bool>) -> VisitorHistory {
        let mut battles = 0;
        while !*stop.borrow() {
            battles += 1;
            if let Err(GaveUp(why)) = self.battle(battles).await {
                self.give_up(why);
            }
        }
        self.history
    }

    async fn battle(&mut self, number: usize) -> Result<(), GaveUp> {
        self.screen = Screen::default();
        let prompt = format!("visitor {} asks, battle {number}", self.number);
        self.leave_at = self.rng.random_bool(0.2).then(|| self.rng.random_range(2..60));
        self.pursue(Goal::Battle { prompt: prompt.clone() }).await?;
        self.pursue(Goal::Ready { turn: 1 }).await?;
        if self.rng.random_bool(0.2) {
            let after = self.screen.turn;
            self.pursue(Goal::Turn { after, prompt: format!("{prompt}, and then") }).await?;
            self.pursue(Goal::Ready { turn: after + 1 }).await?;
        }
        self.vote().await?;
        self.measurements.count("battles voted on");
        Ok(())
    }

    /// A new battle, read to `ready`; tried until it is there.
    pub(crate) async fn ready_battle(&mut self) -> anyhow::Result<()> {
        let prompt = self.next_prompt();
        let begun = self.pursue(Goal::Battle { prompt }).await;
        begun.map_err(|GaveUp(why)| anyhow::anyhow!("no battle for visitor {}: {why}", self.number))?;
        self.until_ready().await
    }

    /// Both replies of the battle under way.
    pub(crate) async fn until_ready(&mut self) -> anyhow::Result<()> {
        let ready = self.pursue(Goal::Ready { turn: 1 }).await;
        ready.map_err(|GaveUp(why)| anyhow::anyhow!("visitor {} waits in vain: {why}", self.number))
    }

    /// Asks once for a new battle.
    pub(crate) async fn try_to_start(&mut self) -> Answer {
        let prompt = self.next_prompt();
        self.attempt(Goal::Battle { prompt }).await
    }

    /// Sends a vote once.
    pub(crate) async fn try_to_vote(&mut self, outcome: &'static str) -> Answer {
        let beyond = self.screen.receipts;
        self.attempt(Goal::Receipt { beyond, outcome: Some(outcome) }).await
    }

    /// Votes until there is a receipt.
    pub(crate) async fn vote_until_acknowledged(&mut self, outcome: &'static str) -> anyhow::Result<()> {
        let voted = self.vote_for(Some(outcome)).await;
        voted.map_err(|GaveUp(why)| anyhow::anyhow!("no receipt for visitor {}: {why}", self.number))
    }

    /// The latest receipt, to the letter.
    pub(crate) fn receipt(&self) -> Option<&str> {
        let events = self.history.battles.iter().flat_map(|battle| &battle.events).rev();
        events.into_iter().find_map(|event| match event {
            Event::Receipt { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The id of the battle on the screen.
    pub(crate) fn battle_id(&self) -> Option<&str> {
        self.screen.battle.as_deref()
    }

    /// Its session.
    pub(crate) fn cookie(&self) -> &str {
        self.cookie.as_deref().unwrap_or_default()
    }

    /// Writes down what was done for it on another connection.
    pub(crate) fn note(&mut self, event: Event) {
        if let Some(battle) = self.screen.battle.clone() {
            self.write_down(&battle, event);
        }
    }

    /// All that it did and was told.
    pub(crate) fn into_history(self) -> VisitorHistory {
        self.history
    }

    fn next_prompt(&mut self) -> String {
        self.screen = Screen::default();
        format!("visitor {} asks, battle {}", self.number, self.history.asked.len() + 1)
    }

    /// Says what is wanted and listens for the answer, once.
    async fn attempt(&mut self, goal: Goal) -> Answer {
        self.last_progress = Instant::now();
        let come_back = async {
            if self.socket.is_none() {
                self.come_back().await?;
            }
            self.say(&goal).await
        };
        if let Err(why) = come_back.await {
            return self.lost_at_once(why);
        }
        while !self.is_reached(&goal) {
            match self.hear().await {
                Heard::Frame(frame, _) if frame["type"] == "error" => {
                    let code = frame["code"].as_str().unwrap_or_default().to_owned();
                    let asked = if matches!(goal, Goal::Receipt { .. }) { "vote" } else { "start" };
                    if let Some(battle) = self.screen.battle.clone() {
                        self.write_down(&battle, Event::Refused { asked, code: code.clone() });
                    }
                    return Answer::Refused(code);
                }
                Heard::Frame(frame, text) => self.take(&frame, text),
                Heard::Lost(why) => return self.lost_at_once(why),
            }
        }
        Answer::Reached
    }

    fn lost_at_once(&mut self, why: String) -> Answer {
        self.socket = None;
        if let Some(battle) = self.screen.battle.clone() {
            self.write_down(&battle, Event::Lost { note: why.clone() });
        }
        Answer::Lost(why)
    }

    /// Votes once, or again with the same or another outcome, or on two connections at once, or comes back afterwards.
    async fn vote(&mut self) -> Result<(), GaveUp> {
        let outcome = self.draw_outcome();
        match self.rng.random_range(0..10) {
            0..=4 => self.vote_for(Some(outcome)).await,
            5 => self.vote_twice(outcome, outcome).await,
            6..=7 => {
                let changed = self.draw_outcome();
                self.vote_twice(outcome, changed).await
            }
            8 => self.vote_on_two_connections(outcome).await,
            _ => {
                self.vote_for(Some(outcome)).await?;
                self.socket = None;
                self.vote_for(None).await
            }
        }
    }

    async fn vote_twice(&mut self, outcome: &'static str, again: &'static str) -> Result<(), GaveUp> {
        self.vote_for(Some(outcome)).await?;
        self.vote_for(Some(again)).await
    }

    async fn vote_for(&mut self, outcome: Option<&'static str>) -> Result<(), GaveUp> {
        let beyond = self.screen.receipts;
        self.pursue(Goal::Receipt { beyond, outcome }).await
    }

    /// The second connection may reach the other instance, and its vote may be the first.
    async fn vote_on_two_connections(&mut self, outcome: &'static str) -> Result<(), GaveUp> {
        let Some(battle) = self.screen.battle.clone() else { return Ok(()) };
        let other = self.draw_outcome();
        self.write_down(&battle, Event::Voted { outcome: other.to_owned() });
        let (url, cookie) = (self.url.clone(), self.cookie().to_owned());
        let second = tokio::spawn({
            let battle = battle.clone();
            async move { cast(&url, &cookie, &battle, &[other]).await }
        });
        let first = self.vote_for(Some(outcome)).await;
        for event in second.await.unwrap_or_default() {
            self.write_down(&battle, event);
        }
        first
    }

    fn draw_outcome(&mut self) -> &'static str {
        OUTCOMES[self.rng.random_range(0..OUTCOMES.len())]
    }

    /// Connects, says what is wanted and listens until it is there, and begins anew after every failure.
    async fn pursue(&mut self, goal: Goal) -> Result<(), GaveUp> {
        let deadline = Instant::now() + PATIENCE;
        let mut said = false;
        self.last_progress = Instant::now();
        while !self.is_reached(&goal) {
            if Instant::now() > deadline {
                return Err(GaveUp(format!("no answer in {PATIENCE:?} to {goal:?}")));
            }
            if self.socket.is_none() {
                said = false;
                if let Err(why) = self.come_back().await {
                    self.lose(why, Instant::now()).await;
                    continue;
                }
            }
            if !said {
                said = true;
                if let Err(why) = self.say(&goal).await {
                    self.lose(why, Instant::now()).await;
                    continue;
                }
            }
            self.listen(&goal, &mut said).await?;
        }
        Ok(())
    }

    async fn listen(&mut self, goal: &Goal, said: &mut bool) -> Result<(), GaveUp> {
        match self.hear().await {
            Heard::Frame(frame, _) if frame["type"] == "error" && frame["code"] != "voided" => {
                self.take_refusal(goal, &frame, said).await
            }
            Heard::Frame(frame, text) => {
                self.take(&frame, text);
                if frame["code"] == "voided" {
                    return Err(GaveUp("it was voided".into()));
                }
                self.leave_in_mid_stream().await;
                Ok(())
            }
            Heard::Lost(why) => {
                let since = if waited_in_vain(&why) { self.last_progress } else { Instant::now() };
                self.lose(why, since).await;
                Ok(())
            }
        }
    }

    fn is_reached(&self, goal: &Goal) -> bool {
        match goal {
            Goal::Battle { .. } => self.screen.battle.is_some(),
            Goal::Turn { after, .. } => self.screen.turn > *after,
            Goal::Ready { turn } => self.screen.ready && self.screen.turn >= *turn,
            Goal::Receipt { beyond, .. } => self.screen.receipts > *beyond,
        }
    }

    /// A new connection; on it, the battle that was under way.
    async fn come_back(&mut self) -> Result<(), String> {
        let Connected { socket, cookie, instance } = connect(&self.url, self.cookie.as_deref()).await?;
        self.cookie = self.cookie.take().or(cookie);
        self.socket = Some(socket);
        self.last_progress = Instant::now();
        if let Some(battle) = self.screen.battle.clone() {
            let after = self.screen.seq;
            let note = format!("at {} from {instance}", self.measurements.now());
            self.write_down(&battle, Event::Resumed { after, note });
            self.send(&json!({"type": "resume", "battle": battle, "after": after})).await?;
        }
        Ok(())
    }

    async fn say(&mut self, goal: &Goal) -> Result<(), String> {
        let battle = self.screen.battle.clone().unwrap_or_default();
        let message = match goal {
            Goal::Battle { prompt } => {
                self.history.asked.push(prompt.clone());
                json!({"type": "start", "prompt": prompt})
            }
            Goal::Turn { prompt, .. } => {
                self.history.asked.push(prompt.clone());
                self.write_down(&battle, Event::Asked);
                json!({"type": "message", "battle": battle, "prompt": prompt})
            }
            Goal::Receipt { outcome: Some(outcome), .. } => {
                // Written down first: once it is on its way it may count.
                self.write_down(&battle, Event::Voted { outcome: (*outcome).to_owned() });
                json!({"type": "vote", "battle": battle, "outcome": outcome})
            }
            Goal::Ready { .. } | Goal::Receipt { outcome: None, .. } => return Ok(()),
        };
        self.send(&message).await
    }

    async fn send(&mut self, message: &Value) -> Result<(), String> {
        self.last_progress = Instant::now();
        let Some(socket) = &mut self.socket else { return Err("no connection".into()) };
        match timeout(SEND, socket.send(Message::text(message.to_string()))).await {
            Ok(sent) => sent.map_err(|error| format!("sending failed: {error}")),
            Err(_) => Err("sending took too long".into()),
        }
    }

    /// The next frame. A connection on which nothing comes, not even the answer to a ping, is lost.
    async fn hear(&mut self) -> Heard {
        let Some(socket) = &mut self.socket else { return Heard::Lost("no connection".into()) };
        for _ in 0..QUIET_LIMIT {
            if let Ok(heard) = timeout(QUIET, next_text(socket)).await {
                return heard;
            }
            let pong = async {
                socket.send(Message::Ping(Vec::new().into())).await.ok()?;
                socket.next().await?.ok()
            };
            match timeout(PONG, pong).await {
                Ok(Some(Message::Text(text))) => return Heard::Frame(json_of(&text), text.to_string()),
                Ok(Some(Message::Close(_)) | None) => return Heard::Lost("connection lost".into()),
                Ok(Some(_)) => {}
                Err(_) => return Heard::Lost(NO_PONG.into()),
            }
        }
        Heard::Lost(SILENCE.into())
    }

    /// Trouble began then; a little later the visitor tries again.
    async fn lose(&mut self, sign: String, since: Instant) {
        self.socket = None;
        self.measurements.count(&format!("seen: {sign}"));
        if let Some(battle) = self.screen.battle.clone() {
            let note = format!("at {}: {sign}", self.measurements.now());
            self.write_down(&battle, Event::Lost { note });
        }
        self.trouble.get_or_insert((since, sign));
        let pause = self.rng.random_range(PAUSE_MS);
        sleep(Duration::from_millis(pause)).await;
    }

    fn take(&mut self, frame: &Value, text: String) {
        let Some(battle) = frame["battle"].as_str() else { return };
        let is_new = self.history.battles.iter().rev().all(|history| history.id != battle);
        if is_new {
            self.history.battles.push(BattleHistory { id: battle.to_owned(), events: Vec::new() });
            self.screen.battle.get_or_insert(battle.to_owned());
        }
        let event = match frame["type"].as_str() {
            Some("revealed") => Event::Receipt { text },
            _ => Event::Heard(numbered(frame, self.screen.turn)),
        };
        if self.screen.battle.as_deref() == Some(battle) {
            self.show(&event);
            if let Some((since, sign)) = self.trouble.take() {
                self.measurements.recovered(since, &sign, battle);
            }
            self.last_progress = Instant::now();
        }
        self.write_down(battle, event);
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Heard(heard) => {
                self.screen.seq = heard.seq;
                self.screen.turn = heard.turn;
                self.screen.ready = heard.told == Told::Ready;
            }
            Event::Receipt { .. } => self.screen.receipts += 1,
            _ => {}
        }
    }

    /// What to do after an `error` frame: listen on, ask again, or end the battle.
    async fn take_refusal(&mut self, goal: &Goal, frame: &Value, said: &mut bool) -> Result<(), GaveUp> {
        let code = frame["code"].as_str().unwrap_or_default().to_owned();
        let asked = match goal {
            Goal::Battle { .. } => "start",
            Goal::Turn { .. } => "message",
            // Nothing else that a visitor says in that moment can be too early: the answer comes late.
            Goal::Ready { .. } if code == "not_ready" => "message",
            Goal::Ready { .. } | Goal::Receipt { outcome: None, .. } => "resume",
            Goal::Receipt { .. } => "vote",
        };
        self.measurements.count(&format!("{asked} refused: {code}"));
        if let Some(battle) = self.screen.battle.clone() {
            self.write_down(&battle, Event::Refused { asked, code: code.clone() });
        }
        match (asked, code.as_str()) {
            ("message", "not_ready") => Ok(()),
            // That is about the battle before, of which a further turn was still being answered.
            ("start", "superseded") => Ok(()),
            // A question that had got through twice is being answered.
            ("vote", "not_ready") => {
                self.screen.ready = false;
                let turn = self.screen.turn;
                Box::pin(self.pursue(Goal::Ready { turn })).await?;
                *said = false;
                Ok(())
            }
            (_, "storage" | "draining" | "rate_limited" | "busy" | "no_models") => {
                self.lose(format!("error {code}"), Instant::now()).await;
                Ok(())
            }
            _ => Err(GaveUp(format!("{asked} was refused with {code}"))),
        }
    }

    async fn leave_in_mid_stream(&mut self) {
        if self.leave_at.is_some_and(|at| self.screen.seq >= at) {
            self.leave_at = None;
            self.socket = None;
            self.measurements.count("left in mid-stream and came back");
            let pause = self.rng.random_range(0..800);
            sleep(Duration::from_millis(pause)).await;
        }
    }

    fn give_up(&mut self, why: String) {
        self.measurements.count("battles given up");
        self.socket = None;
        self.trouble = None;
        let last = self.screen.battle.clone();
        match last {
            Some(battle) => self.write_down(&battle, Event::GaveUp { why }),
            // A visitor that never got a battle has no history to put this into.
            None => self.measurements.count(&format!("without a battle: {why}")),
        }
    }

    fn write_down(&mut self, battle: &str, event: Event) {
        if let Some(history) = self.history.battles.iter_mut().rev().find(|history| history.id == battle) {
            history.events.push(event);
        }
    }
}

async fn next_text(socket: &mut Socket) -> Heard {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Heard::Frame(json_of(&text), text.to_string()),
            Some(Ok(Message::Close(frame))) => {
                let code = frame.map_or(0, |frame| u16::from(frame.code));
                return Heard::Lost(format!("closed with {code}"));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Heard::Lost("connection lost".into()),
        }
    }
}

/// Votes on a connection of its own, with all these outcomes at once, and returns what came of each: a receipt, a refusal,
/// or the loss of the connection.
pub(crate) async fn cast(url: &str, cookie: &str, battle: &str, outcomes: &[&'static str]) -> Vec<Event> {
    let mut events = Vec::new();
    let lost = |why: &str| Event::Lost { note: why.to_owned() };
    let Ok(Connected { mut socket, .. }) = connect(url, Some(cookie)).await else {
        return vec![lost("no connection")];
    };
    let send_all = async {
        for outcome in outcomes {
            let vote = json!({"type": "vote", "battle": battle, "outcome": outcome});
            socket.feed(Message::text(vote.to_string())).await?;
        }
        socket.flush().await
    };
    if !matches!(timeout(SEND, send_all).await, Ok(Ok(()))) {
        return vec![lost("sending failed")];
    }
    while events.len() < outcomes.len() {
        match timeout(PATIENCE, next_text(&mut socket)).await {
            Ok(Heard::Frame(frame, text)) => match frame["type"].as_str() {
                Some("revealed") => events.push(Event::Receipt { text }),
                Some("error") => {
                    let code = frame["code"].as_str().unwrap_or_default().to_owned();
                    events.push(Event::Refused { asked: "vote", code });
                }
                _ => {}
            },
            Ok(Heard::Lost(why)) => events.push(lost(&why)),
            Err(_) => events.push(lost("no answer")),
        }
        if matches!(events.last(), Some(Event::Lost { .. })) {
            break;
        }
    }
    events
}

/// A new connection, the cookie that was set with it, and the instance that it reached.
struct Connected {
    socket: Socket,
    cookie: Option<String>,
    instance: String,
}

async fn connect(url: &str, cookie: Option<&str>) -> Result<Connected, String> {
    let mut request = url.into_client_request().map_err(|error| error.to_string())?;
    if let Some(cookie) = cookie {
        request.headers_mut().insert("cookie", cookie.parse().expect("a cookie is plain text"));
        // As a page of the arena would: a cookie without it is refused.
        let origin = format!("http://{}", request.uri().authority().map_or("", |authority| authority.as_str()));
        request.headers_mut().insert("origin", origin.parse().expect("an address is plain text"));
    }
    let connecting = tokio_tungstenite::connect_async_with_config(request, None, true);
    match timeout(CONNECT, connecting).await {
        Ok(Ok((socket, answer))) => {
            let header = |name: &str| answer.headers().get(name)?.to_str().ok();
            let cookie = header("set-cookie").and_then(|set| set.split(';').next()).map(str::to_owned);
            Ok(Connected { socket, cookie, instance: header("x-instance").unwrap_or_default().to_owned() })
        }
        Ok(Err(tokio_tungstenite::tungstenite::Error::Http(answer))) => Err(format!("status {}", answer.status())),
        Ok(Err(_)) => Err("no connection".into()),
        Err(_) => Err("no connection in time".into()),
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// `voided` names no turn: it is the one on the screen.
fn numbered(frame: &Value, latest: u32) -> Numbered {
    let side = if frame["side"] == "b" { Side::B } else { Side::A };
    let told = match frame["type"].as_str() {
        Some("battle") => Told::Turn,
        Some("delta") => Told::Text { side, text: frame["text"].as_str().unwrap_or_default().to_owned() },
        Some("done") => Told::Done { side },
        Some("ready") => Told::Ready,
        _ => Told::Voided,
    };
    let turn = frame["turn"].as_u64().and_then(|turn| u32::try_from(turn).ok()).unwrap_or(latest);
    Numbered { seq: frame["seq"].as_u64().unwrap_or(0), turn, told }
}
