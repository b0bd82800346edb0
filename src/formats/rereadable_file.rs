//! A file, or a copy of what comes from a pipe, that can be read more than once.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::hex::hex;
use crate::text_file::input_path;

/// Bytes read at a time.
const BLOCK: usize = 1 << 16;

/// A file that can be read more than once.
#[derive(Debug)]
pub struct RereadableFile {
    path: PathBuf,
    /// Keeps the copy of a pipe, which has no name.
    _copy: Option<File>,
}

impl RereadableFile {
    /// A file as it is; `-` is the standard input. What is no file, such as a pipe, gives its bytes once: they are copied into a file of the folder for temporary files,
    /// which has no name, so that it goes with the process however that ends. `most` says how many bytes this folder takes.
    ///
    /// # Errors
    /// The file or pipe cannot be read, or the copy cannot be written.
    pub fn open(path: &Path, most: impl FnOnce(&Path) -> io::Result<u64>) -> io::Result<Self> {
        let path = input_path(path);
        let source = File::open(path)?;
        if source.metadata()?.is_file() {
            return Ok(Self { path: path.to_owned(), _copy: None });
        }
        let folder = std::env::temp_dir();
        let copy = copy_at_most(source, most(&folder)?, &folder)?;
        Ok(Self { path: PathBuf::from(format!("/dev/fd/{}", copy.as_raw_fd())), _copy: Some(copy) })
    }

    /// Where it can be opened as long as this value lives.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// 32 hexadecimal digits that stand for its bytes.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn digest(&self) -> io::Result<String> {
        let (mut file, mut digest, mut block) = (File::open(&self.path)?, Sha256::new(), vec![0; BLOCK]);
        loop {
            match file.read(&mut block)? {
                0 => break,
                read => digest.update(&block[..read]),
            }
        }
        Ok(hex(&digest.finalize()[..16]))
    }
}

/// Copies all of a source into a file of this folder, which has no name. One that gives more bytes is refused.
fn copy_at_most(source: impl Read, most: u64, folder: &Path) -> io::Result<File> {
    let unwritable = |error: io::Error| {
        let reason =
            format!("what comes from it cannot be kept in {}: {error}; set TMPDIR to another folder", folder.display());
        io::Error::new(error.kind(), reason)
    };
    let mut copy = tempfile::tempfile_in(folder).map_err(unwritable)?;
    let mut source = source.take(most.saturating_add(1));
    let (mut block, mut copied) = (vec![0; BLOCK], 0);
    loop {
        let read = source.read(&mut block)?;
        copied += read as u64;
        if copied > most {
            let reason = format!("more than {most} bytes come from it: write them to a file, and import that");
            return Err(io::Error::other(reason));
        }
        if read == 0 {
            return Ok(copy);
        }
        copy.write_all(&block[..read]).map_err(unwritable)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_without_end_is_refused_at_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let refused = copy_at_most(io::repeat(b'x'), 100_000, folder.path()).unwrap_err().to_string();
        assert_eq!(refused, "more than 100000 bytes come from it: write them to a file, and import that");
        let copy = copy_at_most(io::repeat(b'x').take(100_000), 100_000, folder.path()).unwrap();
        assert_eq!(copy.metadata().unwrap().len(), 100_000);
        let nowhere = copy_at_most(io::empty(), 1, &folder.path().join("absent")).unwrap_err().to_string();
        assert!(
            nowhere.contains("cannot be kept in") && nowhere.ends_with("set TMPDIR to another folder"),
            "{nowhere}"
        );
    }

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
}
