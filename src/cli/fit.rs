//! `langya fit`: fits a leaderboard and prints it as a table, JSON or CSV.
//!
//! Reads vote files, or the database without `--votes`. The server uses the same fit, so both agree.

mod error;
mod options;
mod print;
mod table;
#[cfg(test)]
mod tests;
mod value_table;

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use console::Term;

pub use error::FitCommandError;
pub use options::FitOptions;
pub use print::{FitResult, print};

use super::Location;
use super::output::{charts, progress, standard_output};
use crate::databases;
use crate::domain::rating::FitError;
use crate::domain::rating::counts::pair_votes::TallyProgress;
use crate::domain::rating::counts::weighting::Reweight;
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::leaderboards::leaderboard_filter::CountedVotes;
use crate::domain::rating::leaderboards::ranking::{Ranking, rank, rank_log_with_differences};
use crate::domain::rating::notes::RatingNote;
use crate::domain::rating::options::{LeaderboardOptions, Method};
use crate::domain::rating::robustness::{Robustness, RobustnessOptions, robustness};
use crate::domain::rating::value::join::{ValueInput, join};
use crate::domain::rating::value::prices::PriceList;
use crate::domain::rating::value::usage::ArenaUsage;
use crate::domain::rating::votes::scoring::Scoring;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::error::CommandResult;
use crate::formats::votes;
use crate::infra::config::{Environment, StorageSettings};
use crate::infra::storage::{IfMissing, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, read_log};
use crate::infra::stored_votes::vote_tally::VoteTally;
use crate::output::charts::Charts;
use crate::services::leaderboard::filtered::read_both;
use print::write_within;

/// Arguments of `langya fit`.
#[derive(Debug, Clone, Args)]
pub struct FitCommand {
    #[command(flatten)]
    options: FitOptions,
    #[command(flatten)]
    location: Location,
}

/// Fits the votes and prints the leaderboard.
///
/// # Errors
/// Invalid files or options, or an unavailable database.
pub async fn run(command: FitCommand, env: &Environment) -> CommandResult<ExitCode> {
    let options = &command.options;
    if options.has_unused_replicates() {
        eprintln!("warning: --bootstrap has no effect without --interval bootstrap");
    }
    if let Some(folder) = &options.charts {
        charts::prepare(folder)?;
    }
    let result = if options.votes.is_empty() {
        fit_database(options, &command.location.settings(env)?.storage).await?
    } else {
        fit_files(options)?
    };
    let screen = Term::stdout();
    let columns = screen.is_term().then(|| usize::from(screen.size().1));
    standard_output::print_by(|out| write_within(&result, options, columns, out))?;
    Ok(ExitCode::SUCCESS)
}

async fn fit_database(options: &FitOptions, settings: &StorageSettings) -> CommandResult<FitResult> {
    let (leaderboard_options, prices) = (options.leaderboard_options()?, options.price_list()?);
    let store = databases::open(settings, IfMissing::Fail).await?;
    // Stored counts are sufficient for the published leaderboard and most options. Without stored counts, reading the
    // log is faster than counting vote by vote.
    let votes = options.counted_votes();
    let counts_are_enough = votes == CountedVotes::Rated
        && !leaderboard_options.has_covariates()
        && leaderboard_options.scoring == Scoring::default()
        && options.columns() == ColumnSet::default();
    if counts_are_enough && store.vote_counts().await?.is_some() {
        let mut tally = VoteTally::default();
        let bar = progress::bar("counting votes");
        bar.set_length(store.last_vote_seq().await?.unsigned_abs());
        tally
            .catch_up(&store, |counted| match counted {
                TallyProgress::Reset => bar.reset(),
                TallyProgress::Pair(_, votes) => bar.inc(votes.total()),
            })
            .await?;
        bar.finish_and_clear();
        // Closed before minutes of computing: a killed command leaves the log of an open database beside it.
        store.close().await;
        return on_its_own_thread(move || {
            let fitting = progress::waiting("fitting the leaderboard");
            let mut leaderboard = rank(&tally.counts.comparisons, &tally.counts.elo, &leaderboard_options)?;
            fitting.finish_and_clear();
            leaderboard.votes.exclude(&tally.counts.excluded);
            Ok(FitResult { leaderboard, value: None })
        })
        .await;
    }
    let reading = LogQuery { columns: options.columns(), range: VoteRange::ALL, concurrency: 2 };
    let bar = progress::bar("reading votes");
    let show = |done: i64, all: i64| progress::show(&bar, done, all);
    let log = match votes {
        CountedVotes::Rated => read_log(&store, reading, show).await?,
        votes => read_both(&store, reading, votes, show).await?.counted,
    };
    store.close().await;
    bar.finish_and_clear();
    let thread_options = options.clone();
    let fitted = on_its_own_thread(move || rank_and_draw(log, &leaderboard_options, prices, &thread_options)).await?;
    Ok(fitted.write_charts(options)?)
}

