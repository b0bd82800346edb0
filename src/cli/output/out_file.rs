//! Atomically written output files: each is renamed into place once complete, and several together once all are.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::NamedTempFile;

use crate::error::{BadInput, CommandError, CommandResult};
use crate::infra::disk::is_full;
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::infra::unfinished_files::remove_abandoned;

/// Flag of every command that writes a file.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Overwrite {
    /// Replace the output file if it exists; where it is a link, the file behind the link is replaced
    #[arg(long)]
    force: bool,
}

impl Overwrite {
    /// Overwrite mode for a file owned by the command.
    pub(crate) const ALWAYS: Self = Self { force: true };
}

/// File that is renamed into place once complete; dropped before that, it is removed.
#[derive(Debug)]
pub(crate) struct OutFile {
    path: PathBuf,
    /// Target path, with symbolic links resolved, so that they stay.
    place: PathBuf,
    overwrite: Overwrite,
    partial: NamedTempFile,
}

impl OutFile {
    /// Opens a partial file beside `path`.
    ///
    /// # Errors
    /// An existing file without `--force`, something else of this name, or a folder that cannot be written.
    pub(crate) fn create(path: &Path, overwrite: Overwrite) -> CommandResult<Self> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(
                BadInput(format!("{} is the name of a folder: choose the name of a file", path.display())).into()
            );
        }
        // A device such as /dev/stdout would be replaced for every program.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(BadInput(format!("{} is not a regular file: choose another name", path.display())).into());
        }
        if !overwrite.force && path.symlink_metadata().is_ok() {
            return Err(exists(path).into());
        }
        if is_database(path) {
            return Err(BadInput(format!(
                "{} is a database, which is never overwritten: choose another name",
                path.display()
            ))
            .into());
        }
        let begun = behind_link(path).and_then(|place| Ok((partial_beside(&place)?, place)));
        let (partial, place) = begun.map_err(|error| CommandError::of_file(cannot_write(path, &error), &error))?;
        Ok(Self { path: path.to_owned(), place, overwrite, partial })
    }

    /// Renames the file into place atomically. Without `--force` this fails if the name was taken in the meantime.
    ///
    /// # Errors
    /// The name is taken, or the disk fails.
    pub(crate) fn finish(self) -> CommandResult<()> {
        let Self { path, place, overwrite, partial } = self;
        partial.as_file().sync_all().map_err(|error| anyhow::Error::msg(cannot_write(&path, &error)))?;
        let named = if overwrite.force { partial.persist(&place) } else { partial.persist_noclobber(&place) };
        match named {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Err(exists(&path).into()),
            Err(failed) => Err(CommandError::of_file(cannot_write(&path, &failed.error), &failed.error)),
        }
    }

    /// Returns the partial file.
    pub(crate) fn file(&self) -> &File {
        self.partial.as_file()
    }

    /// Writes the whole file and renames it into place.
    ///
    /// # Errors
    /// As [`Self::finish`], or a write failure.
    pub(crate) fn write(self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> CommandResult<()> {
        self.fill(write)?;
        self.finish()
    }

    /// Writes the whole file without renaming it.
    ///
    /// # Errors
    /// A write failure.
    pub(crate) fn fill(&self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> CommandResult<()> {
        let mut out = BufWriter::with_capacity(1 << 20, self.file());
        let written = write(&mut out).and_then(|()| out.flush()).and_then(|()| self.file().sync_all());
        self.named(written)
    }

    /// Writes the whole file asynchronously, as [`Self::fill`] does.
    ///
    /// # Errors
    /// As [`Self::fill`].
    pub(crate) async fn fill_by(
        &self,
        write: impl AsyncFnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> CommandResult<()> {
        let mut out = BufWriter::with_capacity(1 << 20, self.file());
        let written = write(&mut out).await.and_then(|()| out.flush()).and_then(|()| self.file().sync_all());
        self.named(written)
    }

    fn named(&self, written: io::Result<()>) -> CommandResult<()> {
        Ok(written.map_err(|error| anyhow::Error::msg(cannot_write(&self.path, &error)))?)
    }
}

/// Writes texts as files, renamed into place once all are complete.
///
/// # Errors
/// As [`OutFile::write`].
pub(super) fn write_all_or_none(files: Vec<(OutFile, String)>) -> CommandResult<()> {
    for (file, text) in &files {
        file.fill(|out| out.write_all(text.as_bytes()))?;
    }
    finish_together(files.into_iter().map(|(file, _)| file))
}

/// Renames complete files into place. If one fails, the error lists those already renamed.
///
/// # Errors
/// As [`OutFile::finish`].
pub(crate) fn finish_together(files: impl IntoIterator<Item = OutFile>) -> CommandResult<()> {
    let mut named: Vec<String> = Vec::new();
    for file in files {
        let path = file.path.display().to_string();
        file.finish().map_err(|error| match named.as_slice() {
            [] => error,
            named => error.context(format!("only {} could be written", named.join(", "))),
        })?;
        named.push(path);
    }
    Ok(())
}

/// Maximum length in bytes of the target name's prefix in a partial name: the target name may have the maximum length of the file system,
/// and the partial one must not be longer.
const MAX_PARTIAL_STEM_BYTES: usize = 64;
/// Suffix of a partial name, after the prefix and random letters.
const PARTIAL_SUFFIX: &str = ".partial";
/// Number of random letters.
const PARTIAL_RANDOM_LETTERS: usize = 6;

/// Creates a partial file beside `path`, with the permissions of the file that it replaces. Removes partial files left by killed commands.
pub(super) fn partial_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = partial_prefix(path);
    remove_abandoned(folder, SystemClock.now(), |name| is_partial(name, &prefix));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(PARTIAL_SUFFIX).rand_bytes(PARTIAL_RANDOM_LETTERS);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let replaced = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        let mode = replaced.map_or(0o666, |replaced| replaced.permissions().mode() & 0o666);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    builder.tempfile_in(folder)
}

/// Returns the prefix of the partial name.
fn partial_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{}.", &name[..name.floor_char_boundary(MAX_PARTIAL_STEM_BYTES)])
}

