//! Text in blocks of whole records, so that several threads read one file.
//!
//! A block ends after its last line end outside quotes. Blocks are read while earlier ones are parsed, and merged in file order, so that
//! the first bad row is reported.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;

use super::ReadOptions;
use super::batch::VoteBatch;
use super::error::{FilePosition, RowError};
use super::limits::ReadLimits;

/// Bytes of a block, unless a record is longer.
const BLOCK_BYTES: usize = 1024 * 1024;
/// Concurrent blocks per thread.
const BLOCKS_PER_THREAD: usize = 4;

/// Splits a text into blocks.
pub(super) struct Blocks<R> {
    source: R,
    /// Field delimiter; with one, line ends in quoted fields are text.
    delimiter: Option<u8>,
    limits: ReadLimits,
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read + Send> Blocks<R> {
    /// Creates a splitter of records that end with their line, except for line ends in quoted fields with a delimiter.
    pub(super) fn new(source: R, delimiter: Option<u8>, limits: ReadLimits) -> Self {
        Self { source, delimiter, limits, rest: Vec::new(), ended: false }
    }

    /// The next records, or `None` at the end. A block has several records, or one that may be as long as the limit.
    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut block = std::mem::take(&mut self.rest);
        let longest = usize::try_from(self.limits.line_bytes).unwrap_or(usize::MAX).max(BLOCK_BYTES);
        let mut wanted = BLOCK_BYTES;
        while !self.ended {
            let missing = wanted.saturating_sub(block.len());
            block.reserve(missing);
            let read = (&mut self.source).take(missing as u64).read_to_end(&mut block)?;
            self.ended = read < missing;
            if let Some(end) = self.last_end(&block).filter(|_| !self.ended) {
                self.rest = block.split_off(end);
                return Ok(Some(block));
            }
            if block.len() > longest {
                return Err(self.limits.line_too_long());
            }
            wanted = (2 * wanted).min(longest.saturating_add(1));
        }
        Ok((!block.is_empty()).then_some(block))
    }

    /// Reads several blocks, fewer at the end or if they are long.
    fn some(&mut self, blocks: usize) -> io::Result<Vec<Vec<u8>>> {
        let (mut some, mut bytes) = (Vec::with_capacity(blocks), 0);
        while bytes < blocks * BLOCK_BYTES
            && let Some(block) = self.next()?
        {
            bytes += block.len();
            some.push(block);
        }
        Ok(some)
    }

    /// End of the last complete record of a block.
    fn last_end(&self, block: &[u8]) -> Option<usize> {
        match self.delimiter {
            Some(delimiter) => last_end_outside_quotes(block, delimiter),
            None => memrchr(b'\n', block).map(|at| at + 1),
        }
    }
}

/// Follows the `csv` crate: a quote opens a field only at its beginning, and two quotes within one are text.
fn last_end_outside_quotes(block: &[u8], delimiter: u8) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    loop {
        let quote = memchr(b'"', &block[at..]).map(|quote| at + quote);
        let outside = &block[at..quote.unwrap_or(block.len())];
        end = memrchr(b'\n', outside).map(|line| at + line + 1).or(end);
        let Some(quote) = quote else { return end };
        let opens = quote == 0 || [delimiter, b'\n', b'\r'].contains(&block[quote - 1]);
        let last = if opens { closing_quote(block, quote + 1) } else { Some(quote) };
        let Some(last) = last else { return end };
        at = last + 1;
    }
}

/// Position of the quote that ends a field; `None` also if the next byte, which may make it text, is not read yet.
fn closing_quote(block: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr(b'"', block.get(at..)?)?;
        if *block.get(quote + 1)? != b'"' {
            return Some(quote);
        }
        at = quote + 2;
    }
}

/// Reason why reading stopped.
pub(super) enum Stopped {
    Unreadable(io::Error),
    Row(FilePosition, RowError),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// The votes of a block, or those before its first bad row, whose line is counted from 0 in the block.
pub(super) type ParsedBlock = (VoteBatch, Result<(), (u64, RowError)>);

/// Parses all blocks up to the first bad row. `total` then has the votes before it, regardless of the number of threads.
pub(super) fn read_blocks<R: Read + Send>(
    blocks: &mut Blocks<R>,
    total: &mut VoteBatch,
    parse: impl Fn(&[u8]) -> ParsedBlock + Sync,
) -> Result<(), Stopped> {
    let many = BLOCKS_PER_THREAD * rayon::current_num_threads();
    let mut wave = blocks.some(many)?;
    while !wave.is_empty() {
        let parse_wave = || wave.par_iter().map(|block| parse(block)).collect::<Vec<_>>();
        let (batches, next) = rayon::join(parse_wave, || blocks.some(many));
        for (batch, done) in batches {
            let lines_before = total.rows;
            total.append(&batch);
            done.map_err(|(line, reason)| Stopped::Row(FilePosition::Line(lines_before + line + 1), reason))?;
        }
        wave = next?;
    }
    Ok(())
}

/// Handles a bad row: counts it if bad rows are skipped, otherwise stops.
pub(super) fn handle_row_result(
    batch: &mut VoteBatch,
    options: &ReadOptions,
    done: Result<(), RowError>,
    line: u64,
) -> Result<(), (u64, RowError)> {
    match done {
        Err(reason) if options.skip_bad => batch.exclude(reason.kind()),
        Err(reason) => return Err((line, reason)),
        Ok(()) => {}
    }
    Ok(())
}

/// Number of line ends.
pub(super) fn count_lines(block: &[u8]) -> u64 {
    memchr_iter(b'\n', block).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: &str, whole: &str) {
        assert_eq!(last_end_outside_quotes(block.as_bytes(), b',').unwrap_or(0), whole.len(), "{block:?}");
    }

    #[test]
    fn a_block_ends_behind_the_last_line_end_outside_quotes() {
        check("a,b\nc,d\ne", "a,b\nc,d\n");
        check("a,\"b\nc\"\nd,\"e\nf", "a,\"b\nc\"\n");
        check("\"a\"\"\n\",b\nc", "\"a\"\"\n\",b\n");
        // A quote within an unquoted field is text.
        check("5\" disk,b\nc,d\n", "5\" disk,b\nc,d\n");
        // The quote at the end of a block may be the first of two.
        check("a\n\"b\"", "a\n");
        check("a\n\"b\n", "a\n");
        check("no end", "");
    }

    #[test]
    fn blocks_put_together_are_the_text() {
        let record = format!("\"{}\n\"\"\",x\n", "long ".repeat(50_000));
        let text = record.repeat(9) + "last";
        let mut blocks = Blocks::new(text.as_bytes(), Some(b','), ReadLimits::default());
        let mut again = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            assert!(block.starts_with(b"\"long") || block == b"last");
            again.extend(block);
        }
        assert_eq!(again, text.as_bytes());
    }

    #[test]
    fn a_record_may_be_as_long_as_the_limit() {
        let limits = ReadLimits { line_bytes: 2 << 20, ..ReadLimits::default() };
        for delimiter in [None, Some(b',')] {
            let read = |length: usize| {
                let text = format!("a\n\"{}\"\nb", "x".repeat(length - 3));
                let mut blocks = Blocks::new(text.as_bytes(), delimiter, limits);
                let mut records = 0;
                while let Some(block) = blocks.next()? {
                    records += block.len();
                }
                Ok::<_, io::Error>(records)
            };
            assert_eq!(read(2 << 20).unwrap(), (2 << 20) + 3);
            let refused = read((2 << 20) + 2).unwrap_err().to_string();
            assert!(refused.contains("--max-line-bytes"), "{refused}");
        }
    }
}
