//! Detects the format and the compression of a file by its first bytes; the name is ignored.

use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek};
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::limits::{Bounded, ReadLimits};
use crate::temporary_copy::copy_at_most;
use crate::text_file::refuse_binary;

const PARQUET_MAGIC: &[u8] = b"PAR1";
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Bytes of text inspected to detect the format.
const INSPECTED_BYTES: u64 = 64 * 1024;

/// A file of votes, opened.
pub(super) enum VoteFile {
    /// Columns on disk.
    Parquet(SharedFile),
    /// One JSON array.
    Array(Text),
    /// One JSON object a line.
    Lines(Text),
    /// A header and fields between delimiters.
    Delimited(Text, u8),
}

/// Text after its byte order mark.
pub(super) type Text = Box<dyn Read + Send>;

impl VoteFile {
    /// Detects the format of a file from its current position.
    pub(super) fn open(mut file: File, limits: ReadLimits) -> io::Result<Self> {
        let head = read_head(&mut file)?;
        if head.starts_with(PARQUET_MAGIC) {
            // Offsets in Parquet count from the beginning of the data: a pipe cannot seek to it, and a redirected file may begin elsewhere.
            let is_whole = file.metadata()?.is_file() && file.stream_position()? == head.len() as u64;
            let whole = if is_whole { file } else { on_disk(head, Bounded::unpacked(file, limits))? };
            return SharedFile::new(whole).map(Self::Parquet);
        }
        if head.starts_with(GZIP_MAGIC) {
            let unpacked = Unpacked(MultiGzDecoder::new(Cursor::new(head).chain(file)));
            Self::unpacked(Bounded::unpacked(unpacked, limits))
        } else if head.starts_with(ZSTD_MAGIC) {
            let unpacked = Unpacked(zstd::Decoder::new(Cursor::new(head).chain(file))?);
            Self::unpacked(Bounded::unpacked(unpacked, limits))
        } else {
            Self::text(head, file)
        }
    }

    fn unpacked(mut inner: impl Read + Send + 'static) -> io::Result<Self> {
        let head = read_head(&mut inner)?;
        if head.starts_with(PARQUET_MAGIC) {
            return SharedFile::new(on_disk(head, inner)?).map(Self::Parquet);
        }
        Self::text(head, inner)
    }

    fn text(mut head: Vec<u8>, rest: impl Read + Send + 'static) -> io::Result<Self> {
        refuse_binary(&head)?;
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        let delimiter = delimiter_of(&head);
        let first = head.trim_ascii_start().first().copied();
        let text: Text = Box::new(Cursor::new(head).chain(rest));
        Ok(match first {
            Some(b'[') => Self::Array(text),
            // An empty file is an empty log of JSON lines.
            Some(b'{') | None => Self::Lines(text),
            _ => Self::Delimited(text, delimiter),
        })
    }
}

/// Decompressing reader whose errors say what to do.
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
                let reason = format!("it cannot be unpacked ({error}): it was cut off or damaged, so fetch it again");
                io::Error::new(error.kind(), reason)
            }
            _ => error,
        })
    }
}

/// Copies a stream to a temporary file: Parquet needs random access, and may not fit into memory.
fn on_disk(head: Vec<u8>, rest: impl Read) -> io::Result<File> {
    copy_at_most(Cursor::new(head).chain(rest), u64::MAX, &std::env::temp_dir())
}

/// Reads the first bytes, fewer only at the end of the file.
fn read_head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(INSPECTED_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// Detects the most frequent delimiter of the first line that is not blank.
pub(crate) fn delimiter_of(text: &[u8]) -> u8 {
    let mut lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let count = |delimiter: &u8| line.iter().filter(|&byte| byte == delimiter).count();
    // The last of equals wins.
    [b';', b'\t', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// A file on disk that several threads read at different places.
pub(super) struct SharedFile {
    file: Arc<File>,
    length: u64,
}

impl SharedFile {
    fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<PositionedReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(PositionedReader { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A stated length may be wrong: the allocation is bounded by the file's length.
        let there = self.length.saturating_sub(start).min(length as u64);
        let mut bytes = Vec::with_capacity(usize::try_from(there).unwrap_or(0));
        let mut rest = PositionedReader { file: Arc::clone(&self.file), at: start }.take(length as u64);
        rest.read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF("the file ends too early".into()));
        }
        Ok(bytes.into())
    }
}

/// Reader with its own position in a shared file.
pub(super) struct PositionedReader {
    file: Arc<File>,
    at: u64,
}

impl Read for PositionedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
