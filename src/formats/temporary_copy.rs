//! Temporary copy of a source that can be read only once, such as a pipe.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// Bytes copied at a time.
const BLOCK_BYTES: u64 = 1 << 16;

/// Copies a source into an unnamed file of this folder, and returns it at its beginning. Without a name, the file is deleted when the
/// process ends in any way. A source of more than `most` bytes is refused.
///
/// # Errors
/// The source cannot be read or is too large, or the folder cannot be written: then the error says how to name another folder.
pub(crate) fn copy_at_most(source: impl Read, most: u64, folder: &Path) -> io::Result<File> {
    let unwritable = |error: io::Error| {
        let reason =
            format!("a copy of it cannot be kept in {}: {error}; set TMPDIR to another folder", folder.display());
        io::Error::new(error.kind(), reason)
    };
    let mut copy = tempfile::tempfile_in(folder).map_err(unwritable)?;
    let mut source = source.take(most.saturating_add(1));
    let (mut block, mut copied) = (Vec::new(), 0);
    loop {
        block.clear();
        source.by_ref().take(BLOCK_BYTES).read_to_end(&mut block)?;
        copied += block.len() as u64;
        if copied > most {
            let reason = format!("more than {most} bytes come from it: write them to a file, and import that");
            return Err(io::Error::other(reason));
        }
        if block.is_empty() {
            copy.rewind()?;
            return Ok(copy);
        }
        copy.write_all(&block).map_err(unwritable)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_end_is_refused_at_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let refused = copy_at_most(io::repeat(b'x'), 100_000, folder.path()).unwrap_err().to_string();
        assert_eq!(refused, "more than 100000 bytes come from it: write them to a file, and import that");
        let mut copied = Vec::new();
        let mut copy = copy_at_most(io::repeat(b'x').take(100_000), 100_000, folder.path()).unwrap();
        copy.read_to_end(&mut copied).unwrap();
        assert_eq!(copied.len(), 100_000);
    }

    #[test]
    fn a_folder_that_takes_no_copy_is_named_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = copy_at_most(io::empty(), 1, &folder.path().join("absent")).unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
        let told = nowhere.to_string();
        assert!(told.contains("cannot be kept in") && told.ends_with("set TMPDIR to another folder"), "{told}");
    }
}