/// Whether this is a partial name with this prefix.
fn is_partial(name: &str, prefix: &str) -> bool {
    let letters = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(PARTIAL_SUFFIX));
    letters.is_some_and(|letters| {
        letters.len() == PARTIAL_RANDOM_LETTERS && letters.bytes().all(|letter| letter.is_ascii_alphanumeric())
    })
}

fn exists(path: &Path) -> BadInput {
    BadInput(format!("{} exists: choose another name, or replace it with --force", path.display()))
}

/// Whether a file is an SQLite database, such as an arena's own.
fn is_database(path: &Path) -> bool {
    const HEAD: &[u8; 15] = b"SQLite format 3";
    let mut head = [0; HEAD.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok_and(|()| head == *HEAD)
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    let said = match is_full(error) {
        true => "free some space, or choose a file on another disk",
        false => "choose another file",
    };
    format!("cannot write {}: {}; {said}", path.display(), reason(error))
}

/// Resolves a symbolic link, so that the link stays when the file is replaced; returns any other path unchanged.
///
/// # Errors
/// A dangling link: `cp` does not write through one either.
pub(super) fn behind_link(path: &Path) -> io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => io::Error::new(ErrorKind::NotFound, "it is a link to a file that does not exist"),
        _ => error,
    })
}

