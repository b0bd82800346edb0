//! The forms in which a command writes a report that a page shows too, and the files that take them.

use std::path::Path;

use clap::ValueEnum;

use super::output::{OutFile, Overwrite};
use crate::cli::error::{BadInput, CommandResult};

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputLayout {
    /// Columns for reading
    Table,
    /// JSON
    Json,
    /// Comma-separated values with a header line
    Csv,
    /// The report as Markdown
    #[value(alias = "md")]
    Markdown,
    /// The report as a page that needs no other file
    Html,
}

impl OutputLayout {
    /// Those that are files, with their endings.
    const FILES: [(Self, &str); 4] =
        [(Self::Markdown, "md"), (Self::Csv, "csv"), (Self::Json, "json"), (Self::Html, "html")];

    fn new(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::FILES.into_iter().find(|(_, known)| *known == ending).map(|(form, _)| form)
    }
}

/// The files to write. A folder gets all four, named `stem`; a name without a known ending is a folder's, unless a form is named.
///
/// # Errors
/// A name that says no form, or a file that is there already.
pub(super) fn files(
    out: &Path,
    stem: &str,
    format: Option<OutputLayout>,
    overwrite: Overwrite,
) -> CommandResult<Vec<(OutFile, OutputLayout)>> {
    let create = |path: &Path, form| CommandResult::Ok((OutFile::create(path, overwrite)?, form));
    let form = format.filter(|form| *form != OutputLayout::Table).or_else(|| OutputLayout::new(out));
    match form {
        Some(form) if !out.is_dir() => Ok(vec![create(out, form)?]),
        None if out.extension().is_some() && !out.is_dir() => {
            let said = format!(
                "cannot tell the form of {}: end it with .md, .csv, .json or .html, or give --format",
                out.display()
            );
            Err(BadInput(said).into())
        }
        form => {
            std::fs::create_dir_all(out).map_err(|reason| refused(out, &reason))?;
            let wanted = OutputLayout::FILES.into_iter().filter(|(known, _)| form.is_none_or(|form| form == *known));
            wanted.map(|(known, ending)| create(&out.join(format!("{stem}.{ending}")), known)).collect()
        }
    }
}

fn refused(path: &Path, reason: &std::io::Error) -> BadInput {
    BadInput(format!("cannot write {}: {reason}; choose another file or folder with --out", path.display()))
}
