//! What a socket's client has on its screen, for clients that want replies as HTML.
//!
//! Blocks are rendered again after a fixed amount of new text and at a side's end, so that the frames follow from the
//! texts and tell nothing about speeds. Only blocks whose HTML changed are sent.

use super::protocol::ReplyForm;
use crate::domain::battle::Side;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::render::markup::{BlockChange, Renderer};

/// New bytes after which a side is rendered again.
const RENDER_EVERY: usize = 32;
/// A longer reply is rendered less often, and not on the thread that serves its socket.
const LONG_REPLY: usize = 8 * 1024;

/// The current turn's replies of one battle.
pub(super) struct Screen {
    /// Whether the client keeps blocks, and is sent only what follows the part that stays.
    keeps_blocks: bool,
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
    /// UTF-16 code units of the block's former HTML that stay before `html`, for a client that keeps it.
    pub(super) keep: Option<usize>,
    pub(super) html: String,
}

impl Screen {
    /// An empty one, unless the client wants text alone.
    pub(super) fn new(form: ReplyForm) -> Option<Self> {
        let screen = |keeps_blocks| Self { keeps_blocks, turn: 0, sides: Default::default() };
        match form {
            ReplyForm::Text => None,
            ReplyForm::Html => Some(screen(false)),
            ReplyForm::HtmlSuffix => Some(screen(true)),
        }
    }

    /// Applies events that the client has already.
    pub(super) fn learn(&mut self, entry: &EventEntry) {
        match &entry.event {
            BattleEvent::Turn { .. } => (self.turn, self.sides) = (entry.turn, Default::default()),
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
        let (turn, keeps_blocks) = (self.turn, self.keeps_blocks);
        let changed = self.sides[side.index()].render().await;
        let shown = |BlockChange { block, mut html, kept }| {
            let keep = keeps_blocks.then(|| html.drain(..kept).map(char::len_utf16).sum());
            ShownBlock { turn, side, block, keep, html }
        };
        changed.into_iter().map(shown).collect()
    }
}

impl Reply {
    fn is_due(&self) -> bool {
        let share = if self.text.len() < LONG_REPLY { 64 } else { 12 };
        self.text.len() - self.rendered >= RENDER_EVERY.max(self.text.len() / share)
    }

    async fn render(&mut self) -> Vec<BlockChange> {
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
