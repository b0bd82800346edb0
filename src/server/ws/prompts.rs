//! Which of the visitor's own questions a client is sent: those that it may not have.

use crate::domain::battle::ImageId;
use crate::infra::live_battles::Watcher;

/// The questions that come with the turns of a battle on one socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompts {
    /// None: this socket alone has asked them.
    Known,
    /// All but the one that this socket has just sent: another tab may have asked, or the client has lost them.
    Repeated {
        /// The images beside the first question.
        images: Vec<ImageId>,
        /// The number of the event that begins the turn of this socket's own question.
        own: Option<u64>,
    },
}

impl Prompts {
    /// Those of a battle to which a client comes.
    pub(super) fn all(watcher: &Watcher) -> Self {
        Self::Repeated { images: watcher.battle().state().active.images.clone(), own: None }
    }

    /// As [`Prompts::all`], but for the turn that begins with the watcher's next event: this socket has asked for it.
    pub(super) fn all_but_own(watcher: &Watcher) -> Self {
        let images = watcher.battle().state().active.images.clone();
        Self::Repeated { images, own: Some(watcher.last_sent() + 1) }
    }

    /// What is sent with the turn that begins with the event numbered `seq`: its question, and the images beside it.
    pub(super) fn of_turn<'a>(&'a self, turn: u32, seq: u64, prompt: &'a str) -> (Option<&'a str>, &'a [ImageId]) {
        match self {
            Self::Repeated { images, own } if *own != Some(seq) => {
                (Some(prompt), if turn == 1 { images.as_slice() } else { &[][..] })
            }
            Self::Repeated { .. } | Self::Known => (None, &[][..]),
        }
    }
}
