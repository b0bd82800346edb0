//! Models that say what a test asks them to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use langya::infra::llm::{ChatError, ChatModel, Message, ReplyPart, ReplyStream, Sampling};
use tokio::sync::watch;
use tokio::time::Instant;

/// What one model does when it is asked.
pub(crate) type Script = Arc<dyn Fn(&[Message]) -> Vec<Step> + Send + Sync>;

/// A step of a reply.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Says a piece of text.
    Say(String),
    /// Thinks a piece of reasoning.
    Think(String),
    /// Lets other tasks run this many times first.
    Yield(usize),
    /// Writes nothing for so long after the beginning or the pause before: only where the slowness itself is the point.
    Pause(Duration),
    /// Waits until the test opens the model's gate.
    Gate,
    /// Never says anything again.
    Hang,
    /// Fails.
    Fail(ChatError),
}

/// A scripted model; clones share its gate and its counters.
#[derive(Clone)]
pub(crate) struct Scripted {
    script: Script,
    gate: watch::Sender<bool>,
    asked: Arc<AtomicUsize>,
    active: watch::Sender<usize>,
}

impl Scripted {
    /// A model that follows the script.
    pub(crate) fn new(script: impl Fn(&[Message]) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            gate: watch::Sender::new(false),
            asked: Arc::default(),
            active: watch::Sender::new(0),
        }
    }

    /// A model that always says the same words, one by one.
    pub(crate) fn saying(words: &'static str) -> Self {
        Self::new(move |_| words.split_inclusive(' ').map(|word| Step::Say(word.to_owned())).collect())
    }

    /// Lets every reply pass its gate.
    pub(crate) fn open_gate(&self) {
        self.gate.send_replace(true);
    }

    /// Has every reply from now on wait at its gate.
    pub(crate) fn close_gate(&self) {
        self.gate.send_replace(false);
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Waits until it was asked exactly so many times.
    pub(crate) async fn asked_becomes(&self, wanted: usize) {
        // Each request is counted before it is under way.
        self.active.subscribe().wait_for(|_| self.asked() == wanted).await.unwrap();
    }

    /// Waits until exactly so many replies are under way.
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

/// Pauses end at moments of the model's own clock, whenever it is read.
async fn play(step: Step, says_at: Instant, mut gate: watch::Receiver<bool>) -> Option<Result<ReplyPart, ChatError>> {
    match step {
        Step::Say(text) => Some(Ok(ReplyPart::Text(text))),
        Step::Think(text) => Some(Ok(ReplyPart::Reasoning(text))),
        Step::Yield(times) => {
            // Goes on while nobody reads, as a connection does: with pacing, a reply is read every 50 ms only.
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
