//! Visitor: starts battles, reads, votes, and reconnects after every failure, recording all events.
//!
//! A visitor has one [`Goal`] at a time and pursues it over as many connections as needed. Everything received from the arena is recorded,
//! whether or not it was the goal.

mod connection;
mod goals;
mod votes;

use std::time::{Duration, Instant};

use anyhow::Context;
use connection::Socket;
pub(crate) use connection::waited_in_vain;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
pub(crate) use votes::cast;

use crate::checker::evidence::{Event, VisitorHistory};
use crate::measurements::Measurements;

/// Maximum time for visitors to complete their last battle.
const LAST_BATTLES: Duration = Duration::from_secs(90);
/// Maximum time to reach a goal; longer is a violation.
const TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const OUTCOMES: [&str; 4] = ["a", "b", "tie", "both_bad"];

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
    /// Start of the current outage, and the sign by which the visitor noticed it.
    trouble: Option<(Instant, String)>,
    /// Time of the last relevant message in either direction.
    last_progress: Instant,
    /// Number of the event after which it leaves in mid-stream.
    leave_at: Option<u64>,
}

/// Concurrent visitors, who battle until they are stopped.
pub(crate) struct VisitorGroup {
    visitors: JoinSet<VisitorHistory>,
    stop: watch::Sender<bool>,
}

impl VisitorGroup {
    /// Starts the visitors one after the other, each with a separate random stream.
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
                // Staggers the starts.
                sleep(Duration::from_millis(10) * u32::try_from(number).unwrap_or(u32::MAX)).await;
                visitor.visit(stopped).await
            });
        }
        Self { visitors: set, stop }
    }

    /// Waits until the visitors have completed their last battles, and returns their histories.
    pub(crate) async fn disperse(self) -> anyhow::Result<Vec<VisitorHistory>> {
        self.stop.send_replace(true);
        timeout(LAST_BATTLES, self.visitors.join_all()).await.context("visitors do not come to an end")
    }
}

/// State of the visitor's screen.
#[derive(Debug, Default)]
struct Screen {
    battle: Option<String>,
    seq: u64,
    turn: u32,
    ready: bool,
    receipts: usize,
}

/// Goal of a visitor.
#[derive(Debug, Clone)]
enum Goal {
    /// Battle on this prompt.
    Battle { prompt: String },
    /// Next turn after this one.
    Turn { after: u32, prompt: String },
    /// Both replies of this turn; earlier ones may be sent again.
    Ready { turn: u32 },
    /// One more receipt than this, by voting for the outcome or only by reconnecting.
    Receipt { beyond: usize, outcome: Option<&'static str> },
}

/// Reason why a goal is unreachable.
struct GaveUp(String);

/// Result of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The goal is reached.
    Reached,
    /// An `error` frame with this code.
    Refused(String),
    /// No connection, or no answer, for this reason.
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

    /// Plays battles until it is stopped; the one in progress is completed.
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

    /// Starts a new battle and reads it to `ready`, with retries.
    pub(crate) async fn ready_battle(&mut self) -> anyhow::Result<()> {
        let prompt = self.next_prompt();
        let begun = self.pursue(Goal::Battle { prompt }).await;
        begun.map_err(|GaveUp(why)| anyhow::anyhow!("no battle for visitor {}: {why}", self.number))?;
        self.until_ready().await
    }

    /// Reads both replies of the battle in progress.
    pub(crate) async fn until_ready(&mut self) -> anyhow::Result<()> {
        let ready = self.pursue(Goal::Ready { turn: 1 }).await;
        ready.map_err(|GaveUp(why)| anyhow::anyhow!("visitor {} waits in vain: {why}", self.number))
    }

    /// Requests a new battle once.
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

    /// Returns the latest receipt, to the letter.
    pub(crate) fn receipt(&self) -> Option<&str> {
        let events = self.history.battles.iter().flat_map(|battle| &battle.events).rev();
        events.into_iter().find_map(|event| match event {
            Event::Receipt { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the id of the displayed battle.
    pub(crate) fn battle_id(&self) -> Option<&str> {
        self.screen.battle.as_deref()
    }

    /// Returns the session cookie.
    pub(crate) fn cookie(&self) -> &str {
        self.cookie.as_deref().unwrap_or_default()
    }

    /// Records an event of another connection of the same visitor.
    pub(crate) fn note(&mut self, event: Event) {
        if let Some(battle) = self.screen.battle.clone() {
            self.write_down(&battle, event);
        }
    }

    /// Returns the history of the visitor.
    pub(crate) fn into_history(self) -> VisitorHistory {
        self.history
    }

    fn next_prompt(&mut self) -> String {
        self.screen = Screen::default();
        format!("visitor {} asks, battle {}", self.number, self.history.asked.len() + 1)
    }

    fn give_up(&mut self, why: String) {
        self.measurements.count("battles given up");
        self.socket = None;
        self.trouble = None;
        let last = self.screen.battle.clone();
        match last {
            Some(battle) => self.write_down(&battle, Event::GaveUp { why }),
            // A visitor that never got a battle has no battle history to record this in.
            None => self.measurements.count(&format!("without a battle: {why}")),
        }
    }

    fn write_down(&mut self, battle: &str, event: Event) {
        if let Some(history) = self.history.battles.iter_mut().rev().find(|history| history.id == battle) {
            history.events.push(event);
        }
    }
}
