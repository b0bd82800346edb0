//! Append-only file of drafts: lines are synced to the disk, and only one process writes it.

use std::fs::{OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::locked_file::LockedFile;
use super::records::BenchFileError;
use crate::domain::benchmark::suites::superclue::drafts::{DraftLine, LINE_PREFIX, read};

/// File of drafts, open for appending.
#[derive(Debug)]
pub struct DraftFile {
    path: PathBuf,
    file: LockedFile,
}

impl DraftFile {
    /// Opens or creates a file and reads its drafts. An incomplete last line, left by a killed process, is removed.
    ///
    /// # Errors
    /// [`BenchFileError`], also if another process writes to it; the file is then unchanged.
    pub fn open(path: &Path) -> Result<(Self, Vec<DraftLine>), BenchFileError> {
        let unwritable = |source| BenchFileError::Unwritable { path: path.to_owned(), source };
        let file = lock(path).map_err(unwritable)?;
        let mut bytes = Vec::new();
        (&*file).read_to_end(&mut bytes).map_err(unwritable)?;
        let whole = whole_lines(&bytes);
        let lines = read(&bytes[..whole]).map_err(|error| BenchFileError::Data { path: path.to_owned(), error })?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(unwritable)?;
        } else if bytes.last().is_some_and(|byte| *byte != b'\n') {
            (&*file).write_all(b"\n").map_err(unwritable)?;
        }
        Ok((Self { path: path.to_owned(), file }, lines))
    }

    /// Appends lines and syncs them to the disk.
    pub fn append(&self, lines: &[DraftLine]) -> Result<(), BenchFileError> {
        let text: String = lines.iter().map(DraftLine::to_json).collect();
        let written = (&*self.file).write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source| BenchFileError::Unwritable { path: self.path.clone(), source })
    }
}

fn lock(path: &Path) -> io::Result<LockedFile> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    LockedFile::lock(file).map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("another langya writes to it: wait until it ends, or stop it"),
        TryLockError::Error(error) => error,
    })
}

/// Length without an incomplete draft in the last line. Other content is kept, since this program did not write it.
fn whole_lines(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = &bytes[last..];
    let is_begun = line.starts_with(LINE_PREFIX) || LINE_PREFIX.starts_with(line);
    if is_begun && serde_json::from_slice::<serde_json::Value>(line).is_err() { last } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::suites::superclue::drafts::InvalidDraft;

    fn line(id: &str) -> DraftLine {
        let unread = InvalidDraft { raw: "?".into(), reason: "none".into(), attempt: None };
        DraftLine {
            id: id.into(),
            capability: "计算".into(),
            original: "几？".into(),
            model: "m".into(),
            draft: Err(unread),
        }
    }

    #[test]
    fn a_line_that_was_cut_at_any_byte_is_taken_off_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drafts.jsonl");
        let (first, second) = (line("1").to_json(), line("2").to_json());
        for cut in 0..second.len() - 1 {
            std::fs::write(&path, [first.as_bytes(), &second.as_bytes()[..cut]].concat()).unwrap();
            let (file, lines) = DraftFile::open(&path).unwrap();
            assert_eq!(lines, [line("1")], "cut at {cut}");
            file.append(&[line("3")]).unwrap();
            drop(file);
            assert_eq!(DraftFile::open(&path).unwrap().1, [line("1"), line("3")], "cut at {cut}");
        }
        std::fs::write(&path, first.trim_end()).unwrap();
        let (file, lines) = DraftFile::open(&path).unwrap();
        file.append(&[line("2")]).unwrap();
        assert_eq!(lines, [line("1")], "an editor may leave the last line end out");
        let locked = DraftFile::open(&path).unwrap_err().to_string();
        assert!(locked.contains("another langya writes to it"), "{locked}");
        drop(file);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first + &second);
    }

    #[test]
    fn a_file_that_holds_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "my notes").unwrap();
        let refused = DraftFile::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 1: this is not a record"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
        assert!(DraftFile::open(folder.path()).is_err(), "a folder");
    }
}
