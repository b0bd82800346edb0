//! The two readers of replies, for event streams and JSON lines; each provider interprets one event or line.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::error::Category;

use super::super::http::transport::{ReplyReader, StreamProgress};
use super::super::{ChatError, ReplyPart};
use super::line_buffer::LineBuffer;
use super::sse::{SseDecoder, SseEvent};

/// Reader of a reply as server-sent events.
pub(crate) struct SseReader<F> {
    decoder: SseDecoder,
    read_event: F,
    has_begun: bool,
    has_end_marker: bool,
    /// Whether the provider marked the end of the text.
    is_closing: bool,
}

impl<F> SseReader<F>
where
    F: FnMut(SseEvent<'_>, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>,
{
    /// Creates a reader; `read_event` interprets one event.
    pub(crate) fn new(read_event: F) -> Self {
        Self { decoder: SseDecoder::default(), read_event, has_begun: false, has_end_marker: false, is_closing: false }
    }

    /// Sets that every complete reply of the protocol has an end marker.
    pub(crate) fn with_end(self) -> Self {
        Self { has_end_marker: true, ..self }
    }

    fn read_all(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        match self.read_events(parts) {
            // The text had ended: the malformed data came after it.
            Err(ChatError::Malformed(_)) if self.is_closing => Ok(StreamProgress::Ended),
            read => read,
        }
    }

    fn read_events(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        let mut progress = StreamProgress::More;
        while let Some(event) = self.decoder.next_event().map_err(|error| ChatError::Malformed(error.to_string()))? {
            if event.is_keep_alive() {
                continue;
            }
            self.has_begun = true;
            match (self.read_event)(event, parts)? {
                StreamProgress::More => {}
                StreamProgress::Closing => (self.is_closing, progress) = (true, StreamProgress::Closing),
                StreamProgress::Ended => return Ok(StreamProgress::Ended),
            }
        }
        Ok(progress)
    }
}

impl<F> ReplyReader for SseReader<F>
where
    F: FnMut(SseEvent<'_>, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> + Send + 'static,
{
    fn read(&mut self, chunk: &[u8], parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        self.decoder.push(chunk);
        self.read_all(parts)
    }

    fn finish(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        self.decoder.finish();
        self.read_all(parts)
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn has_end_marker(&self) -> bool {
        self.has_end_marker
    }
}

/// Reader of a reply with one JSON object per line, the last of which is marked.
pub(crate) struct LineReader<F> {
    lines: LineBuffer,
    read_line: F,
    has_begun: bool,
}

impl<F> LineReader<F>
where
    F: FnMut(&str, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>,
{
    /// Creates a reader; `read_line` interprets one line and is never called with a blank one.
    pub(crate) fn new(read_line: F) -> Self {
        Self { lines: LineBuffer::default(), read_line, has_begun: false }
    }
}

impl<F> ReplyReader for LineReader<F>
where
    F: FnMut(&str, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> + Send + 'static,
{
    fn read(&mut self, chunk: &[u8], parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        self.lines.push(chunk);
        while let Some(line) = self.lines.next_line().map_err(|error| ChatError::Malformed(error.to_string()))? {
            self.has_begun |= !line.trim_ascii().is_empty();
            if read_one(line, &mut self.read_line, parts)? == StreamProgress::Ended {
                return Ok(StreamProgress::Ended);
            }
        }
        Ok(StreamProgress::More)
    }

    fn finish(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        let Some(line) = self.lines.last_line() else { return Ok(StreamProgress::More) };
        self.has_begun |= !line.trim_ascii().is_empty();
        read_one(line, &mut self.read_line, parts)
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn has_end_marker(&self) -> bool {
        true
    }
}

fn read_one<F>(line: &[u8], read_line: &mut F, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>
where
    F: FnMut(&str, &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>,
{
    if line.trim_ascii().is_empty() {
        return Ok(StreamProgress::More);
    }
    let line = str::from_utf8(line).map_err(|_| ChatError::Malformed("a line that is not UTF-8".into()))?;
    read_line(line, parts)
}

/// Parses one event. The error gives the position and quotes nothing of the text, which could hold a secret.
pub(crate) fn parse_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ChatError> {
    serde_json::from_str(text).map_err(|error| {
        let what = match error.classify() {
            Category::Eof => "an event of JSON that breaks off",
            Category::Data => "an event of an unknown shape",
            Category::Syntax | Category::Io => "an event that is not JSON",
        };
        ChatError::Malformed(format!("{what} (column {})", error.column()))
    })
}
