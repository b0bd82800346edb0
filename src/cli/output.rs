//! Results on the standard output, and in files.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::BadInput;
use crate::services::export::defused;

/// Prints the result of a command. Whoever reads it through a pipe and goes away early, as `head` does, has all they want.
///
/// # Errors
/// An output that takes nothing, such as a full disk.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    print_to(std::io::stdout().lock(), text)
}

fn print_to(mut out: impl Write, text: &str) -> anyhow::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to the standard output"),
    }
}

/// Rows as CSV with a header line. A text that a spreadsheet would work out gets an apostrophe.
///
/// # Errors
/// Rows that have no columns.
pub(super) fn lines_of_csv<R: Serialize>(rows: &[R]) -> anyhow::Result<String> {
    let mut plain = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| plain.serialize(row))?;
    let plain = plain.into_inner()?;
    let mut lines = csv::Writer::from_writer(Vec::new());
    for row in csv::ReaderBuilder::new().has_headers(false).from_reader(plain.as_slice()).records() {
        let cell = |cell: &str| if cell.parse::<f64>().is_ok() { cell.to_owned() } else { defused(cell).into_owned() };
        lines.write_record(row?.iter().map(cell))?;
    }
    Ok(String::from_utf8(lines.into_inner()?)?)
}

/// Writes a file that bears its name only once it is whole.
///
/// # Errors
/// A place where no file can be made (bad input), or a failure while it is written.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let cannot = |error: io::Error| format!("cannot write {}: {error}; choose another file", path.display());
    let mut partial = path.to_owned().into_os_string();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let file = File::create(&partial).map_err(|error| BadInput(cannot(error)))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let written = write(&mut out).and_then(|()| out.flush()).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|error| {
        // What is reported is the first failure; a partial file that cannot be removed either adds nothing to it.
        let _ = std::fs::remove_file(&partial);
        anyhow::Error::msg(cannot(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reader_who_went_away_is_no_failure() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        print_to(writer, "text").unwrap();
        let told = print_to(&mut [0_u8; 2][..], "text").unwrap_err();
        assert_eq!(told.to_string(), "cannot write to the standard output");
    }
}
