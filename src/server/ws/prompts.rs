//! The visitor's own prompts that are sent to a client: those that it may lack.

use crate::domain::battle::ImageId;
use crate::infra::live_battles::Watcher;

/// Prompts sent with the turns of a battle on one socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompts {
    /// None: only this socket has sent prompts.
    Known,
    /// All but the one that this socket has just sent: another tab may have sent others, or the client has lost them.
    Repeated {
        /// Images beside the first prompt.
        images: Vec<ImageId>,
        /// Number of the event that begins the turn of this socket's own prompt.
        own: Option<u64>,
    },
}

impl Prompts {
    /// Sends all prompts of a battle, to a client that joins it.
    pub(super) fn all(watcher: &Watcher) -> Self {
        Self::Repeated { images: watcher.battle().state().active.images.clone(), own: None }
    }

    /// Like [`Prompts::all`], except for the turn that begins with the watcher's next event: this socket has sent its prompt.
    pub(super) fn all_except_next_turn(watcher: &Watcher) -> Self {
        let images = watcher.battle().state().active.images.clone();
        Self::Repeated { images, own: Some(watcher.last_sent() + 1) }
    }

    /// Returns the prompt and images to send with the turn that begins with the event numbered `seq`.
    pub(super) fn of_turn<'a>(&'a self, turn: u32, seq: u64, prompt: &'a str) -> (Option<&'a str>, &'a [ImageId]) {
        match self {
            Self::Repeated { images, own } if *own != Some(seq) => {
                (Some(prompt), if turn == 1 { images.as_slice() } else { &[][..] })
            }
            Self::Repeated { .. } | Self::Known => (None, &[][..]),
        }
    }
}
