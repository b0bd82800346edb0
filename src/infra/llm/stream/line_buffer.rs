//! Splits byte chunks of any size into lines: the base of the SSE decoder and of Ollama's JSON lines.
//!
//! A line ends at `\n`, `\r\n` or a lone `\r`, and is returned as soon as its end is known. The buffer is bounded: a line longer than
//! [`MAX_LINE_BYTES`] is an error.

use memchr::memchr2;

/// Maximum size of one line, and of one event, in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Error of a line (or a multi-line event) longer than [`MAX_LINE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_LINE_BYTES} bytes without an end")]
pub struct TooLong;

/// Buffer that takes chunks and returns lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the current line.
    start: usize,
    /// End of the part without a line end, so that a long line in many chunks is scanned only once.
    scanned: usize,
    /// Whether the last line ended in `\r`: a `\n` that follows belongs to the same line end.
    after_cr: bool,
}

impl LineBuffer {
    /// Appends the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// Returns the next complete line without its end; `None` until more bytes arrive.
    ///
    /// # Errors
    /// [`TooLong`] if the current line is longer than [`MAX_LINE_BYTES`].
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, TooLong> {
        if self.after_cr && self.start < self.bytes.len() {
            self.after_cr = false;
            if self.bytes[self.start] == b'\n' {
                self.start += 1;
                self.scanned = self.scanned.max(self.start);
            }
        }
        let unseen = &self.bytes[self.scanned..];
        let Some(length) = memchr2(b'\n', b'\r', unseen) else {
            self.scanned = self.bytes.len();
            return if self.scanned - self.start > MAX_LINE_BYTES { Err(TooLong) } else { Ok(None) };
        };
        let (start, end) = (self.start, self.scanned + length);
        self.after_cr = self.bytes[end] == b'\r';
        self.start = end + 1;
        self.scanned = self.start;
        if end - start > MAX_LINE_BYTES { Err(TooLong) } else { Ok(Some(&self.bytes[start..end])) }
    }

    /// Returns the last line at the end of the input if it has no line end.
    pub fn last_line(&mut self) -> Option<&[u8]> {
        let rest = self.start..self.bytes.len();
        self.start = self.bytes.len();
        self.scanned = self.start;
        if rest.is_empty() { None } else { Some(&self.bytes[rest]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chunks: &[&str], expected: &[&str]) {
        let mut buffer = LineBuffer::default();
        let mut lines: Vec<String> = Vec::new();
        for chunk in chunks {
            buffer.push(chunk.as_bytes());
            while let Some(line) = buffer.next_line().unwrap() {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        lines.extend(buffer.last_line().map(|line| String::from_utf8(line.to_vec()).unwrap()));
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_end_at_any_of_the_three_line_ends() {
        check(&["a\nb\r\nc\rd\n"], &["a", "b", "c", "d"]);
        check(&["\n\r\n\r"], &["", "", ""]);
    }

    #[test]
    fn a_line_end_split_over_two_chunks_is_one_line_end() {
        check(&["a\r", "\nb\r", "c"], &["a", "b", "c"]);
        check(&["a\r", "", "\n", "\n"], &["a", ""]);
    }

    #[test]
    fn the_last_line_needs_no_line_end() {
        check(&["a\nb", "c"], &["a", "bc"]);
        check(&[], &[]);
    }

    #[test]
    fn an_endless_line_is_refused_with_or_without_an_end() {
        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'x'; MAX_LINE_BYTES]);
        assert_eq!(buffer.next_line(), Ok(None));
        buffer.push(b"y");
        assert_eq!(buffer.next_line(), Err(TooLong));

        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'x'; MAX_LINE_BYTES + 1]);
        buffer.push(b"\n");
        assert_eq!(buffer.next_line(), Err(TooLong));
    }
}