/// Computes on a blocking thread, so that a signal does not wait minutes for it. The thread may run until the process ends, so it writes
/// nothing.
async fn on_its_own_thread<T: Send + 'static>(
    compute: impl FnOnce() -> Result<T, FitCommandError> + Send + 'static,
) -> CommandResult<T> {
    Ok(tokio::task::spawn_blocking(compute).await??)
}

/// Fits the vote files of the options.
///
/// # Errors
/// [`FitCommandError`] with the file and line, or the option, and the remedy.
pub fn fit_files(options: &FitOptions) -> Result<FitResult, FitCommandError> {
    let (leaderboard_options, prices) = (options.leaderboard_options()?, options.price_list()?);
    let log = votes::read_log(&options.votes, options.columns(), &options.reading.options())?;
    rank_and_draw(log, &leaderboard_options, prices, options)?.write_charts(options)
}

/// Fit with its charts, not yet written.
struct FitWithCharts {
    result: FitResult,
    charts: Charts,
}

impl FitWithCharts {
    fn write_charts(self, options: &FitOptions) -> Result<FitResult, FitCommandError> {
        if let Some(folder) = &options.charts {
            charts::write_all(folder, self.charts)?;
        }
        Ok(self.result)
    }
}

/// Fits the slice of the options and draws the charts.
fn rank_and_draw(
    log: VoteLog,
    leaderboard_options: &LeaderboardOptions,
    prices: Option<PriceList>,
    options: &FitOptions,
) -> Result<FitWithCharts, FitCommandError> {
    let slice = options.slice.slice();
    let unread: Vec<String> = log.unread_columns.iter().cloned().collect();
    let log = slice.take(log)?;
    let fitting = progress::waiting("fitting the leaderboard");
    let Ranking { mut leaderboard, differences } = rank_log_with_differences(&log, leaderboard_options)?;
    fitting.finish_and_clear();
    let conditions = slice.describe();
    if !conditions.is_empty() {
        leaderboard.notes.insert(0, RatingNote::Slice { conditions });
    }
    leaderboard.notes.extend((!unread.is_empty()).then_some(RatingNote::UnreadColumns { columns: unread }));
    leaderboard.notes.extend(prices.as_ref().and_then(|prices| prices_without_rating(prices, &leaderboard.models)));
    if options.robustness {
        leaderboard.robustness = Some(robustness_report(&log, leaderboard_options)?);
    }
    let charts = if options.charts.is_some() {
        let _drawing = progress::waiting("drawing the charts");
        charts::draw(&leaderboard, &log, leaderboard_options)?
    } else {
        Charts::new()
    };
    let value = prices.map(|prices| {
        // Votes do not mark practice models.
        let (usage, practice) = (&ArenaUsage::new(&log), &BTreeSet::new());
        join(ValueInput { leaderboard: &leaderboard, differences: &differences, prices: &prices, usage, practice })
    });
    Ok(FitWithCharts { result: FitResult { leaderboard, value }, charts })
}

/// Returns prices of models without a rating, such as mistyped names.
fn prices_without_rating(prices: &PriceList, rated: &[RankedModel]) -> Option<RatingNote> {
    let is_rated = |name: &str| rated.iter().any(|model| model.model == name);
    let models: Vec<String> = prices.models.keys().filter(|name| !is_rated(name)).cloned().collect();
    (!models.is_empty()).then_some(RatingNote::PricesWithoutRating { models })
}

fn robustness_report(log: &VoteLog, options: &LeaderboardOptions) -> Result<Robustness, FitError> {
    if options.method == Method::Elo || options.has_covariates() || options.reweight != Reweight::None {
        return Err(FitError::PlainRobustness);
    }
    let bar = progress::bar("robustness (per mille)");
    let report_options = RobustnessOptions {
        scoring: options.scoring,
        interval: options.interval,
        confidence: options.confidence,
        seed: options.bootstrap.seed,
    };
    let found = robustness(log, report_options, |share| {
        bar.set_length(1000);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
        bar.set_position((1000.0 * share) as u64);
    });
    bar.finish_and_clear();
    found
}
