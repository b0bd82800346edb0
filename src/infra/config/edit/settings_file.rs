//! Edits of the settings file, safe against concurrent readers and editors.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::config::{ConfigError, Environment, Settings};

/// Permissions of a new settings file, before the process's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// Content of a file whose last setting was removed: an empty file would look like one that an editor has lost.
const NO_SETTINGS: &str = "# No settings: the defaults are in force.\n";

/// A settings file, which may not exist yet.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
}

/// Error of an edit of the settings file. The file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The file cannot be read or replaced.
    #[error("cannot edit {path}: {source}; check who owns the file and its folder, and the free space")]
    Io {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The new text is not valid settings.
    #[error("{path} was left as it is, because the edited settings could not be used: {source}")]
    Invalid {
        /// Its path.
        path: PathBuf,
        /// Validation error.
        source: ConfigError,
    },
}

impl SettingsFile {
    /// Creates a handle of the file at this path.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Atomically replaces the text by the result of `change`, keeping the file's mode and owner; `None` leaves it unchanged. Concurrent
    /// editors that use this function wait for each other. A missing file counts as empty. Blocks.
    ///
    /// # Errors
    /// [`SettingsFileError`], or the error of `change`; the file is then unchanged.
    pub fn edit<T, E: From<SettingsFileError>>(
        &self,
        env: &Environment,
        change: impl FnOnce(&str) -> Result<(Option<String>, T), E>,
    ) -> Result<T, E> {
        let (prepared, output) = self.prepare(env, change)?;
        if let Some(prepared) = prepared {
            prepared.replace_file()?;
        }
        Ok(output)
    }

    /// Prepares an edit like [`SettingsFile::edit`], but leaves the new text in a temporary file beside the original; `None` if the text is
    /// unchanged. Other editors wait until the edit is put in place or dropped. Blocks.
    ///
    /// # Errors
    /// Same as [`SettingsFile::edit`].
    pub fn prepare<T, E: From<SettingsFileError>>(
        &self,
        env: &Environment,
        change: impl FnOnce(&str) -> Result<(Option<String>, T), E>,
    ) -> Result<(Option<PreparedEdit>, T), E> {
        // A symlink stays: its target is replaced.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let held = LockedSettings::take(&path).map_err(|source| self.failed(source))?;
        let text = held.as_ref().map_or("", |held| &held.text);
        let (edited, output) = change(text)?;
        let Some(mut edited) = edited.filter(|edited| edited != text) else { return Ok((None, output)) };
        if edited.trim().is_empty() {
            NO_SETTINGS.clone_into(&mut edited);
        }
        let invalid = |source| SettingsFileError::Invalid { path: self.path.clone(), source };
        Settings::parse(&edited, &self.path.display().to_string(), env).map_err(invalid)?;
        let former = held.as_ref().map(|held| &held.metadata);
        let partial = write_beside(&path, &edited, former).map_err(|source| self.failed(source))?;
        Ok((Some(PreparedEdit { file: self.clone(), path, partial, held }), output))
    }

    /// Checks that an edit could be written: that files can be created beside this one, which may not exist.
    ///
    /// # Errors
    /// [`SettingsFileError::Io`] with the system's reason.
    pub fn check_writable(&self) -> Result<(), SettingsFileError> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let former = fs::metadata(&path).ok();
        write_beside(&path, "", former.as_ref()).map(drop).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> SettingsFileError {
        SettingsFileError::Io { path: self.path.clone(), source }
    }
}

/// Exclusively locked settings file; dropping it releases the lock.
struct LockedSettings {
    _locked: File,
    metadata: Metadata,
    text: String,
}

impl LockedSettings {
    /// Locks the file and reads it; `None` if there is no file.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let mut file = match File::open(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened?,
            };
            file.lock()?;
            let metadata = file.metadata()?;
            // The previous editor has replaced the file.
            if fs::metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino())) {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Ok(Some(Self { _locked: file, metadata, text }));
            }
        }
    }
}

