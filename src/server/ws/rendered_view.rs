//! What a socket's client has on its screen, for clients that want replies as HTML.
//!
//! Blocks are rendered again after a fixed amount of new text and at a side's end, so that the frames follow from the
//! texts and reveal nothing about speeds. Only blocks whose HTML changed are sent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::battle::Side;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::render::markup::{BlockChange, Renderer};

/// New bytes after which a side is rendered again.
const RENDER_EVERY: usize = 32;
/// A longer reply is rendered less often, and not on the thread that serves its socket.
const LONG_REPLY: usize = 8 * 1024;

/// In which form a client wants replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// As text.
    Text,
    /// As HTML too: each block that changes, whole.
    Html,
    /// As HTML alone: of each block that changes what follows the part that stays, both sides in one frame.
    Blocks,
}

impl ReplyForm {
    /// What nobody knows means text.
    pub(super) fn parse(render: Option<&str>) -> Self {
        match render {
            Some("html") => Self::Html,
            Some("blocks") => Self::Blocks,
            _ => Self::Text,
        }
    }
}

/// The replies of one battle.
pub(super) struct Screen {
    form: ReplyForm,
    turn: u32,
    /// Number of the last event in it.
    seq: u64,
    sides: [RenderedReply; 2],
    /// What was said in former turns, which a client that has no text of its own may ask for.
    former: BTreeMap<u32, [String; 2]>,
}

#[derive(Default)]
struct RenderedReply {
    text: String,
    rendered: usize,
    renderer: Renderer,
}

/// What a client is sent of some events.
pub(super) enum ShownEvent<'e> {
    /// An event as it is.
    Event(&'e EventEntry),
    /// A block of a reply, new or written again.
    Block(ShownBlock),
    /// What changes on both sides.
    Changes(ShownChanges),
}

/// A block of a reply, new or written again.
pub(super) struct ShownBlock {
    pub(super) turn: u32,
    pub(super) side: Side,
    pub(super) block: usize,
    /// Bytes of the block's former HTML with which it begins again.
    kept: usize,
    pub(super) html: String,
}

/// What changes in the blocks of both sides, up to an event.
#[derive(Debug, Serialize)]
pub struct ShownChanges {
    turn: u32,
    /// Number of the last event that they show.
    seq: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    a: Vec<ShownChange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    b: Vec<ShownChange>,
}

/// A block's number, the UTF-16 code units of its former HTML that stay, and the HTML that follows them.
#[derive(Debug, Serialize)]
struct ShownChange(usize, usize, String);

/// What a client with this screen is sent of events; without one it gets them as they are.
pub(super) async fn show<'e>(screen: Option<&mut Screen>, entries: &'e [EventEntry]) -> Vec<ShownEvent<'e>> {
    match screen {
        Some(screen) => screen.show(entries).await,
        None => entries.iter().map(ShownEvent::Event).collect(),
    }
}

impl Screen {
    /// An empty one, unless the client wants text alone.
    pub(super) fn new(form: ReplyForm) -> Option<Self> {
        (form != ReplyForm::Text).then(|| Self {
            form,
            turn: 0,
            seq: 0,
            sides: Default::default(),
            former: BTreeMap::new(),
        })
    }

    /// Applies events that the client has already.
    pub(super) fn learn(&mut self, entry: &EventEntry) {
        self.seq = entry.seq;
        match &entry.event {
            BattleEvent::Turn { .. } => {
                let said = std::mem::take(&mut self.sides).map(|reply| reply.text);
                if entry.turn != self.turn {
                    self.former.insert(self.turn, said);
                }
                self.turn = entry.turn;
            }
            BattleEvent::Delta { side, text } => self.sides[side.index()].text.push_str(text),
            BattleEvent::Done { .. } | BattleEvent::Ready | BattleEvent::Voided => {}
        }
    }

    /// What a side has said in a turn, so far; `None` for a turn that is not on this screen.
    pub(super) fn text(&self, turn: u32, side: Side) -> Option<&str> {
        if turn == self.turn {
            return Some(&self.sides[side.index()].text);
        }
        self.former.get(&turn).map(|said| said[side.index()].as_str())
    }

    async fn show<'e>(&mut self, entries: &'e [EventEntry]) -> Vec<ShownEvent<'e>> {
        let (mut shown, mut changes) = (Vec::new(), None);
        for entry in entries {
            self.learn(entry);
            let blocks = match entry.event {
                BattleEvent::Delta { side, .. } if self.sides[side.index()].is_due() => self.render(side).await,
                BattleEvent::Done { side } => self.render(side).await,
                _ => Vec::new(),
            };
            if self.form == ReplyForm::Html {
                shown.push(ShownEvent::Event(entry));
                shown.extend(blocks.into_iter().map(ShownEvent::Block));
                continue;
            }
            self.gather(&mut changes, blocks);
            if !matches!(entry.event, BattleEvent::Delta { .. }) {
                shown.extend(changes.take().map(ShownEvent::Changes));
                shown.push(ShownEvent::Event(entry));
            }
        }
        shown.extend(changes.map(ShownEvent::Changes));
        shown
    }

    /// Every block of the turn: for a client that comes back.
    pub(super) async fn everything(&mut self) -> Vec<ShownEvent<'static>> {
        let mut blocks = self.render(Side::A).await;
        blocks.extend(self.render(Side::B).await);
        if self.form == ReplyForm::Html {
            return blocks.into_iter().map(ShownEvent::Block).collect();
        }
        let mut changes = None;
        self.gather(&mut changes, blocks);
        changes.into_iter().map(ShownEvent::Changes).collect()
    }

    /// Adds blocks to what changes.
    fn gather(&self, changes: &mut Option<ShownChanges>, blocks: Vec<ShownBlock>) {
        for ShownBlock { turn, side, block, kept, mut html } in blocks {
            let none = || ShownChanges { turn, seq: 0, a: Vec::new(), b: Vec::new() };
            let changes = changes.get_or_insert_with(none);
            changes.seq = self.seq;
            let stays = html.drain(..kept).map(char::len_utf16).sum();
            match side {
                Side::A => changes.a.push(ShownChange(block, stays, html)),
                Side::B => changes.b.push(ShownChange(block, stays, html)),
            }
        }
    }

    async fn render(&mut self, side: Side) -> Vec<ShownBlock> {
        let turn = self.turn;
        let changed = self.sides[side.index()].render().await;
        let shown = |BlockChange { block, html, kept }| ShownBlock { turn, side, block, kept, html };
        changed.into_iter().map(shown).collect()
    }
}

impl RenderedReply {
    /// The first words are shown at once.
    fn is_due(&self) -> bool {
        let share = if self.text.len() < LONG_REPLY { 64 } else { 12 };
        self.rendered == 0 || self.text.len() - self.rendered >= RENDER_EVERY.max(self.text.len() / share)
    }

    async fn render(&mut self) -> Vec<BlockChange> {
        self.rendered = self.text.len();
        if self.text.len() < LONG_REPLY {
            return self.renderer.update(&self.text);
        }
        let (text, mut renderer) = (self.text.clone(), std::mem::take(&mut self.renderer));
        let rendered = tokio::task::spawn_blocking(move || (renderer.update(&text), renderer)).await;
        // Only a panic in the renderer, which catches its own, could lose the thread; the text can be asked for all the same.
        let Ok((changed, renderer)) = rendered else { return Vec::new() };
        self.renderer = renderer;
        changed
    }
}
