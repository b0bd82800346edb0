//! Parser of server-sent events from byte chunks of any size, which may split characters.
//!
//! Pure, and it never panics. Follows the `text/event-stream` format with four additions that real servers need: an event counts without
//! its closing blank line when the stream ends, a byte-order mark is skipped, a line `error: …` (llama.cpp) is an event named `error`, and
//! an event of that name needs no data. An event is bounded by [`super::line_buffer::MAX_LINE_BYTES`].

use std::str;

use super::line_buffer::{LineBuffer, MAX_LINE_BYTES, TooLong};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Keep-alive texts that servers and proxies write into an event.
const KEEP_ALIVES: [&str; 4] = ["ping", "keep-alive", "keepalive", "heartbeat"];

/// A server-sent event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// Value of the `event:` line; empty if there was none.
    pub name: &'a str,
    /// The `data:` lines, joined with `\n`.
    pub data: &'a str,
}

impl SseEvent<'_> {
    /// Whether the event is only a keep-alive: its name or its data says so, or its data is a comment that a proxy has forwarded as data.
    pub(crate) fn is_keep_alive(&self) -> bool {
        let data = self.data.trim();
        let says_so = |text: &str| KEEP_ALIVES.iter().any(|word| text.eq_ignore_ascii_case(word));
        self.name != "error" && (says_so(self.name) || says_so(data) || data.starts_with(':'))
    }
}

/// Error of an event stream, after which it cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event longer than the limit.
    #[error("an event of more than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// Data that is not UTF-8.
    #[error("an event that is not UTF-8")]
    NotUtf8,
}

impl From<TooLong> for SseError {
    fn from(_: TooLong) -> Self {
        SseError::TooLong
    }
}

/// Decoder that takes chunks and returns events. After an error it returns nothing more.
#[derive(Debug, Default)]
pub struct SseDecoder {
    lines: LineBuffer,
    event: EventBuffer,
    begun: bool,
    finished: bool,
    failed: bool,
    /// Whether the event in `event` was returned: the next line starts another one.
    given_out: bool,
}

impl SseDecoder {
    /// Appends the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        if !self.failed {
            self.lines.push(chunk);
        }
    }

    /// Marks the end of the input: an event without its closing blank line is returned too.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Returns the next complete event; `None` until more bytes arrive.
    ///
    /// # Errors
    /// [`SseError`], once.
    pub fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, SseError> {
        if self.failed {
            return Ok(None);
        }
        match self.read_until_complete() {
            Ok(false) => Ok(None),
            Ok(true) => self.event.view().map(Some).inspect_err(|_| self.failed = true),
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    /// Reads lines; returns `true` once `event` is complete.
    fn read_until_complete(&mut self) -> Result<bool, SseError> {
        if std::mem::take(&mut self.given_out) {
            self.event.clear();
        }
        while let Some(line) = self.lines.next_line()? {
            let line = without_mark(line, &mut self.begun);
            if !line.is_empty() {
                self.event.take(line)?;
            } else if self.event.is_whole() {
                self.given_out = true;
                return Ok(true);
            } else {
                self.event.clear();
            }
        }
        if self.finished {
            if let Some(line) = self.lines.last_line() {
                self.event.take(without_mark(line, &mut self.begun))?;
            }
            self.given_out = true;
            return Ok(self.event.is_whole());
        }
        Ok(false)
    }
}

/// Strips the byte-order mark from the first line of the stream.
fn without_mark<'a>(line: &'a [u8], begun: &mut bool) -> &'a [u8] {
    if std::mem::replace(begun, true) { line } else { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) }
}

