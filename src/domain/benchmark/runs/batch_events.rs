//! Messages about batch events, for the command line and the log.

use std::fmt;

use crate::battle::ModelId;
use crate::plural::counted;

/// Event of a batch, with the batch and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchNote {
    /// Id of the model or judge.
    pub model: ModelId,
    /// Provider's id of the batch.
    pub batch: String,
    /// Event of the batch.
    pub event: BatchEvent,
}

/// Event in the life of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchEvent {
    /// The batch was sent with this many requests.
    Sent(usize),
    /// An earlier run sent the batch, and this one waits for its replies to this many requests.
    Resumed(usize),
    /// A batch with this many requests was found, which may be one whose submission was not confirmed.
    Found(usize),
    /// Number of finished requests and of all requests, as reported by the provider.
    Progress(u64, u64),
    /// The batch ended with this many replies to this many requests.
    Ended(usize, usize),
    /// The provider processed none of the requests; with the reason.
    Failed(String),
    /// The provider does not know the batch any more.
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
