//! Size limits of records and decompressed data, so that a small file cannot exhaust memory or disk.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bounds on a file of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum bytes of one line, or of one object of a JSON array.
    pub line_bytes: u64,
    /// Maximum decompressed bytes of a file, and of the wanted columns of a Parquet file.
    pub decompressed_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { line_bytes: 64 << 20, decompressed_bytes: 64 << 30 }
    }
}

impl ReadLimits {
    /// Error of a line that is too long.
    pub(super) fn line_too_long(self) -> io::Error {
        let limit = self.line_bytes;
        let reason = format!("one vote takes more than {limit} bytes: raise --max-line-bytes if the file is right");
        io::Error::new(ErrorKind::InvalidData, reason)
    }

    /// Error of a file with too much decompressed data.
    pub(super) fn too_much(self) -> io::Error {
        let limit = self.decompressed_bytes;
        let reason =
            format!("it unpacks to more than {limit} bytes: raise --max-decompressed-bytes if the file is right");
        io::Error::new(ErrorKind::InvalidData, reason)
    }
}

/// Reader that fails beyond its allowance.
pub(super) struct Bounded<R> {
    inner: R,
    left: Allowance,
    failure: fn(ReadLimits) -> io::Error,
    limits: ReadLimits,
}

/// Remaining bytes of a [`Bounded`] reader; the parser renews it for each record.
#[derive(Clone)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    /// Sets the remaining bytes.
    pub(super) fn renew(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

impl<R: Read> Bounded<R> {
    /// Bounds the decompressed bytes of a file.
    pub(super) fn unpacked(inner: R, limits: ReadLimits) -> Self {
        let left = Allowance(Arc::new(limits.decompressed_bytes.into()));
        Self { inner, left, failure: ReadLimits::too_much, limits }
    }

    /// Bounds the bytes of each record; the parser renews the allowance after it.
    pub(super) fn by_record(inner: R, limits: ReadLimits) -> (Self, Allowance) {
        let left = Allowance(Arc::new(limits.line_bytes.into()));
        (Self { inner, left: left.clone(), failure: ReadLimits::line_too_long, limits }, left)
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.0.load(Ordering::Relaxed);
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 && !buffer.is_empty() {
            // Only a further byte exceeds the limit.
            let more = self.inner.read(&mut buffer[..1])?;
            return if more == 0 { Ok(0) } else { Err((self.failure)(self.limits)) };
        }
        let read = self.inner.read(&mut buffer[..room])?;
        self.left.0.fetch_sub(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gives_what_it_may_and_then_fails() {
        let limits = ReadLimits { decompressed_bytes: 4, ..ReadLimits::default() };
        let read = |text: &'static [u8]| {
            let mut read = Vec::new();
            Bounded::unpacked(text, limits).read_to_end(&mut read).map(|_| read)
        };
        assert_eq!(read(b"four").unwrap(), b"four");
        let refused = read(b"fives").unwrap_err().to_string();
        assert_eq!(refused, "it unpacks to more than 4 bytes: raise --max-decompressed-bytes if the file is right");
    }
}
