//! The replies as rendered on a client's screen, for clients that request HTML.
//!
//! Blocks are rendered again after a fixed amount of new text and at a side's end, so that the frames depend on the texts only and do not
//! reveal speeds. Only blocks whose HTML changed are sent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::battle::Side;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::render::markdown::{BlockChange, Renderer};

/// New bytes after which a reply is rendered again.
const RENDER_INTERVAL_BYTES: usize = 32;
/// Length in bytes above which a reply is rendered less often, and not on the thread that serves its socket.
const LONG_REPLY_BYTES: usize = 8 * 1024;

/// Form of replies that a client requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// Text only.
    Text,
    /// Text and HTML: each changed block, whole.
    Html,
    /// HTML only: of each changed block the part after its unchanged prefix, both sides in one frame.
    Blocks,
}

impl ReplyForm {
    /// Parses the form; unknown values mean text.
    pub(super) fn parse(render: Option<&str>) -> Self {
        match render {
            Some("html") => Self::Html,
            Some("blocks") => Self::Blocks,
            _ => Self::Text,
        }
    }
}

/// Rendered replies of one battle.
pub(super) struct RenderedReplies {
    form: ReplyForm,
    turn: u32,
    /// Number of the last event included.
    seq: u64,
    sides: [RenderedReply; 2],
    /// Texts of former turns, which a client without text may request.
    former: BTreeMap<u32, [String; 2]>,
}

#[derive(Default)]
struct RenderedReply {
    text: String,
    rendered: usize,
    renderer: Renderer,
}

/// Event as sent to a client.
pub(super) enum ClientEvent<'e> {
    /// Unchanged event.
    Event(&'e EventEntry),
    /// Block of a reply, new or changed.
    Block(ShownBlock),
    /// Changes on both sides.
    Changes(ShownChanges),
}

/// Block of a reply, new or changed.
pub(super) struct ShownBlock {
    pub(super) turn: u32,
    pub(super) side: Side,
    pub(super) block: usize,
    /// Length in bytes of the unchanged prefix of the block's former HTML.
    kept: usize,
    pub(super) html: String,
}

/// Changed blocks of both sides, up to an event.
#[derive(Debug, Serialize)]
pub struct ShownChanges {
    turn: u32,
    /// Number of the last event included.
    seq: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    a: Vec<BlockPatch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    b: Vec<BlockPatch>,
}

/// Block number, unchanged UTF-16 code units of its former HTML, and the HTML that follows them.
#[derive(Debug, Serialize)]
struct BlockPatch(usize, usize, String);

/// Converts events for a client with this screen; without one they are sent unchanged.
pub(super) async fn show<'e>(screen: Option<&mut RenderedReplies>, entries: &'e [EventEntry]) -> Vec<ClientEvent<'e>> {
    match screen {
        Some(screen) => screen.show(entries).await,
        None => entries.iter().map(ClientEvent::Event).collect(),
    }
}

impl RenderedReplies {
    /// Creates an empty screen; `None` for text only.
    pub(super) fn new(form: ReplyForm) -> Option<Self> {
        (form != ReplyForm::Text).then(|| Self {
            form,
            turn: 0,
            seq: 0,
            sides: Default::default(),
            former: BTreeMap::new(),
        })
    }

    /// Applies an event that the client already has.
    pub(super) fn apply_known_event(&mut self, entry: &EventEntry) {
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

    /// Returns the text of a side in a turn so far; `None` for a turn that is not on this screen.
    pub(super) fn text(&self, turn: u32, side: Side) -> Option<&str> {
        if turn == self.turn {
            return Some(&self.sides[side.index()].text);
        }
        self.former.get(&turn).map(|said| said[side.index()].as_str())
    }

    async fn show<'e>(&mut self, entries: &'e [EventEntry]) -> Vec<ClientEvent<'e>> {
        let (mut shown, mut changes) = (Vec::new(), None);
        for entry in entries {
            self.apply_known_event(entry);
            let blocks = match entry.event {
                BattleEvent::Delta { side, .. } if self.sides[side.index()].is_due() => self.render(side).await,
                BattleEvent::Done { side } => self.render(side).await,
                _ => Vec::new(),
            };
            if self.form == ReplyForm::Html {
                shown.push(ClientEvent::Event(entry));
                shown.extend(blocks.into_iter().map(ClientEvent::Block));
                continue;
            }
            self.add_blocks(&mut changes, blocks);
            if !matches!(entry.event, BattleEvent::Delta { .. }) {
                shown.extend(changes.take().map(ClientEvent::Changes));
                shown.push(ClientEvent::Event(entry));
            }
        }
        shown.extend(changes.map(ClientEvent::Changes));
        shown
    }

    /// Returns every block of the turn, for a client that resumes.
    pub(super) async fn all_blocks(&mut self) -> Vec<ClientEvent<'static>> {
        let mut blocks = self.render(Side::A).await;
        blocks.extend(self.render(Side::B).await);
        if self.form == ReplyForm::Html {
            return blocks.into_iter().map(ClientEvent::Block).collect();
        }
        let mut changes = None;
        self.add_blocks(&mut changes, blocks);
        changes.into_iter().map(ClientEvent::Changes).collect()
    }

    /// Adds blocks to the changes.
    fn add_blocks(&self, changes: &mut Option<ShownChanges>, blocks: Vec<ShownBlock>) {
        for ShownBlock { turn, side, block, kept, mut html } in blocks {
            let none = || ShownChanges { turn, seq: 0, a: Vec::new(), b: Vec::new() };
            let changes = changes.get_or_insert_with(none);
            changes.seq = self.seq;
            let stays = html.drain(..kept).map(char::len_utf16).sum();
            match side {
                Side::A => changes.a.push(BlockPatch(block, stays, html)),
                Side::B => changes.b.push(BlockPatch(block, stays, html)),
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
    /// Whether enough new text has arrived to render again; the first words are rendered at once.
    fn is_due(&self) -> bool {
        let share = if self.text.len() < LONG_REPLY_BYTES { 64 } else { 12 };
        self.rendered == 0 || self.text.len() - self.rendered >= RENDER_INTERVAL_BYTES.max(self.text.len() / share)
    }

    async fn render(&mut self) -> Vec<BlockChange> {
        self.rendered = self.text.len();
        if self.text.len() < LONG_REPLY_BYTES {
            return self.renderer.update(&self.text);
        }
        let (text, mut renderer) = (self.text.clone(), std::mem::take(&mut self.renderer));
        let rendered = tokio::task::spawn_blocking(move || (renderer.update(&text), renderer)).await;
        // Only a panic in the renderer, which catches its own, could lose the thread; the text can still be requested.
        let Ok((changed, renderer)) = rendered else { return Vec::new() };
        self.renderer = renderer;
        changed
    }
}
