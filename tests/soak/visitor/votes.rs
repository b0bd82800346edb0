//! Votes of a visitor: one, several in a row, or several at once.

use futures_util::SinkExt;
use rand::RngExt;
use serde_json::json;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::connection::{Connected, Heard, SEND, connect, next_text};
use super::{GaveUp, Goal, OUTCOMES, TIMEOUT, Visitor};
use crate::checker::evidence::Event;

impl Visitor {
    /// Votes once, or again with the same or another outcome, or on two connections at once, or reconnects afterwards.
    pub(super) async fn vote(&mut self) -> Result<(), GaveUp> {
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

    pub(super) async fn vote_for(&mut self, outcome: Option<&'static str>) -> Result<(), GaveUp> {
        let beyond = self.screen.receipts;
        self.pursue(Goal::Receipt { beyond, outcome }).await
    }

    /// Votes on a second connection too; it may reach the other instance, and its vote may be the first.
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
}

/// Votes on a separate connection, with all these outcomes at once, and returns the result of each: a receipt, a refusal, or the loss of
/// the connection.
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
        match timeout(TIMEOUT, next_text(&mut socket)).await {
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
