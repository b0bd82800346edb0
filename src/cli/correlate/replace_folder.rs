//! A folder of files that takes the place of an earlier one, whole or not at all.
//!
//! Every file stands with its SHA-256 in [`SUMS`], in the form of `sha256sum`. By this list a folder is known as one that the
//! program wrote: nothing else is in it, and nothing was changed since. Only such a folder is replaced.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::sha256::sha256;
use crate::error::{BadInput, CommandError, CommandResult};
use crate::infra::unfinished_files::NewFolders;
use crate::out_file::reason;

/// The list of the folder's files.
const SUMS: &str = "SHA256SUMS";
/// The first line of the list.
const MARK: &str = "# a study by langya";

/// The folder of a study.
pub(super) struct StudyFolder(PathBuf);

impl StudyFolder {
    /// Takes a folder that is new, empty or holds nothing but an earlier study, and can be written.
    ///
    /// # Errors
    /// It holds something else, or cannot be written.
    pub(super) fn at(path: &Path) -> CommandResult<Self> {
        // Without a slash at its end, to which another ending is added.
        let folder = Self(path.components().collect());
        if path.file_name().is_none() {
            return Err(BadInput(format!("{} has no name: give a new folder with --out", path.display())).into());
        }
        folder.check()?;
        folder.check_writable().map_err(|error| folder.cannot_write(&error))?;
        Ok(folder)
    }

    /// Makes a folder beside it, as its files will need one, and removes it again.
    fn check_writable(&self) -> io::Result<()> {
        let _made = NewFolders::make(self.above())?;
        tempfile::tempdir_in(self.above()).map(drop)
    }

    fn above(&self) -> &Path {
        self.0.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn cannot_write(&self, error: &io::Error) -> CommandError {
        let said = format!("cannot write {}: {}; choose another folder with --out", self.0.display(), reason(error));
        CommandError::of_file(said, error)
    }

    /// Writes the files, and puts them in the place of the earlier ones once all are written.
    ///
    /// # Errors
    /// What cannot be written; the earlier files are then still there.
    pub(super) fn write(&self, files: &BTreeMap<String, Vec<u8>>) -> CommandResult<()> {
        self.check()?;
        let (partial, earlier) = (self.beside("partial"), self.beside("earlier"));
        let cannot = |error: io::Error| self.cannot_write(&error);
        let _above = NewFolders::make(self.above()).map_err(cannot)?;
        remove(&earlier).map_err(cannot)?;
        let written = fill(&partial, files).and_then(|()| {
            if self.0.exists() {
                std::fs::rename(&self.0, &earlier)?;
            }
            std::fs::rename(&partial, &self.0)
        });
        if let Err(error) = written {
            // What is reported is the failure that came first; what cannot be cleared away adds nothing to it.
            let _ = remove(&partial);
            let _ = if self.0.exists() { Ok(()) } else { std::fs::rename(&earlier, &self.0) };
            return Err(cannot(error));
        }
        remove(&earlier).map_err(cannot)
    }

    /// The same path with an ending.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.0.clone().into_os_string();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    }

    fn check(&self) -> Result<(), BadInput> {
        check(&self.0, is_unchanged)?;
        check(&self.beside("earlier"), is_unchanged)?;
        // One that was interrupted has files that end early.
        check(&self.beside("partial"), |_, _| true)
    }
}

/// Checks that a path is free, or a folder that has only files which this program wrote and lists.
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
    let known = sums(path);
    let ours = |name: &String| known.get(name).is_some_and(|sum| is_ours(&path.join(name), sum));
    let found = files_in(path).map_err(cannot)?;
    let foreign = found.iter().find(|name| **name != SUMS && !ours(name));
    foreign.map_or(Ok(()), |name| Err(in_the_way(&path.join(name))))
}

fn is_unchanged(file: &Path, sum: &str) -> bool {
    std::fs::read(file).is_ok_and(|bytes| sha256(&bytes) == sum)
}

/// Makes a folder with these files. Their list comes first, so that the folder is known for ours however it ends.
fn fill(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    remove(folder)?;
    std::fs::create_dir_all(folder)?;
    let lines = files.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes)));
    std::fs::write(folder.join(SUMS), format!("{MARK}\n{}", lines.collect::<String>()))?;
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

/// The files of a folder and of those within it, by their paths in it. A folder that is empty is none.
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

/// SHA-256 by path, of a list that the program wrote.
fn sums(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
    let Some(list) = text.strip_prefix(MARK) else { return BTreeMap::new() };
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
        // Not even a superuser makes folders there.
        let refused = StudyFolder::at(Path::new("/proc/self/study")).err().unwrap();
        assert!(refused.is_input() && refused.message().starts_with("cannot write /proc/self/study: "), "{refused:?}");
        assert!(refused.message().ends_with("; choose another folder with --out"), "{refused:?}");
    }
}
