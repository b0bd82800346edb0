//! `langya fit --charts DIR`: charts of a leaderboard as SVG files. All commands write their charts with `write_all`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio::runtime::Handle;

use super::super::signals::Signals;
use super::out_file::{behind_link, partial_beside, reason};
use crate::domain::language::Language;
use crate::domain::rating::FitError;
use crate::domain::rating::counts::tally::Tally;
use crate::domain::rating::leaderboards::history::history;
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::vote_log::VoteLog;
use crate::error::{CommandFailure, is_avoidable};
use crate::infra::unfinished_files::NewFolders;
use crate::render::chart::heatmap::HeatValues;
use crate::render::chart::pair_values::Pairs;
use crate::render::chart::{self, Frame, Setting};

/// Number of moments in the rating history.
const HISTORY_POINTS: usize = 40;
const FRAME: Frame = Frame { language: Language::English, setting: Setting::File };

/// Error of writing charts.
#[derive(Debug, thiserror::Error)]
pub enum ChartsError {
    /// A file or folder cannot be written.
    #[error("cannot write {path}: {reason}; choose another folder with --charts")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        reason: std::io::Error,
    },
}

impl CommandFailure for ChartsError {
    fn is_input(&self) -> bool {
        let Self::Write { reason, .. } = self;
        is_avoidable(reason)
    }
}

/// Checks before a long fit that the folder can be created and written. It is removed again: a signal may end the fit.
///
/// # Errors
/// [`ChartsError`] if it cannot be created or written.
pub fn prepare(folder: &Path) -> Result<(), ChartsError> {
    let _folder = create(folder)?;
    let tried = tempfile::tempfile_in(folder).map_err(|error| io::Error::new(error.kind(), reason(&error)));
    tried.map(drop).map_err(|reason| ChartsError::Write { path: folder.to_owned(), reason })
}

/// Creates the folder. Dropping the result removes the folder if it has no charts.
fn create(folder: &Path) -> Result<NewFolders, ChartsError> {
    NewFolders::make(folder).map_err(|reason| ChartsError::Write { path: folder.to_owned(), reason })
}

/// SVG files with their names.
pub type Charts = Vec<(&'static str, String)>;

/// Draws the charts of a leaderboard: `ratings.svg`, `wins.svg`, `battles.svg`, `predicted.svg`, and `style.svg` with
/// style control, or else `history.svg` if the votes have times.
///
/// # Errors
/// [`FitError`] if the rating history cannot be fitted.
pub fn draw(leaderboard: &Leaderboard, log: &VoteLog, options: &LeaderboardOptions) -> Result<Charts, FitError> {
    let pairs = Pairs::new(&leaderboard.models, &Tally::from_log(log, options.scoring));
    let names: Vec<String> = leaderboard.models.iter().map(|model| model.model.clone()).collect();
    let (interval, confidence) = (leaderboard.interval, leaderboard.confidence);
    let mut charts = vec![
        ("ratings.svg", chart::forest::draw(&leaderboard.models, interval, confidence, FRAME)),
        ("wins.svg", pairs.draw(HeatValues::Wins, &names, FRAME)),
        ("battles.svg", pairs.draw(HeatValues::Counts, &names, FRAME)),
        ("predicted.svg", pairs.draw(HeatValues::Predicted, &names, FRAME)),
    ];
    if log.seconds.is_some() && !options.has_covariates() {
        let traces = chart::history::traces(&leaderboard.models, &history(log, HISTORY_POINTS, options)?);
        charts.push(("history.svg", chart::history::draw(&traces, FRAME)));
    }
    if !leaderboard.style.is_empty() {
        charts.push(("style.svg", chart::style_effects::draw(&leaderboard.style, FRAME)));
    }
    Ok(charts)
}

/// Writes charts as files with these names, renamed into place once all are complete. Creates a missing folder.
///
/// # Errors
/// [`ChartsError`].
pub(crate) fn write_all(folder: &Path, charts: Vec<(&str, String)>) -> Result<(), ChartsError> {
    // A signal must not end the process between the writes: all files are complete before it ends.
    let _signals = Handle::try_current().ok().and_then(|_| Signals::listen().ok());
    let _folder = create(folder)?;
    let cannot = |path: &Path| {
        let path = path.to_owned();
        move |reason| ChartsError::Write { path, reason }
    };
    let mut whole = Vec::with_capacity(charts.len());
    for (name, svg) in charts {
        let path = folder.join(name);
        let begun = behind_link(&path).and_then(|place| Ok((write_temporary(&place, &svg)?, place)));
        whole.push(begun.map_err(cannot(&path))?);
    }
    for (partial, path) in whole {
        partial.persist(&path).map_err(|failed| cannot(&path)(failed.error))?;
    }
    Ok(())
}

/// Writes a temporary file beside `path`, to be renamed.
fn write_temporary(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let plain = |error: io::Error| io::Error::new(error.kind(), reason(&error));
    let mut partial = partial_beside(path).map_err(plain)?;
    partial.write_all(text.as_bytes()).map_err(plain)?;
    Ok(partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_takes_no_file_is_refused_before_the_fit() {
        let folder = tempfile::tempdir().unwrap();
        prepare(&folder.path().join("a/b")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // Even root cannot create files there.
        let told = prepare(Path::new("/proc/self")).unwrap_err().to_string();
        assert!(told.starts_with("cannot write /proc/self: "), "{told}");
    }

    #[test]
    fn a_full_disk_is_a_failed_run_as_for_every_other_file() {
        let of = |kind: io::ErrorKind| ChartsError::Write { path: "charts".into(), reason: kind.into() };
        assert!(!of(io::ErrorKind::StorageFull).is_input() && of(io::ErrorKind::PermissionDenied).is_input());
    }

    #[test]
    fn a_chart_takes_the_place_of_an_earlier_one_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        for svg in ["<svg>1</svg>", "<svg/>"] {
            write_all(folder.path(), vec![("ratings.svg", svg.to_owned())]).unwrap();
            assert_eq!(std::fs::read_to_string(folder.path().join("ratings.svg")).unwrap(), svg);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::create_dir(folder.path().join("wins.svg")).unwrap();
        let both = vec![("ratings.svg", String::new()), ("wins.svg", String::new())];
        let told = write_all(folder.path(), both).unwrap_err().to_string();
        assert_eq!(
            std::fs::read_to_string(folder.path().join("ratings.svg")).unwrap(),
            "<svg/>",
            "a part of them is none"
        );
        assert!(told.contains("wins.svg: ") && told.ends_with("choose another folder with --charts"), "{told}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no partial file is left");
    }
}
