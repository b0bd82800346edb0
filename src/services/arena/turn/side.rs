//! One side of a turn: its model, its reply so far, and its ending.

use crate::domain::battle::{ModelId, Side};
use crate::domain::visible_text::has_visible_text;
use crate::infra::llm::resilient_model::{ResilientModel, VisitorQuestion};
use crate::infra::llm::{ChatError, Message, ReplyPart, ReplyStream};
use crate::infra::storage::{NewReply, ReplyEnding};
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::Instant;

/// One side of a turn while it answers.
pub(super) struct SideRun {
    pub(super) model: ModelId,
    pub(super) stream: Option<ReplyStream>,
    pub(super) asked_at: Instant,
    pub(super) first_token_at: Option<Instant>,
    pub(super) ended_at: Option<Instant>,
    pub(super) ending: ReplyEnding,
    pub(super) received_bytes: usize,
    /// Invisible text received before the first visible text.
    blank: String,
    pub(super) shown: String,
    pub(super) reasoning: String,
}

impl SideRun {
    pub(super) fn new(model: ModelId) -> Self {
        Self {
            model,
            stream: None,
            asked_at: Instant::now(),
            first_token_at: None,
            ended_at: None,
            ending: ReplyEnding::Complete,
            received_bytes: 0,
            blank: String::new(),
            shown: String::new(),
            reasoning: String::new(),
        }
    }

    /// Starts the reply of the side's model to a visitor's prompt at the end of a conversation, unless either is unavailable.
    pub(super) fn ask(
        &mut self,
        model: Option<&ResilientModel>,
        question: VisitorQuestion,
        conversation: Result<&[Message], ChatError>,
    ) -> Result<(), ChatError> {
        self.asked_at = Instant::now();
        // The replacement must not inherit text or reasoning of the failed model.
        self.stream = None;
        self.reasoning.clear();
        self.blank.clear();
        let gone = || ChatError::Unreached("the model is no longer configured".into());
        self.stream = Some(model.ok_or_else(gone)?.reply_to(question, conversation?));
        Ok(())
    }

    pub(super) async fn next_part(&mut self) -> Option<Result<ReplyPart, ChatError>> {
        match &mut self.stream {
            Some(stream) => stream.next().await,
            None => std::future::pending().await,
        }
    }

    /// Appends to the reply, up to `limit` bytes in total; `true` if the limit is reached. White space and other invisible text is held
    /// back until the first visible text, so a side without visible text counts as unseen.
    pub(super) fn receive(&mut self, text: String, limit: usize) -> (String, bool) {
        let mut text = without_nul(text);
        if self.first_token_at.is_none() {
            if self.blank.len() + text.len() < limit && !has_visible_text(&text) {
                self.blank.push_str(&text);
                return (String::new(), false);
            }
            text = std::mem::take(&mut self.blank) + &text;
        }
        let room = limit.saturating_sub(self.received_bytes);
        let is_full = text.len() >= room;
        text.truncate(text.floor_char_boundary(room));
        self.first_token_at.get_or_insert_with(Instant::now);
        self.received_bytes += text.len();
        (text, is_full)
    }

    /// Closes the upstream; the first call sets the end time.
    pub(super) fn end(&mut self, ending: ReplyEnding) {
        self.stream = None;
        self.ending = ending;
        self.ended_at.get_or_insert_with(Instant::now);
    }

    /// Whether the model completed its reply, or reached the length limit.
    pub(super) fn has_answered(&self) -> bool {
        let is_whole = matches!(self.ending, ReplyEnding::Complete | ReplyEnding::Cut);
        is_whole && self.ended_at.is_some() && self.first_token_at.is_some()
    }

    pub(super) fn is_fully_shown(&self) -> bool {
        self.shown.len() == self.received_bytes
    }

    pub(super) fn into_new_reply(self, side: Side) -> NewReply {
        let since_asked = |at: Instant| millis(at.duration_since(self.asked_at));
        NewReply {
            side,
            first_token_ms: self.first_token_at.map(since_asked),
            duration_ms: since_asked(self.ended_at.unwrap_or_else(Instant::now)),
            model: self.model,
            text: self.shown,
            reasoning: self.reasoning,
            ending: self.ending,
        }
    }
}

/// Removes NUL characters, which not every database accepts in text columns.
pub(super) fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_at_its_limit_also_within_one_long_piece() {
        let mut run = SideRun::new(ModelId::new("m"));
        assert_eq!(run.receive("12\u{0}345".into(), 9), ("12345".to_owned(), false));
        assert_eq!(run.receive("你好".into(), 9), ("你".to_owned(), true), "a character stays whole");
        assert_eq!(run.received_bytes, 8);
    }

    #[test]
    fn white_space_waits_for_the_first_text_that_can_be_seen() {
        let mut run = SideRun::new(ModelId::new("m"));
        for blank in [" ", "\n\u{200b}"] {
            assert_eq!(run.receive(blank.into(), 9), (String::new(), false));
        }
        assert!(run.first_token_at.is_none(), "nothing was seen, so another model may take its place");
        assert_eq!(run.receive("one".into(), 9), (" \n\u{200b}one".to_owned(), false));
        assert_eq!(run.receive(" ".into(), 9), (" ".to_owned(), true), "later white space is text");
        let mut run = SideRun::new(ModelId::new("m"));
        assert_eq!(
            run.receive("          ".into(), 9),
            (" ".repeat(9), true),
            "a reply of white space has its end too"
        );
    }
}
