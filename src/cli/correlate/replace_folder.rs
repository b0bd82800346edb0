//! Folder of files that atomically replaces an earlier one.
//!
//! [`CHECKSUM_FILE_NAME`] lists every file with its SHA-256, in the format of `sha256sum`. The list identifies a folder written by this
//! program: it has no other files, and none was changed since. Only such a folder is replaced.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::sha256::sha256;
use crate::error::{BadInput, CommandError, CommandResult};
use crate::infra::unfinished_files::NewFolders;
use crate::output::out_file::reason;

/// Name of the checksum list.
const CHECKSUM_FILE_NAME: &str = "SHA256SUMS";
/// First line of the list.
const CHECKSUM_FILE_HEADER: &str = "# a study by langya";

/// Output folder of a study.
pub(super) struct StudyFolder(PathBuf);

impl StudyFolder {
    /// Accepts a writable folder that is new, empty or has only an earlier study.
    ///
    /// # Errors
    /// The folder has other content, or cannot be written.
    pub(super) fn at(path: &Path) -> CommandResult<Self> {
        // Without a trailing slash, since a suffix is appended.
        let folder = Self(path.components().collect());
        if path.file_name().is_none() {
            return Err(BadInput(format!("{} has no name: give a new folder with --out", path.display())).into());
        }
        folder.check()?;
        folder.check_writable().map_err(|error| folder.cannot_write(&error))?;
        Ok(folder)
    }

    /// Creates and removes a folder beside it, to check that it can be written.
    fn check_writable(&self) -> io::Result<()> {
        let _made = NewFolders::make(self.parent_folder())?;
        tempfile::tempdir_in(self.parent_folder()).map(drop)
    }

    fn parent_folder(&self) -> &Path {
        self.0.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn cannot_write(&self, error: &io::Error) -> CommandError {
        let said = format!("cannot write {}: {}; choose another folder with --out", self.0.display(), reason(error));
        CommandError::of_file(said, error)
    }

    /// Writes the files, and replaces the earlier ones once all are written.
    ///
    /// # Errors
    /// A write failure; the earlier files are then unchanged.
    pub(super) fn write(&self, files: &BTreeMap<String, Vec<u8>>) -> CommandResult<()> {
        self.check()?;
        let (partial, earlier) = (self.with_suffix("partial"), self.with_suffix("earlier"));
        let cannot = |error: io::Error| self.cannot_write(&error);
        let _above = NewFolders::make(self.parent_folder()).map_err(cannot)?;
        remove(&earlier).map_err(cannot)?;
        let written = write_folder(&partial, files).and_then(|()| {
            if self.0.exists() {
                std::fs::rename(&self.0, &earlier)?;
            }
            std::fs::rename(&partial, &self.0)
        });
        if let Err(error) = written {
            // The first failure is reported; a failed clean-up is ignored.
            let _ = remove(&partial);
            let _ = if self.0.exists() { Ok(()) } else { std::fs::rename(&earlier, &self.0) };
            return Err(cannot(error));
        }
        remove(&earlier).map_err(cannot)
    }

    /// Returns the path with a suffix.
    fn with_suffix(&self, ending: &str) -> PathBuf {
        let mut name = self.0.clone().into_os_string();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    }

    fn check(&self) -> Result<(), BadInput> {
        check(&self.0, is_unchanged)?;
        check(&self.with_suffix("earlier"), is_unchanged)?;
        // An interrupted one may have truncated files.
        check(&self.with_suffix("partial"), |_, _| true)
    }
}

/// Checks that a path is free, or a folder that has only files listed by this program.
fn check(path: &Path, is_ours: impl Fn(&Path, &str) -> bool) -> Result<(), BadInput> {
    let cannot = |error: io::Error| BadInput(format!("cannot read {}: {error}", path.display()));
    let in_the_way = |what: &Path| {
        let what = what.display();
        BadInput(format!("{what} is in the way: move it elsewhere, or choose another folder with --out"))
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot(error)),
        Ok(found) if !found.is_dir() => return Err(in_the_way(path)),
        Ok(_) => {}
    }
    let known = read_checksums(path);
    let ours = |name: &String| known.get(name).is_some_and(|sum| is_ours(&path.join(name), sum));
    let found = files_in(path).map_err(cannot)?;
    let foreign = found.iter().find(|name| **name != CHECKSUM_FILE_NAME && !ours(name));
    foreign.map_or(Ok(()), |name| Err(in_the_way(&path.join(name))))
}

fn is_unchanged(file: &Path, sum: &str) -> bool {
    std::fs::read(file).is_ok_and(|bytes| sha256(&bytes) == sum)
}

/// Creates a folder with these files. The list is written first, so that an interrupted folder is recognised.
fn write_folder(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    remove(folder)?;
    std::fs::create_dir_all(folder)?;
    let lines = files.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes)));
    std::fs::write(folder.join(CHECKSUM_FILE_NAME), format!("{CHECKSUM_FILE_HEADER}\n{}", lines.collect::<String>()))?;
    for (name, bytes) in files {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Lists the files of a folder recursively, by relative path. Empty subfolders are ignored.
fn files_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            files.extend(files_in(&entry.path())?.into_iter().map(|file| format!("{name}/{file}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads the SHA-256 by path from a list of this program.
fn read_checksums(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join(CHECKSUM_FILE_NAME)).unwrap_or_default();
    let Some(list) = text.strip_prefix(CHECKSUM_FILE_HEADER) else { return BTreeMap::new() };
    let entries = list.lines().filter_map(|line| line.split_once("  "));
    entries.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_takes_no_folder_is_refused_before_the_study() {
        let folder = tempfile::tempdir().unwrap();
        assert!(StudyFolder::at(&folder.path().join("a/study")).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made before the study");
        // Even root cannot create folders there.
        let refused = StudyFolder::at(Path::new("/proc/self/study")).err().unwrap();
        assert!(refused.is_input() && refused.message().starts_with("cannot write /proc/self/study: "), "{refused:?}");
        assert!(refused.message().ends_with("; choose another folder with --out"), "{refused:?}");
    }
}
