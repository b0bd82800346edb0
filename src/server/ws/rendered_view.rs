//! What a socket's client has on its screen, for clients that want replies as HTML.
//!
//! Blocks are rendered again after a fixed amount of new text and at a side's end, so that the frames follow from the
//! texts and tell nothing about speeds. Only blocks whose HTML changed are sent.

use crate::domain::battle::Side;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::render::markup::Renderer;

/// New bytes after which a side is rendered again.
const RENDER_EVERY: usize = 32;
/// A longer reply is rendered less often, and not on the thread that serves its socket.
const LONG_REPLY: usize = 8 * 1024;

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
pub(super) struct ShownBlock {
    pub(super) turn: u32,
    pub(super) side: Side,
    pub(super) block: usize,
    pub(super) html: String,
}

impl Screen {
    /// Applies events that the client has already.
    pub(super) fn learn(&mut self, entry: &EventEntry) {
        match &entry.event {
            BattleEvent::Turn { .. } => *self = Self { turn: entry.turn, ..Self::default() },
            BattleEvent::Delta { side, text } => self.sides[side.index()].text.push_str(text),
            BattleEvent::Done { .. } | BattleEvent::Ready | BattleEvent::Voided => {}
        }
    }

    /// Applies an event and returns the blocks that it changes.
    pub(super) async fn show(&mut self, entry: &EventEntry) -> Vec<ShownBlock> {
        self.learn(entry);
        match entry.event {
            BattleEvent::Delta { side, .. } if self.sides[side.index()].is_due() => self.render(side).await,
            BattleEvent::Done { side } => self.render(side).await,
            _ => Vec::new(),
        }
    }

    /// Every block of the turn: for a client that comes back.
    pub(super) async fn everything(&mut self) -> Vec<ShownBlock> {
        let mut blocks = self.render(Side::A).await;
        blocks.extend(self.render(Side::B).await);
        blocks
    }

    async fn render(&mut self, side: Side) -> Vec<ShownBlock> {
        let reply = &mut self.sides[side.index()];
        let changed = reply.render().await;
        changed.into_iter().map(|(block, html)| ShownBlock { turn: self.turn, side, block, html }).collect()
    }
}

impl Reply {
    fn is_due(&self) -> bool {
        let share = if self.text.len() < LONG_REPLY { 64 } else { 12 };
        self.text.len() - self.rendered >= RENDER_EVERY.max(self.text.len() / share)
    }

    async fn render(&mut self) -> Vec<(usize, String)> {
        self.rendered = self.text.len();
        if self.text.len() < LONG_REPLY {
            return self.renderer.update(&self.text);
        }
        let (text, mut renderer) = (self.text.clone(), std::mem::take(&mut self.renderer));
        let rendered = tokio::task::spawn_blocking(move || (renderer.update(&text), renderer)).await;
        // Only a panic in the renderer, which catches its own, could lose the thread; the deltas are sent all the same.
        let Ok((changed, renderer)) = rendered else { return Vec::new() };
        self.renderer = renderer;
        changed
    }
}