/// A validated edit that has not replaced the file yet.
pub struct PreparedEdit {
    file: SettingsFile,
    /// Path of the file itself, with symlinks resolved.
    path: PathBuf,
    partial: NamedTempFile,
    held: Option<LockedSettings>,
}

impl PreparedEdit {
    /// Replaces the file by the new text. Blocks.
    ///
    /// # Errors
    /// [`SettingsFileError::Io`]; the file is then unchanged.
    pub fn replace_file(self) -> Result<(), SettingsFileError> {
        let Self { file, path, partial, held } = self;
        let replaced = match held {
            Some(_) => partial.persist(&path),
            // A file created by another process in the meantime stays.
            None => partial.persist_noclobber(&path),
        };
        let synced = replaced.map_err(io::Error::from).and_then(|_| File::open(folder_of(&path))?.sync_all());
        synced.map_err(|source| file.failed(source))
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a temporary file beside `path`, ready to replace it.
fn write_beside(path: &Path, text: &str, former: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mode = fs::Permissions::from_mode(NEW_FILE_MODE);
    let mut partial = tempfile::Builder::new()
        .prefix(".langya.")
        .suffix(".partial")
        .permissions(mode)
        .tempfile_in(folder_of(path))
        // Only the error kind: the message names the temporary file.
        .map_err(|error| io::Error::from(error.kind()))?;
    partial.write_all(text.as_bytes())?;
    if let Some(former) = former {
        keep_owner_and_mode(&partial, former)?;
    }
    partial.as_file().sync_all()?;
    Ok(partial)
}

fn keep_owner_and_mode(partial: &NamedTempFile, former: &Metadata) -> io::Result<()> {
    let now = partial.as_file().metadata()?;
    if (now.uid(), now.gid()) != (former.uid(), former.gid()) {
        fchown(partial.as_file(), Some(former.uid()), Some(former.gid()))?;
    }
    // After the change of owner, which clears some bits.
    partial.as_file().set_permissions(former.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    type Done<T = ()> = Result<T, SettingsFileError>;

    fn write(file: &SettingsFile, text: &str) -> Done {
        file.edit(&Environment::default(), |_| Ok::<_, SettingsFileError>((Some(text.to_owned()), ())))
    }

    #[test]
    fn an_edit_keeps_the_mode_and_the_link_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("langya.toml"));
        fs::write(&real, "# one\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        write(&SettingsFile::new(&link), "# two\n").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "# two\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_reported_without_the_name_of_the_partial_one() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_beside(&folder.path().join("absent/langya.toml"), "", None).unwrap_err();
        assert!(error.kind() == io::ErrorKind::NotFound && !error.to_string().contains("partial"), "{error}");
    }

    #[test]
    fn what_are_no_settings_never_replaces_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(&folder.path().join("langya.toml"));
        write(&file, "# one\n").unwrap();
        let error = write(&file, "[server]\nlisen = \"x\"\n").unwrap_err().to_string();
        assert!(error.contains("lisen") && error.contains("left as it is"), "{error}");
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "# one\n");
    }

    #[test]
    fn a_file_whose_last_setting_is_removed_is_not_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(&folder.path().join("langya.toml"));
        write(&file, "[battle]\nmax_turns = 1\n").unwrap();
        write(&file, "\n").unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), NO_SETTINGS);
    }

    #[test]
    fn editors_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(&folder.path().join("langya.toml"));
        write(&file, "# begin\n").unwrap();
        let add = |number: usize| {
            let more = |text: &str| Ok::<_, SettingsFileError>((Some(format!("{text}# {number}\n")), ()));
            file.edit(&Environment::default(), more).unwrap();
        };
        std::thread::scope(|scope| (0..8).for_each(|number| drop(scope.spawn(move || add(number)))));
        assert_eq!(fs::read_to_string(file.path()).unwrap().lines().count(), 9);
    }
}
