//! Output formats and files of reports that are also shown on pages.

use std::path::Path;

use clap::ValueEnum;

use super::out_file::{OutFile, Overwrite, write_all_or_none};
use crate::error::{BadInput, CommandError, CommandResult};
use crate::infra::unfinished_files::NewFolders;

/// Output format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputLayout {
    /// A table with aligned columns
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
    /// File formats, with their extensions.
    const FILE_FORMATS: [(Self, &str); 4] =
        [(Self::Markdown, "md"), (Self::Csv, "csv"), (Self::Json, "json"), (Self::Html, "html")];

    fn new(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::FILE_FORMATS.into_iter().find(|(_, known)| *known == ending).map(|(form, _)| form)
    }
}

/// Output files of a report. Dropped before they are written, they are removed.
pub(crate) struct ReportFiles {
    files: Vec<(OutFile, OutputLayout)>,
    /// Folders created for the files, dropped after these.
    _folders: Option<NewFolders>,
}

impl ReportFiles {
    /// Writes all files in their formats, renamed into place once all are complete.
    ///
    /// # Errors
    /// A format error or a write failure.
    pub(crate) fn write(self, text: impl Fn(OutputLayout) -> CommandResult<String>) -> CommandResult<()> {
        let written = self.files.into_iter().map(|(file, form)| CommandResult::Ok((file, text(form)?)));
        write_all_or_none(written.collect::<CommandResult<Vec<_>>>()?)
    }
}

/// Opens the output files. A folder gets all four, named `stem`; a name without a known extension is a folder, unless a format is given.
///
/// # Errors
/// A name without a format, or an existing file.
pub(crate) fn files(
    out: &Path,
    stem: &str,
    format: Option<OutputLayout>,
    overwrite: Overwrite,
) -> CommandResult<ReportFiles> {
    let create = |path: &Path, form| CommandResult::Ok((OutFile::create(path, overwrite)?, form));
    let form = format.filter(|form| *form != OutputLayout::Table).or_else(|| OutputLayout::new(out));
    match form {
        Some(form) if !out.is_dir() => Ok(ReportFiles { files: vec![create(out, form)?], _folders: None }),
        None if out.extension().is_some() && !out.is_dir() => {
            let said = format!(
                "cannot tell the form of {}: end it with .md, .csv, .json or .html, or give --format",
                out.display()
            );
            Err(BadInput(said).into())
        }
        form => {
            let folders = NewFolders::make(out).map_err(|reason| refused(out, &reason))?;
            let wanted =
                OutputLayout::FILE_FORMATS.into_iter().filter(|(known, _)| form.is_none_or(|form| form == *known));
            let files = wanted.map(|(known, ending)| create(&out.join(format!("{stem}.{ending}")), known));
            Ok(ReportFiles { files: files.collect::<CommandResult<Vec<_>>>()?, _folders: Some(folders) })
        }
    }
}

fn refused(path: &Path, reason: &std::io::Error) -> CommandError {
    let said = format!("cannot write {}: {reason}; choose another file or folder with --out", path.display());
    CommandError::of_file(said, reason)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        overwrite: Overwrite,
    }

    #[test]
    fn a_folder_is_left_only_with_all_forms_of_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let (above, out) = (folder.path().join("a"), folder.path().join("a/b"));
        let open = || files(&out, "urs", None, Flags::parse_from(["test"]).overwrite).unwrap();
        drop(open());
        assert!(!above.exists(), "it was made for nothing");
        let no_page = |form: OutputLayout| -> CommandResult<String> {
            if form == OutputLayout::Html { Err(BadInput("no page".to_owned()).into()) } else { Ok(String::new()) }
        };
        assert_eq!(open().write(no_page).unwrap_err().message(), "no page");
        assert!(!above.exists(), "a part of a report is none");
        open().write(|_| Ok("text".to_owned())).unwrap();
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), OutputLayout::FILE_FORMATS.len());
    }
}
