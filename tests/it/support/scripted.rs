//! Scripted models of tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use langya::infra::llm::{ChatError, ChatModel, Message, ReplyPart, ReplyStream, Sampling};
use tokio::sync::watch;
use tokio::time::Instant;

/// Steps of a reply as a function of the conversation.
pub(crate) type Script = Arc<dyn Fn(&[Message]) -> Vec<Step> + Send + Sync>;

/// Step of a reply.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Emits a piece of text.
    Say(String),
    /// Emits a piece of reasoning.
    Think(String),
    /// Yields to other tasks this many times first.
    Yield(usize),
    /// Pauses for this time after the beginning or the previous pause: only where slowness is under test.
    Pause(Duration),
    /// Waits until the test opens the model's gate.
    Gate,
    /// Emits nothing more and does not end.
    Hang,
    /// Fails with this error.
    Fail(ChatError),
}

/// Scripted model; clones share its gate and its counters.
#[derive(Clone)]
pub(crate) struct Scripted {
    script: Script,
    gate: watch::Sender<bool>,
    asked: Arc<AtomicUsize>,
    active: watch::Sender<usize>,
}

impl Scripted {
    /// Builds a model that follows the script.
    pub(crate) fn new(script: impl Fn(&[Message]) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            gate: watch::Sender::new(false),
            asked: Arc::default(),
            active: watch::Sender::new(0),
        }
    }

    /// Builds a model that always replies with the same words, one by one.
    pub(crate) fn saying(words: &'static str) -> Self {
        Self::new(move |_| words.split_inclusive(' ').map(|word| Step::Say(word.to_owned())).collect())
    }

    /// Opens the gate for every reply.
    pub(crate) fn open_gate(&self) {
        self.gate.send_replace(true);
    }

    /// Closes the gate for every reply from now on.
    pub(crate) fn close_gate(&self) {
        self.gate.send_replace(false);
    }

    /// Returns the number of requests.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Waits until the number of requests is exactly this.
    pub(crate) async fn asked_becomes(&self, wanted: usize) {
        // Each request is counted before it is active.
        self.active.subscribe().wait_for(|_| self.asked() == wanted).await.unwrap();
    }

    /// Waits until exactly this number of replies are active.
    pub(crate) async fn active_becomes(&self, wanted: usize) {
        self.active.subscribe().wait_for(|active| *active == wanted).await.unwrap();
    }
}

struct Active(watch::Sender<usize>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.send_modify(|active| *active -= 1);
    }
}

impl ChatModel for Scripted {
    fn ask(&self, messages: &[Message], _: &Sampling) -> ReplyStream {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.active.send_modify(|active| *active += 1);
        let active = Active(self.active.clone());
        let gate = self.gate.subscribe();
        let mut says_at = Instant::now();
        stream::iter((self.script)(messages))
            .then(move |step| {
                if let Step::Pause(pause) = step {
                    says_at += pause;
                }
                play(step, says_at, gate.clone())
            })
            .filter_map(std::future::ready)
            .chain(async move { drop(active) }.into_stream().filter_map(|()| std::future::ready(None)))
            .boxed()
    }
}

/// Plays a step. Pauses end at times of the model's own clock, whenever the reply is read.
async fn play(step: Step, says_at: Instant, mut gate: watch::Receiver<bool>) -> Option<Result<ReplyPart, ChatError>> {
    match step {
        Step::Say(text) => Some(Ok(ReplyPart::Text(text))),
        Step::Think(text) => Some(Ok(ReplyPart::Reasoning(text))),
        Step::Yield(times) => {
            // Continues while the reply is not read, as a connection does: with pacing, a reply is read every 50 ms only.
            let turns = tokio::spawn(async move {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            });
            turns.await.unwrap();
            None
        }
        Step::Pause(_) => {
            tokio::time::sleep_until(says_at).await;
            None
        }
        Step::Gate => {
            gate.wait_for(|open| *open).await.unwrap();
            None
        }
        Step::Hang => std::future::pending().await,
        Step::Fail(error) => Some(Err(error)),
    }
}
