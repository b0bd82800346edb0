//! Pursuit of a visitor's goal: it sends a message, handles the frames, and retries after failures.

use std::time::{Duration, Instant};

use langya::domain::battle::Side;
use rand::RngExt;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::connection::{Heard, waited_in_vain};
use super::{Answer, GaveUp, Goal, TIMEOUT, Visitor};
use crate::checker::evidence::{BattleHistory, Event, Numbered, Told};

/// Pause of a visitor before a retry, in milliseconds.
const PAUSE_MS: std::ops::Range<u64> = 20..150;

impl Visitor {
    /// Sends the message of a goal and waits for the answer, once.
    pub(super) async fn attempt(&mut self, goal: Goal) -> Answer {
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

    /// Pursues a goal until it is reached, and starts again after every failure.
    pub(super) async fn pursue(&mut self, goal: Goal) -> Result<(), GaveUp> {
        let deadline = Instant::now() + TIMEOUT;
        let mut said = false;
        self.last_progress = Instant::now();
        while !self.is_reached(&goal) {
            if Instant::now() > deadline {
                return Err(GaveUp(format!("no answer in {TIMEOUT:?} to {goal:?}")));
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
                // Recorded first: once it is sent it may count.
                self.write_down(&battle, Event::Voted { outcome: (*outcome).to_owned() });
                json!({"type": "vote", "battle": battle, "outcome": outcome})
            }
            Goal::Ready { .. } | Goal::Receipt { outcome: None, .. } => return Ok(()),
        };
        self.send(&message).await
    }

    /// Records the start of an outage and pauses before the retry.
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

    /// Handles an `error` frame: wait on, send again, or end the battle.
    async fn take_refusal(&mut self, goal: &Goal, frame: &Value, said: &mut bool) -> Result<(), GaveUp> {
        let code = frame["code"].as_str().unwrap_or_default().to_owned();
        let asked = match goal {
            Goal::Battle { .. } => "start",
            Goal::Turn { .. } => "message",
            // No other message of a visitor at that moment can be too early: the answer comes late.
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
            // That concerns the previous battle, of which a further turn was still being answered.
            ("start", "superseded") => Ok(()),
            // A question that had arrived twice is being answered.
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
}

/// Converts a frame to a numbered event. `voided` has no turn: it is the displayed one.
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
