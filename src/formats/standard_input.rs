//! `-` as a file name: the standard input, read from its current position. Opening `/dev/stdin` instead fails for another user's pipe and
//! for a socket, and restarts a redirected file.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::path::{Display, Path};

/// Name of the standard input; `./-` is a file of this name.
const STANDARD_INPUT: &str = "-";

/// Error: more than one input of a command is the standard input.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("standard input can be read only once: use - for one file only")]
pub struct StandardInputTwice;

/// Refuses more than one `-` among the inputs of a command.
///
/// # Errors
/// [`StandardInputTwice`].
pub fn check_given_once(files: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(), StandardInputTwice> {
    let given = files.into_iter().filter(|file| is_standard_input(file.as_ref())).count();
    if given > 1 { Err(StandardInputTwice) } else { Ok(()) }
}

/// Whether a path is the standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// Opens a file for reading; `-` duplicates the open standard input.
///
/// # Errors
/// I/O errors.
pub fn open_input(path: &Path) -> io::Result<File> {
    if is_standard_input(path) { io::stdin().as_fd().try_clone_to_owned().map(File::from) } else { File::open(path) }
}

/// Metadata of a file without opening it; `-` is the standard input.
///
/// # Errors
/// I/O errors.
pub fn input_metadata(path: &Path) -> io::Result<Metadata> {
    if is_standard_input(path) { open_input(path)?.metadata() } else { std::fs::metadata(path) }
}

/// Name of a file in messages; "the standard input" for `-`.
#[must_use]
pub fn input_name(path: &Path) -> Display<'_> {
    if is_standard_input(path) { Path::new("the standard input").display() } else { path.display() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_the_standard_input_and_a_path_that_ends_in_one_is_a_file() {
        let shown = |path: &str| (is_standard_input(Path::new(path)), input_name(Path::new(path)).to_string());
        assert_eq!(shown("-"), (true, "the standard input".to_owned()));
        assert_eq!(shown("./-"), (false, "./-".to_owned()));
    }

    #[test]
    fn a_dash_is_refused_the_second_time() {
        assert_eq!(check_given_once(["-", "votes.csv", "votes.csv", "./-"]), Ok(()));
        assert_eq!(check_given_once(["-", "votes.csv", "-"]), Err(StandardInputTwice));
    }
}
