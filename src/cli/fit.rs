//! `langya fit`: a leaderboard from files of votes, as a table, JSON or CSV.
//!
//! Without `--votes` the votes of the database are fitted with the same options, so the program and the server cannot
//! disagree.

mod options;
mod print;
mod table;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Args;
use console::Term;

pub use options::{FitOptions, OutputFormat};
pub use print::print;
pub(super) use table::{SHORTEST_NAME, printable, width};

use super::charts::{self, ChartsError};
use super::{Location, output, progress};
use crate::domain::rating::FitError;
use crate::domain::rating::leaderboard::{Leaderboard, LeaderboardOptions, Method, rank, rank_log};
use crate::domain::rating::robustness::{Robustness, RobustnessOptions, robustness};
use crate::domain::rating::scoring::Scoring;
use crate::domain::rating::slice::SliceError;
use crate::domain::rating::vote_log::{ColumnSet, VoteLog};
use crate::domain::rating::weighting::Reweight;
use crate::formats::votes::{self, VoteFileError};
use crate::infra::config::{Environment, StorageSettings};
use crate::infra::storage::{IfMissing, Store, VoteRange};
use crate::services::leaderboard::vote_log::{Reading, read_log};
use crate::services::leaderboard::vote_tally::VoteTally;
use print::print_within;

/// Arguments of `langya fit`.
#[derive(Debug, Clone, Args)]
pub struct FitCommand {
    #[command(flatten)]
    options: FitOptions,
    #[command(flatten)]
    location: Location,
}

/// Fits what the options name and prints it.
///
/// # Errors
/// Files, options or a database that cannot be used.
pub async fn run(command: FitCommand, env: &Environment) -> anyhow::Result<ExitCode> {
    let options = &command.options;
    if let Some(folder) = &options.charts {
        charts::prepare(folder).map_err(FitCommandError::from)?;
    }
    let board = if options.votes.is_empty() {
        leaderboard_of_database(options, &command.location.settings(env)?.storage).await?
    } else {
        leaderboard_of_files(options)?
    };
    let screen = Term::stdout();
    let columns = screen.is_term().then(|| usize::from(screen.size().1));
    output::print(&print_within(&board, options, columns))?;
    Ok(ExitCode::SUCCESS)
}

/// Fits the votes of the database.
async fn leaderboard_of_database(options: &FitOptions, settings: &StorageSettings) -> anyhow::Result<Leaderboard> {
    let leaderboard_options = options.leaderboard_options()?;
    let store = Store::open(settings, IfMissing::Fail).await?;
    // Kept counts are enough for what the server publishes, and most of what can be asked. Where there are none, a log is
    // read faster than it is counted vote by vote.
    let counts_are_enough =
        leaderboard_options.scoring == Scoring::default() && options.wanted() == ColumnSet::default();
    if counts_are_enough && store.vote_counts().await?.is_some() {
        let mut tally = VoteTally::default();
        let bar = progress::bar("counting votes");
        bar.set_length(store.last_vote_seq().await?.unsigned_abs());
        tally.catch_up(&store, |_, _, votes| bar.inc(votes)).await?;
        bar.finish_and_clear();
        let mut board = rank(&tally.comparisons, &tally.elo, &leaderboard_options)?;
        board.votes.exclude(&tally.excluded);
        return Ok(board);
    }
    let reading = Reading { wanted: options.wanted(), range: VoteRange::ALL, at_once: 2 };
    let bar = progress::bar("reading votes");
    let log = read_log(&store, reading, |done, all| progress::show(&bar, done, all)).await?;
    bar.finish_and_clear();
    Ok(rank_and_draw(log, &leaderboard_options, options)?)
}

/// Why there is no leaderboard.
#[derive(Debug, thiserror::Error)]
pub enum FitCommandError {
    /// A file of votes cannot be used.
    #[error(transparent)]
    Votes(#[from] VoteFileError),
    /// The votes cannot be fitted as asked.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// There is no such part of the votes.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The charts cannot be written.
    #[error(transparent)]
    Charts(#[from] ChartsError),
    /// The anchor is not MODEL=RATING.
    #[error("--anchor is {0:?}: write MODEL=RATING, for example gpt-4=1200")]
    Anchor(String),
}

/// Fits the votes of the files that the options name.
///
/// # Errors
/// [`FitCommandError`] says which file and line, or which option, and what to do.
pub fn leaderboard_of_files(options: &FitOptions) -> Result<Leaderboard, FitCommandError> {
    let leaderboard_options = options.leaderboard_options()?;
    let log = votes::read_log(&options.votes, options.wanted(), &options.reading.options())?;
    rank_and_draw(log, &leaderboard_options, options)
}

/// Fits the part of the votes that the options name, and draws the charts that they ask for.
fn rank_and_draw(
    log: VoteLog,
    leaderboard_options: &LeaderboardOptions,
    options: &FitOptions,
) -> Result<Leaderboard, FitCommandError> {
    let slice = options.slice.slice();
    let log = slice.take(log)?;
    let mut board = rank_log(&log, leaderboard_options)?;
    let kept = slice.describe();
    if !kept.is_empty() {
        board.notes.insert(0, format!("only votes with {}", kept.join(" and ")));
    }
    if options.robustness {
        board.robustness = Some(look_into(&log, leaderboard_options)?);
    }
    if let Some(folder) = &options.charts {
        charts::write(folder, &board, &log, leaderboard_options)?;
    }
    Ok(board)
}

fn look_into(log: &VoteLog, options: &LeaderboardOptions) -> Result<Robustness, FitError> {
    if options.method == Method::Elo || options.style || options.reweight != Reweight::None {
        return Err(FitError::PlainInsight);
    }
    let bar = progress::bar("looking into the order (per mille)");
    let asked = RobustnessOptions { scoring: options.scoring, confidence: options.confidence };
    let found = robustness(log, asked, |share| {
        bar.set_length(1000);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
        bar.set_position((1000.0 * share) as u64);
    });
    bar.finish_and_clear();
    found
}
