//! What a socket's client has on its screen, for clients that want replies as HTML.
//!
//! Blocks are rendered again after a fixed amount of new text and at a side's end, so that the frames follow from the
//! texts and tell nothing about speeds. Only blocks whose HTML changed are sent.

use crate::battle::Side;
use crate::markup::Renderer;
use crate::services::live::{BattleEvent, Entry};

/// New bytes after which a side is rendered again; longer replies are rendered less often.
const RENDER_EVERY: usize = 32;

/// The current turn's replies of one battle.
#[derive(Default)]
pub(super) struct Screen {
    turn: u32,
    sides: [Reply; 2],
}

#[derive(Default)]
struct Reply {
    text: String,
    rendered: usize,
    renderer: Renderer,
}

/// A block of a reply, new or written again.
pub(super) struct Block {
    pub(super) turn: u32,
    pub(super) side: Side,
    pub(super) block: usize,
    pub(super) html: String,
}

impl Screen {
    /// Takes in what the client has already.
    pub(super) fn learn(&mut self, entry: &Entry) {
        match &entry.event {
            BattleEvent::Turn { .. } => *self = Self { turn: entry.turn, ..Self::default() },
            BattleEvent::Delta { side, text } => self.sides[side.index()].text.push_str(text),
            BattleEvent::Done { .. } | BattleEvent::Ready | BattleEvent::Voided => {}
        }
    }

    /// Takes in an event and returns the blocks that it changes.
    pub(super) fn show(&mut self, entry: &Entry) -> Vec<Block> {
        self.learn(entry);
        match entry.event {
            BattleEvent::Delta { side, .. } if self.sides[side.index()].is_due() => self.render(side),
            BattleEvent::Done { side } => self.render(side),
            _ => Vec::new(),
        }
    }

    /// Every block of the turn: for a client that comes back.
    pub(super) fn everything(&mut self) -> Vec<Block> {
        Side::BOTH.into_iter().flat_map(|side| self.render(side)).collect()
    }

    fn render(&mut self, side: Side) -> Vec<Block> {
        let reply = &mut self.sides[side.index()];
        reply.rendered = reply.text.len();
        let changed = reply.renderer.update(&reply.text);
        changed.into_iter().map(|(block, html)| Block { turn: self.turn, side, block, html }).collect()
    }
}

impl Reply {
    fn is_due(&self) -> bool {
        self.text.len() - self.rendered >= RENDER_EVERY.max(self.text.len() / 64)
    }
}