/// Lines of the current event.
#[derive(Debug, Default)]
struct EventBuffer {
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl EventBuffer {
    fn take(&mut self, line: &[u8]) -> Result<(), SseError> {
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
                Ok(())
            }
            b"error" => {
                self.name.clear();
                self.name.extend_from_slice(field);
                self.add_data(value)
            }
            // Comments (no field name), `id`, `retry` and unknown fields are irrelevant for the text.
            _ => Ok(()),
        }
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), SseError> {
        if self.data.len() + value.len() > MAX_LINE_BYTES {
            return Err(SseError::TooLong);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    /// Whether the event is complete: one without data is ignored unless it is named `error`.
    fn is_whole(&self) -> bool {
        self.has_data || self.name == b"error"
    }

    fn view(&self) -> Result<SseEvent<'_>, SseError> {
        let text = |bytes| str::from_utf8(bytes).map_err(|_| SseError::NotUtf8);
        Ok(SseEvent { name: text(&self.name)?, data: text(&self.data)? })
    }

    fn clear(&mut self) {
        self.name.clear();
        self.data.clear();
        self.has_data = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Events = Result<Vec<(String, String)>, SseError>;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Events {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let mut drain = |decoder: &mut SseDecoder| {
            while let Some(event) = decoder.next_event()? {
                events.push((event.name.to_owned(), event.data.to_owned()));
            }
            Ok::<(), SseError>(())
        };
        for chunk in chunks {
            decoder.push(chunk);
            drain(&mut decoder)?;
        }
        decoder.finish();
        drain(&mut decoder)?;
        Ok(events)
    }

    /// Checks the data of the events, for the whole input and for one byte at a time.
    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        for events in [decode([input.as_bytes()]), decode(input.as_bytes().chunks(1))] {
            let data: Vec<String> = events.unwrap().into_iter().map(|(_, data)| data).collect();
            assert_eq!(data, expected, "{input:?}");
        }
    }

    #[test]
    fn events_end_at_a_blank_line_whatever_the_line_ends() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
    }

    #[test]
    fn data_lines_of_one_event_are_joined() {
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data\ndata:\n\n", &["\n"]);
        check("data:  two spaces lose one\n\n", &[" two spaces lose one"]);
    }

    #[test]
    fn comments_ids_and_unknown_fields_are_passed_over() {
        check(": keep-alive\n\ndata: a\nid: 7\nretry: 10\nwhat: ever\n\n: bye\n", &["a"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_only() {
        check("\u{feff}data: a\n\n", &["a"]);
        check("\u{feff}data: a", &["a"]);
        check("data: a\n\n\u{feff}data: b\n\n", &["a"]);
    }

    #[test]
    fn the_last_event_needs_neither_blank_line_nor_line_end() {
        check("data: a\n\ndata: b\n", &["a", "b"]);
        check("data: a\n\ndata: b", &["a", "b"]);
        check("data: a\n\n", &["a"]);
        check("", &[]);
    }

    #[test]
    fn a_character_may_be_split_over_chunks() {
        check("data: 你好 😀\n\n", &["你好 😀"]);
    }

    #[test]
    fn the_event_name_belongs_to_one_event() {
        let events = decode([b"event: ping\ndata: a\n\ndata: b\n\nevent: lost\n\ndata: c\n\n".as_slice()]).unwrap();
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ping", "", ""]);
    }

    #[test]
    fn an_error_line_is_an_event_named_error() {
        let events = decode([b"error: {\"code\":500}\n\n".as_slice()]).unwrap();
        assert_eq!(events, [("error".to_owned(), "{\"code\":500}".to_owned())]);
    }

    #[test]
    fn an_event_that_only_shows_that_the_connection_lives_is_known_by_its_name_or_its_data() {
        let is_keep_alive = |name, data| SseEvent { name, data }.is_keep_alive();
        for data in ["ping", " PING ", "keep-alive", "KeepAlive", "heartbeat", ": OPENROUTER PROCESSING"] {
            assert!(is_keep_alive("", data) && !is_keep_alive("error", data), "{data}");
        }
        assert!(is_keep_alive("ping", "2026-11-21T08:00:00Z") && is_keep_alive("Heartbeat", "{}"));
        for data in ["", "{\"content\":\"ping\"}", "ping pong", "overloaded", "\"ping\"", "[DONE]"] {
            assert!(!is_keep_alive("", data) && !is_keep_alive("error", data), "{data}");
        }
    }

    #[test]
    fn an_event_named_error_needs_no_data() {
        for input in ["event: error\n\ndata: a\n\n", "event: error"] {
            let events = decode([input.as_bytes()]).unwrap();
            assert_eq!(events[0], ("error".to_owned(), String::new()), "{input:?}");
        }
    }

    #[test]
    fn an_event_beyond_the_bound_is_refused_once_and_ends_the_stream() {
        let line = format!("data: {}\n", "x".repeat(MAX_LINE_BYTES / 2));
        let mut decoder = SseDecoder::default();
        for _ in 0..3 {
            decoder.push(line.as_bytes());
        }
        assert_eq!(decoder.next_event(), Err(SseError::TooLong));
        decoder.push(b"data: a\n\n");
        assert_eq!(decoder.next_event(), Ok(None));
    }

    #[test]
    fn data_that_is_not_utf8_is_refused() {
        assert_eq!(decode([b"data: \xff\xfe\n\n".as_slice()]), Err(SseError::NotUtf8));
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            lines in prop::collection::vec(("(data: ?|event: |: |id: |)[a-z你😀 ]{0,8}", "\n|\r\n|\r|\n\n"), 0..20),
            cuts in prop::collection::vec(0usize..200, 0..12),
        ) {
            let bytes: Vec<u8> = lines.iter().flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()].concat()).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunked = decode(cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]));
            prop_assert_eq!(chunked, decode([bytes.as_slice()]));
        }

        #[test]
        fn no_bytes_make_it_panic(chunks in prop::collection::vec(prop::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd')], 0..40), 0..20)) {
            // An error is as good as events here: only a panic fails.
            drop(decode(chunks.iter().map(Vec::as_slice)));
        }
    }
}
