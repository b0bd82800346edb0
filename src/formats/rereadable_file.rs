//! Files that can be read more than once; data from a pipe is copied.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::domain::hex::hex;
use crate::standard_input::open_input;
use crate::temporary_copy::copy_at_most;

/// Bytes read at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// A file that can be read more than once.
#[derive(Debug)]
pub struct RereadableFile {
    file: File,
    /// Start offset: other processes may have read a part of a redirected file.
    start: u64,
}

impl RereadableFile {
    /// Opens a file; `-` is the standard input. A pipe or a socket, readable only once, is copied to the folder for temporary files.
    /// `most` returns the maximum bytes for this folder.
    ///
    /// # Errors
    /// The file or pipe cannot be read, or the copy cannot be written.
    pub fn open(path: &Path, most: impl FnOnce(&Path) -> io::Result<u64>) -> io::Result<Self> {
        let mut source = open_input(path)?;
        if source.metadata()?.is_file() {
            let start = source.stream_position()?;
            return Ok(Self { file: source, start });
        }
        let folder = std::env::temp_dir();
        Ok(Self { file: copy_at_most(source, most(&folder)?, &folder)?, start: 0 })
    }

    /// Returns a reader from the beginning. All readers share one position, so one must be finished before the next is requested.
    ///
    /// # Errors
    /// I/O errors.
    pub fn reader(&self) -> io::Result<File> {
        let mut reader = self.file.try_clone()?;
        reader.seek(SeekFrom::Start(self.start))?;
        Ok(reader)
    }

    /// Computes a digest of the contents, as 32 hexadecimal digits.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn digest(&self) -> io::Result<String> {
        let (mut file, mut digest, mut block) = (self.reader()?, Sha256::new(), vec![0; BLOCK_BYTES]);
        loop {
            match file.read(&mut block)? {
                0 => break,
                read => digest.update(&block[..read]),
            }
        }
        Ok(hex(&digest.finalize()[..16]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_equal_digests() {
        let folder = tempfile::tempdir().unwrap();
        let digest = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            RereadableFile::open(&path, |_| Ok(0)).unwrap().digest().unwrap()
        };
        let one = digest("one", b"votes");
        assert_eq!((one.len(), &one), (32, &digest("two", b"votes")));
        assert_ne!(one, digest("three", b"other votes"));
    }

    #[test]
    fn every_reader_begins_where_the_file_was_handed_over() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"notes;votes").unwrap();
        let whole = RereadableFile { file, start: 6 };
        let read = || io::read_to_string(whole.reader().unwrap()).unwrap();
        assert_eq!([read(), read()], ["votes", "votes"]);
    }
}
