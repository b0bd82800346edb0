//! A file as it is opened: packed or not, Parquet or text. What it is shows in its first bytes; its name says nothing.

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

const PARQUET: &[u8] = b"PAR1";
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Bytes of text that are looked at for its format.
const LOOK: u64 = 64 * 1024;

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
    /// The votes of a file from where it stands.
    pub(super) fn open(mut file: File, limits: ReadLimits) -> io::Result<Self> {
        let head = read_head(&mut file)?;
        if head.starts_with(PARQUET) {
            // Places in Parquet count from its beginning, which a pipe has left behind and a redirected file may have elsewhere.
            let is_whole = file.metadata()?.is_file() && file.stream_position()? == head.len() as u64;
            let whole = if is_whole { file } else { on_disk(head, Bounded::unpacked(file, limits))? };
            return SharedFile::new(whole).map(Self::Parquet);
        }
        if head.starts_with(GZIP) {
            let unpacked = Unpacked(MultiGzDecoder::new(Cursor::new(head).chain(file)));
            Self::unpacked(Bounded::unpacked(unpacked, limits))
        } else if head.starts_with(ZSTD) {
            let unpacked = Unpacked(zstd::Decoder::new(Cursor::new(head).chain(file))?);
            Self::unpacked(Bounded::unpacked(unpacked, limits))
        } else {
            Self::text(head, file)
        }
    }

    fn unpacked(mut inner: impl Read + Send + 'static) -> io::Result<Self> {
        let head = read_head(&mut inner)?;
        if head.starts_with(PARQUET) {
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
            // Nothing at all is how a log without votes looks in lines.
            Some(b'{') | None => Self::Lines(text),
            _ => Self::Delimited(text, delimiter),
        })
    }
}

/// What a packed file unpacks to. Where it cannot be unpacked, the error says what to do.
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

/// A file of what can be read only once: the columns of Parquet are read from several places, and may be more than fits into memory.
fn on_disk(head: Vec<u8>, rest: impl Read) -> io::Result<File> {
    copy_at_most(Cursor::new(head).chain(rest), u64::MAX, &std::env::temp_dir())
}

/// The first bytes, fewer only where the file ends.
fn read_head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(LOOK).read_to_end(&mut head)?;
    Ok(head)
}

/// What the first line has most of.
pub(crate) fn delimiter_of(text: &[u8]) -> u8 {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
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
        // What the file says of itself may be wrong: no more is made room for than it has.
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

/// Reads on from a place of its own, whatever else reads the same file.
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