/// Formats the error of the operating system, without the name of a partial file.
pub(crate) fn reason(error: &io::Error) -> String {
    let told = error.to_string();
    told.split_once(" at path ").map_or(told.as_str(), |(reason, _)| reason).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_a_killed_command_left_of_a_file_goes_when_it_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes.csv");
        let kept = ["votes.csv.partial", "votes.csv.my.partial", "other.csv.Ab1xYz.partial", "votes.csv.backup"];
        for name in kept.into_iter().chain(["votes.csv.Ab1xYz.partial"]) {
            File::create(folder.path().join(name)).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        // Another command may be writing it.
        File::create(folder.path().join("votes.csv.Ab1xY2.partial")).unwrap();
        OutFile::create(&path, Overwrite { force: false }).unwrap().write(|_| Ok(())).unwrap();
        let names =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names: BTreeSet<String> = names.collect();
        let expected: BTreeSet<String> =
            kept.into_iter().chain(["votes.csv", "votes.csv.Ab1xY2.partial"]).map(str::to_owned).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_name_may_be_as_long_as_the_file_system_allows() {
        let folder = tempfile::tempdir().unwrap();
        // The length limit falls inside a character of the second name.
        for name in ["x".repeat(255), format!("x{}", "语".repeat(84)), "语".repeat(85)] {
            let path = folder.path().join(&name);
            let abandoned = folder.path().join(format!("{}Ab1xYz.partial", partial_prefix(&path)));
            File::create(&abandoned).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
            OutFile::create(&path, Overwrite { force: false }).unwrap().write(|out| out.write_all(b"whole")).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
            assert!(!abandoned.exists(), "{name}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no partial file is left");
    }

    #[test]
    fn a_file_whose_name_is_taken_in_the_meantime_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes.csv");
        let write = |overwrite, taken: Option<&str>, text: &str| {
            OutFile::create(&path, overwrite)?.write(|out| {
                taken.map_or(Ok(()), |taken| std::fs::write(&path, taken))?;
                out.write_all(text.as_bytes())
            })
        };
        let (refuse, replace) = (Overwrite { force: false }, Overwrite { force: true });
        let refused = write(refuse, Some("theirs"), "ours").unwrap_err();
        assert!(refused.is_input() && refused.message().contains("--force"), "{}", refused.message());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        write(refuse, None, "ours").unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        write(replace, Some("theirs too"), "ours").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    }

    #[test]
    fn what_is_no_file_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink("/dev/null", &linked).unwrap();
        let told = OutFile::create(&folder.path().join("new/"), Overwrite { force: true }).unwrap_err().message();
        assert!(told.ends_with("new/ is the name of a folder: choose the name of a file"), "{told}");
        for path in [linked.as_path(), folder.path(), Path::new("/dev/null")] {
            let told = OutFile::create(path, Overwrite { force: true }).unwrap_err().message();
            assert!(told.contains("is not a regular file"), "{told}");
        }
        assert!(linked.is_symlink());
        let database = folder.path().join("langya.db");
        std::fs::write(&database, "SQLite format 3\0 and all votes").unwrap();
        let told = OutFile::create(&database, Overwrite { force: true }).unwrap_err().message();
        assert!(told.contains("is a database"), "{told}");
    }

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, linked) = (folder.path().join("disk"), folder.path().join("votes.csv"));
        std::fs::create_dir(&disk).unwrap();
        std::os::unix::fs::symlink("disk/votes.csv", &linked).unwrap();
        let create = |force| OutFile::create(&linked, Overwrite { force });
        let lost = create(true).unwrap_err();
        assert!(
            lost.is_input() && lost.message().contains("votes.csv: it is a link to a file that does not exist"),
            "{lost:?}"
        );
        std::fs::write(disk.join("votes.csv"), "old").unwrap();
        assert!(create(false).unwrap_err().message().contains("--force"));
        create(true).unwrap().write(|out| out.write_all(b"new")).unwrap();
        assert!(linked.is_symlink());
        assert_eq!(std::fs::read_to_string(disk.join("votes.csv")).unwrap(), "new");
        assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 1, "no partial file is left");
    }

    #[test]
    fn a_full_disk_is_a_failed_run_and_a_wrong_path_is_bad_input() {
        let of = |kind: ErrorKind| {
            let error = io::Error::from(kind);
            CommandError::of_file(cannot_write(Path::new("votes.csv"), &error), &error)
        };
        assert!(of(ErrorKind::PermissionDenied).is_input() && of(ErrorKind::ReadOnlyFilesystem).is_input());
        let full = of(ErrorKind::StorageFull);
        assert!(
            !full.is_input() && full.message().ends_with("; free some space, or choose a file on another disk"),
            "{full:?}"
        );
    }

    #[test]
    fn files_that_belong_together_get_their_names_once_all_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name: &str| OutFile::create(&folder.path().join(name), Overwrite { force: false }).unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        // A file opened for reading fails on write, like a full disk.
        let mut refusing = create("second");
        let read_only = File::open(refusing.partial.path()).unwrap();
        *refusing.partial.as_file_mut() = read_only;
        let told = write_all_or_none(vec![(create("first"), "1".to_owned()), (refusing, "2".to_owned())]).unwrap_err();
        assert!(told.message().contains("second: "), "{}", told.message());
        assert_eq!(names(), 0);
        let [first, second] = [create("first"), create("second")];
        std::fs::create_dir(folder.path().join("second")).unwrap();
        let told = write_all_or_none(vec![(first, "1".to_owned()), (second, "2".to_owned())]).unwrap_err().message();
        assert!(
            told.starts_with("only ") && told.contains("first could be written: ") && told.contains("second"),
            "{told}"
        );
        assert_eq!(names(), 2, "no partial file is left");
        std::fs::remove_file(folder.path().join("first")).unwrap();
        std::fs::remove_dir(folder.path().join("second")).unwrap();
        write_all_or_none(vec![(create("first"), "1".to_owned()), (create("second"), "2".to_owned())]).unwrap();
        assert_eq!((std::fs::read_to_string(folder.path().join("second")).unwrap().as_str(), names()), ("2", 2));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_replaces_a_private_one_is_private_too() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes.csv");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        OutFile::create(&path, Overwrite { force: true }).unwrap().write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named_without_its_partial_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent/votes.csv");
        let told = OutFile::create(&path, Overwrite { force: false }).unwrap_err().message();
        assert!(told.contains("absent/votes.csv: No such file or directory"), "{told}");
        assert!(!told.contains(".partial"), "{told}");
    }
}
