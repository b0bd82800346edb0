//! `langya fit --charts DIR`: the leaderboard as pictures, one SVG file each. Other commands write theirs by `write_all`.

use std::path::{Path, PathBuf};

use super::fit::FitCommandError;
use crate::domain::rating::history::history;
use crate::domain::rating::leaderboard::{Leaderboard, LeaderboardOptions};
use crate::domain::rating::tally::Tally;
use crate::domain::rating::vote_log::VoteLog;
use crate::render::chart::heat::Shown;
use crate::render::chart::pairs::Pairs;
use crate::render::chart::{self, Frame, Language, Setting};

/// Moments of the history.
const MOMENTS: usize = 40;
const FRAME: Frame = Frame { language: Language::English, setting: Setting::File };

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {reason}; choose another folder with --charts")]
pub struct ChartsError {
    /// The file or folder.
    path: PathBuf,
    reason: std::io::Error,
}

/// Makes sure that `folder` is one, so that a long fit is not made for nothing.
///
/// # Errors
/// [`ChartsError`] where it cannot be made, as where a file is in its place.
pub fn prepare(folder: &Path) -> Result<(), ChartsError> {
    std::fs::create_dir_all(folder).map_err(|reason| ChartsError { path: folder.to_owned(), reason })
}

/// Writes the charts into a folder, which is made where there is none: `ratings.svg`, `wins.svg`, `battles.svg`,
/// `predicted.svg`, and `style.svg` where style is held equal or else `history.svg` where the votes have times.
///
/// # Errors
/// [`FitCommandError`].
pub fn write(
    folder: &Path,
    board: &Leaderboard,
    log: &VoteLog,
    options: &LeaderboardOptions,
) -> Result<(), FitCommandError> {
    prepare(folder)?;
    let pairs = Pairs::of(&board.models, &Tally::of_log(log, options.scoring));
    let names: Vec<String> = board.models.iter().map(|model| model.model.clone()).collect();
    let mut charts = vec![
        ("ratings.svg", chart::forest::draw(&board.models, board.confidence, FRAME)),
        ("wins.svg", pairs.draw(Shown::Wins, &names, FRAME)),
        ("battles.svg", pairs.draw(Shown::Counts, &names, FRAME)),
        ("predicted.svg", pairs.draw(Shown::Predicted, &names, FRAME)),
    ];
    if log.seconds.is_some() && !options.style {
        let traces = chart::history::traces(&board.models, &history(log, MOMENTS, options)?);
        charts.push(("history.svg", chart::history::draw(&traces, FRAME)));
    }
    if !board.style.is_empty() {
        charts.push(("style.svg", chart::style::draw(&board.style, FRAME)));
    }
    Ok(write_all(folder, charts)?)
}

/// Writes pictures into a folder under their names.
///
/// # Errors
/// [`ChartsError`].
pub(super) fn write_all(folder: &Path, charts: Vec<(&str, String)>) -> Result<(), ChartsError> {
    for (name, svg) in charts {
        let path = folder.join(name);
        std::fs::write(&path, svg).map_err(|reason| ChartsError { path, reason })?;
    }
    Ok(())
}
