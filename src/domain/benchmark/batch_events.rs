//! Events of batches in words, for the command line and the log.

use std::fmt;

use crate::battle::ModelId;
use crate::plural::counted;

/// An event of a batch, with the batch and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchNote {
    /// The model or judge.
    pub model: ModelId,
    /// The provider's name for the batch.
    pub batch: String,
    /// What happened.
    pub event: BatchEvent,
}

/// What happens to a batch from sending to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchEvent {
    /// It was sent, with so many requests.
    Sent(usize),
    /// An earlier run sent it, and this one waits for its replies.
    Resumed(usize),
    /// Nobody knows whether it reached the provider, and this may be it, with so many requests.
    Found(usize),
    /// So many of so many requests are done, as the provider counts.
    Progress(u64, u64),
    /// It has ended, with so many replies to so many requests.
    Ended(usize, usize),
    /// The provider did none of it.
    Failed(String),
    /// The provider does not know it any more.
    Gone,
}

impl fmt::Display for BatchNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, batch, event } = self;
        write!(formatter, "batch {batch} of model {model}: ")?;
        match event {
            BatchEvent::Sent(sent) => write!(formatter, "sent with {}", requests(*sent)),
            BatchEvent::Resumed(sent) => {
                write!(formatter, "an earlier run sent it with {}, and its replies are taken", requests(*sent))
            }
            BatchEvent::Found(sent) => {
                write!(
                    formatter,
                    "it may be the one that was sent with {}, which its results will show",
                    requests(*sent)
                )
            }
            BatchEvent::Progress(done, all) => write!(formatter, "{done} of {all} done"),
            BatchEvent::Ended(replies, sent) => {
                write!(formatter, "ended with {} to {}", counted(replies, "reply", "replies"), requests(*sent))
            }
            BatchEvent::Failed(reason) => write!(formatter, "the provider did none of it: {reason}"),
            BatchEvent::Gone => {
                write!(formatter, "the provider does not know it any more, so its requests are open again")
            }
        }
    }
}

fn requests(count: usize) -> String {
    counted(count, "request", "requests")
}
